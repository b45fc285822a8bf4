import RelayArtifacts
package import RelayJSON

/// Takes the leaves and children of a node by name, in the order of the selection.
///
/// Generated code asks for the fields in the order in which they were selected, so each look-up is one
/// comparison; another order works too and takes longer.
package struct DataCursor {
    package let node: DataNode
    private var place = 0
    private let slots: Unmanaged<ReadingSlots>?

    package init(_ node: DataNode) {
        self.node = node
        slots = node.reading.slots(of: node.row)
    }

    /// The place of a field among those of the reading.
    @inline(__always)
    private mutating func field(_ name: StaticString) throws(DataError) -> Int {
        let text = UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
        guard let found = node.reading.place(of: text, hint: place) else {
            throw DataError(field: "\(name)", problem: .notSelected)
        }
        place = found + 1
        return found
    }

    /// The slot of a leaf; nil when it is null.
    @inline(__always)
    private mutating func slot(_ name: StaticString) throws(DataError) -> Int? {
        let field = try field(name)
        let slot: Int
        if let slots {
            slot = Int(slots._withUnsafeGuaranteedRef { $0.places[field] })
            if slot < 0 { return nil }
        } else {
            guard let found = node.row.slot(of: node.reading.fields[field].key) else { return nil }
            slot = found
        }
        switch node.row.tag(slot) {
        case .absent, .null: return nil
        case .failed:
            if let error = failure(of: field, slot) { throw error }
            return nil
        default: return slot
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
        guard let slot = try slot(name) else { return try special(name) }
        if node.row.tag(slot) == .string {
            return node.row.withText(slot) { String(decoding: $0, as: UTF8.self) }
        }
        // An id that a server sent as a number.
        if node.row.tag(slot) == .int { return String(node.row.int(slot)) }
        throw DataError(field: "\(name)", problem: .notA("string"))
    }

    /// `__typename` and `__id`, which rows do not have as fields.
    private mutating func special(_ name: StaticString) throws(DataError) -> String? {
        let symbols = node.reading.symbols
        return switch node.reading.fields[place - 1].kind {
        case .typename:
            slots?._withUnsafeGuaranteedRef { $0.typename } ?? symbols.nameString(node.row.type)
        case .dataID: symbols.idString(node.record)
        default: nil
        }
    }

    package mutating func int(_ name: StaticString) throws(DataError) -> Int? {
        guard let slot = try slot(name) else { return nil }
        guard node.row.tag(slot) == .int else {
            throw DataError(field: "\(name)", problem: .notA("whole number"))
        }
        return Int(node.row.int(slot))
    }

    package mutating func double(_ name: StaticString) throws(DataError) -> Double? {
        guard let slot = try slot(name) else { return nil }
        switch node.row.tag(slot) {
        case .double: return node.row.double(slot)
        case .int: return Double(node.row.int(slot))
        default: throw DataError(field: "\(name)", problem: .notA("number"))
        }
    }

    package mutating func bool(_ name: StaticString) throws(DataError) -> Bool? {
        guard let slot = try slot(name) else { return nil }
        switch node.row.tag(slot) {
        case .true: return true
        case .false: return false
        default: throw DataError(field: "\(name)", problem: .notA("boolean"))
        }
    }

    /// Any leaf: custom scalars, lists of leaves.
    package mutating func json(_ name: StaticString) throws(DataError) -> JSONValue? {
        guard let slot = try slot(name) else { return try special(name).map { .string($0) } }
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
        default: throw DataError(field: "\(name)", problem: .notA("record"))
        }
    }
}

/// Why data is not what the caller's types say (T16: it is never passed over).
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
        case .notA(let expected): "Field \"\(field)\" is no \(expected)."
        case .failed(let errors): errors.first?.message ?? "Field \"\(field)\" failed."
        }
    }
}
