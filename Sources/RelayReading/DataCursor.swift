import RelayArtifacts
package import RelayJSON
@_spi(Rooms) import RelayRecords

/// Takes the leaves and children of a node by name, in the order of the selection.
///
/// Generated code asks for the fields in the order in which they were selected, so each look-up is one
/// comparison; any other order works too, but takes longer.
///
/// A cursor does not retain its node: its user retains the node, or what the node was read with. So
/// a walk through thousands of records does no reference counting for its cursors.
package struct DataCursor {
    private let held: Unmanaged<DataNode>
    // The node's contents, taken out once: going through the node each time would retain and release for
    // every leaf. Valid as long as the node lives.
    private let row: Unmanaged<Row>
    private let names: UnsafeBufferPointer<UnsafeBufferPointer<UInt8>>
    private let slots: Unmanaged<ReadingSlots>?
    private var place = 0

    /// - Parameter node: retained by the caller while the cursor is used.
    package init(_ node: DataNode) {
        held = Unmanaged.passUnretained(node)
        row = Unmanaged.passUnretained(node.row)
        names = node.reading.names
        slots = node.slots
    }

    package var node: DataNode { held.takeUnretainedValue() }

    /// The place of a field among those of the reading.
    @inline(__always)
    private mutating func field(_ name: StaticString) throws(DataError) -> Int {
        let text = UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
        if place < names.count, areSame(names[place], text) {
            place += 1
            return place - 1
        }
        guard let found = names.firstIndex(where: { areSame($0, text) }) else {
            throw DataError(field: "\(name)", problem: .notSelected)
        }
        place = found + 1
        return found
    }

    /// Whether there is a field with this name.
    package func selects(_ name: StaticString) -> Bool {
        let text = UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
        if place < names.count, areSame(names[place], text) { return true }
        return names.contains { areSame($0, text) }
    }

    /// The slot of a leaf, and its contents; nil if it is null.
    @inline(__always)
    private mutating func slot(
        _ name: StaticString
    ) throws(DataError) -> (slot: Int, tag: Row.Tag)? {
        let field = try field(name)
        let slot: Int
        if let slots {
            slot = Int(slots._withUnsafeGuaranteedRef { $0.places[field] })
            if slot < 0 { return nil }
        } else {
            guard let found = node.row.slot(of: node.reading.fields[field].key) else { return nil }
            slot = found
        }
        let tag = row._withUnsafeGuaranteedRef { $0.tag(slot) }
        switch tag {
        case .absent, .null: return nil
        case .failed:
            if let error = failure(of: field, slot) { throw error }
            return nil
        case .json:
            guard let errors = node.caughtElementErrors(of: field, in: node.row) else {
                return (slot, tag)
            }
            if let error = failure(of: field, errors) { throw error }
            return nil
        default: return (slot, tag)
        }
    }

    /// The errors of a leaf that is `@catch(to: RESULT)`.
    private func failure(of field: Int, _ slot: Int) -> DataError? {
        guard node.reading.fields[field].catchTo == .result else { return nil }
        let name = String(decoding: node.reading.fields[field].name, as: UTF8.self)
        let errors = node.row.withText(slot) { (try? JSONValue(parsing: $0)) ?? .null }
        return DataError(
            field: name, problem: .failed([FieldError(path: [name], errors: errors)]))
    }

    // MARK: Leaves; nil when the value is null or unknown

    package mutating func string(_ name: StaticString) throws(DataError) -> String? {
        guard let (slot, tag) = try slot(name) else { return special() }
        if tag == .string {
            return row._withUnsafeGuaranteedRef {
                $0.withText(slot) { String(decoding: $0, as: UTF8.self) }
            }
        }
        // An id that a server sent as a number. Of one beyond Int64, the record's own has all digits.
        if tag == .int { return String(node.row.int(slot)) }
        if tag == .double, case let id = node.reading.symbols.idString(node.record),
            Double(id) == node.row.double(slot)
        {
            return id
        }
        throw DataError(field: "\(name)", problem: .notA("string"))
    }

    /// `__typename` and `__id`, which rows do not have as fields; for the field requested last.
    @inline(never)
    private func special() -> String? {
        held._withUnsafeGuaranteedRef { node in
            switch node.reading.fields[place - 1].kind {
            case .typename: node.typename
            case .dataID: node.reading.symbols.idString(node.record)
            default: nil
            }
        }
    }

    package mutating func int(_ name: StaticString) throws(DataError) -> Int? {
        guard let (slot, tag) = try slot(name) else { return nil }
        if tag == .int { return row._withUnsafeGuaranteedRef { Int($0.int(slot)) } }
        // `5.0` is a whole number too (GraphQL §3.5.1).
        guard tag == .double, let whole = Int(exactly: node.row.double(slot)) else {
            throw DataError(field: "\(name)", problem: .notA("whole number"))
        }
        return whole
    }

    package mutating func double(_ name: StaticString) throws(DataError) -> Double? {
        guard let (slot, tag) = try slot(name) else { return nil }
        switch tag {
        case .double: return row._withUnsafeGuaranteedRef { $0.double(slot) }
        case .int: return row._withUnsafeGuaranteedRef { Double($0.int(slot)) }
        default: throw DataError(field: "\(name)", problem: .notA("number"))
        }
    }

    package mutating func bool(_ name: StaticString) throws(DataError) -> Bool? {
        guard let (_, tag) = try slot(name) else { return nil }
        switch tag {
        case .true: return true
        case .false: return false
        default: throw DataError(field: "\(name)", problem: .notA("boolean"))
        }
    }

    /// Any leaf: custom scalars, lists of leaves.
    package mutating func json(_ name: StaticString) throws(DataError) -> JSONValue? {
        guard let (slot, _) = try slot(name) else { return special().map { .string($0) } }
        return node.row.json(slot)
    }

    // MARK: Children

    /// The value of a link; nil when it is null or unknown.
    package mutating func node(_ name: StaticString) throws(DataError) -> DataNode? {
        switch try child(name) {
        case .node(let node): return node
        case .null, .missing: return nil
        case .list: throw DataError(field: "\(name)", problem: .notA("record"))
        case .failed(let errors): throw DataError(field: "\(name)", problem: .failed(errors))
        }
    }

    /// A cursor for what a link leads to; nil if it is null or unknown. Whatever retains this cursor's
    /// node retains it too.
    package mutating func cursor(_ name: StaticString) throws(DataError) -> DataCursor? {
        let found = try field(name)
        let fast = held._withUnsafeGuaranteedRef { node -> DataCursor? in
            guard node.reading.fields[found].kind == .linked,
                case .node(let child) = node.children[node.reading.fields[found].childPlace]
            else { return nil }
            return DataCursor(child)
        }
        if let fast { return fast }
        place = found
        return try node(name).map { DataCursor($0) }
    }

    /// The value of a list of links; nil when it is null or unknown.
    package mutating func list(_ name: StaticString) throws(DataError) -> DataList? {
        switch try child(name) {
        case .list(let list): return list
        case .null, .missing: return nil
        case .node: throw DataError(field: "\(name)", problem: .notA("list"))
        case .failed(let errors): throw DataError(field: "\(name)", problem: .failed(errors))
        }
    }

    mutating func child(_ name: StaticString) throws(DataError) -> DataNode.Child {
        let found = try field(name)
        switch node.reading.fields[found].kind {
        case .linked, .plural: return node.children[node.reading.fields[found].childPlace]
        case .alias:
            let field = node.reading.fields[found]
            return field.child == nil ? .null : node.children[field.childPlace]
        default: throw DataError(field: "\(name)", problem: .notA("record"))
        }
    }
}

/// Why data does not match the caller's types (it is never ignored).
package struct DataError: Error, Hashable, CustomStringConvertible {
    package enum Problem: Hashable, Sendable {
        case notSelected
        case notA(String)
        case failed([FieldError])
    }

    package var field: String
    package var problem: Problem

    package var description: String {
        switch problem {
        case .notSelected: "Field \"\(field)\" is not part of the selection."
        case .notA(let expected): "Field \"\(field)\" has the wrong type; expected \(expected)."
        case .failed(let errors): errors.first?.message ?? "Field \"\(field)\" failed."
        }
    }
}
