import RelayArtifacts
import RelayJSON
@_spi(Rooms) package import RelayRecords

extension Snapshot {
    /// Reads what a selector selects. Any thread may; no lock is taken.
    /// - Parameter plan: of the selector's fragment and variables.
    /// - Parameter previous: what was read before; unchanged parts are reused.
    package func read(
        _ selector: ReaderSelector, _ plan: ReaderPlan, previous: DataNode? = nil
    ) -> SelectorSnapshot {
        read(symbols.findRecord(selector.dataID.rawValue), selector, plan, previous: previous)
    }

    /// The same, with the record of the selector: nil when it is unknown.
    package func read(
        _ record: RecordIndex?, _ selector: ReaderSelector, _ plan: ReaderPlan,
        previous: DataNode?
    ) -> SelectorSnapshot {
        var reader = Reader()
        var data: DataNode?
        if let record {
            data = withExtendedLifetime(plan) {
                reader.read(record, .passUnretained(plan), previous, self)
            }
            if let data, !plan.types.contains(data.row.type),
                !isOfType(selector.fragment, data.row.type)
            {
                // A pointer masked by a type condition: nothing was ever requested for it.
                reader.isMissingData = false
            }
        } else {
            reader.isMissingData = true
        }
        return SelectorSnapshot(
            selector: selector, data: data, isMissingData: reader.isMissingData,
            errors: reader.errors, required: reader.required,
            source: SeenRecords(reader.seen, symbols), sequence: sequence)
    }

    /// Whether a type belongs to the abstract type of a fragment.
    private func isOfType(_ fragment: ReaderFragment, _ type: NameIndex) -> Bool {
        let name = symbols.nameText(type)
        guard let abstractKey = fragment.abstractKey else { return false }
        return fragment.possibleTypes.contains { $0.utf8.elementsEqual(name) }
            || self.type(type, has: abstractKey)
    }
}

/// Walks from record to record, following selections.
struct Reader {
    // The snapshot is passed from call to call: stored here, each of its parts would be reference-counted.

    var isMissingData = false
    fileprivate(set) var errors: [FieldError] = []
    fileprivate(set) var required: RequiredFieldFailure?
    fileprivate(set) var seen: ContiguousArray<SeenRecord> = []
    private var path: ContiguousArray<Step> = []
    /// Records without links that were just read, by their numbers: one that is linked repeatedly (the
    /// author of many posts) becomes one node.
    private var recent: ContiguousArray<DataNode?> = []
    private static let recentCount = 256
    /// Below this, it is not worth the memory.
    private static let seenForRecent = 64

    private enum Step {
        case field(UnsafeBufferPointer<UInt8>)
        case index(Int)
    }

    /// - Returns: nil when the record does not exist, or lacks a `@required` field.
    mutating func read(
        _ record: RecordIndex, _ plan: Unmanaged<ReaderPlan>, _ previous: DataNode?,
        _ snapshot: Snapshot
    ) -> DataNode? {
        let row: Row
        switch snapshot[record] {
        case .existent(let existing): row = existing
        case .nonexistent:
            seen.append(SeenRecord(record: record, reading: nil))
            return nil
        case .unknown:
            seen.append(SeenRecord(record: record, reading: nil))
            isMissingData = true
            return nil
        }
        let reading = plan._withUnsafeGuaranteedRef { $0.reading(row.type, in: snapshot) }
        let previous = previous?.reading === reading ? previous : nil
        let known = reading.childCount == 0 ? recentNode(record, reading) : nil
        if known == nil {
            seen.append(SeenRecord(record: record, reading: reading))
        } else if previous == nil {
            return known
        }
        let slots = reading.slots(of: row)
        var children: ContiguousArray<DataNode.Child> = []
        var isComplete = true
        if row.kinds.isDisjoint(with: reading.specialKinds),
            !snapshot.symbols.mayHaveElementErrors,
            slots?._withUnsafeGuaranteedRef({ $0.hasAllScalars }) ?? false
        {
            // Nearly always: there is nothing to check in any leaf.
            if reading.childCount == 0 {
                return leaves(record, row, reading, slots, previous, known)
            }
            children.reserveCapacity(reading.childCount)
            for place in reading.links {
                if reading.fields[place].kind == .alias {
                    children.append(alias(place, reading, record, previous, snapshot))
                } else {
                    link(place, reading, row, slots, previous, snapshot, &children, &isComplete)
                }
            }
        } else {
            children.reserveCapacity(reading.childCount)
            for place in reading.fields.indices {
                switch reading.fields[place].kind {
                case .scalar:
                    let slot = slot(place, reading, row, slots)
                    let tag = slot.map { row.tag($0) } ?? .absent
                    if tag == .absent || tag == .null || tag == .failed {
                        isComplete = leaf(reading.fields[place], row, slot) && isComplete
                    } else if tag == .json, reading.fields[place].catchTo == nil {
                        path.append(.field(reading.fields[place].name))
                        noteElements(reading.fields[place].key, row, snapshot.symbols)
                        path.removeLast()
                    }
                case .typename, .dataID: continue
                case .alias:
                    if reading.fields[place].child != nil {
                        children.append(alias(place, reading, record, previous, snapshot))
                    }
                case .linked, .plural:
                    link(place, reading, row, slots, previous, snapshot, &children, &isComplete)
                }
            }
        }
        guard isComplete else { return nil }
        if let previous, previous.record == record, previous.isSame(row, children) {
            return previous
        }
        return DataNode(
            record: record, row: row, reading: reading, slots: slots, children: children)
    }

    /// The node of a record of which only leaves are read: the one read here before, if it is the same, or
    /// else the one just read elsewhere.
    private mutating func leaves(
        _ record: RecordIndex, _ row: Row, _ reading: FlatReading,
        _ slots: Unmanaged<ReadingSlots>?, _ previous: DataNode?, _ known: DataNode?
    ) -> DataNode {
        if let previous, previous.record == record, previous.isSame(row, []) {
            if known == nil { keep(previous) }
            return previous
        }
        if let known { return known }
        let node = DataNode(
            record: record, row: row, reading: reading, slots: slots, children: [])
        keep(node)
        return node
    }

    @inline(__always)
    private func recentNode(_ record: RecordIndex, _ reading: FlatReading) -> DataNode? {
        if recent.isEmpty { return nil }
        let node = recent[Int(record.rawValue) & (Self.recentCount - 1)]
        guard let node, node.record == record, node.reading === reading else { return nil }
        return node
    }

    @inline(__always)
    private mutating func keep(_ node: DataNode) {
        if recent.isEmpty {
            if seen.count < Self.seenForRecent { return }
            recent = ContiguousArray(repeating: nil, count: Self.recentCount)
        }
        recent[Int(node.record.rawValue) & (Self.recentCount - 1)] = node
    }

    /// The slot of a field that has a value.
    @inline(__always)
    private func slot(
        _ place: Int, _ reading: FlatReading, _ row: Row, _ slots: Unmanaged<ReadingSlots>?
    ) -> Int? {
        guard let slots else { return row.slot(of: reading.fields[place].key) }
        let slot = Int(slots._withUnsafeGuaranteedRef { $0.places[place] })
        return slot < 0 || row.tag(slot) == .absent ? nil : slot
    }

    private mutating func link(
        _ place: Int, _ reading: FlatReading, _ row: Row, _ slots: Unmanaged<ReadingSlots>?,
        _ previous: DataNode?, _ snapshot: Snapshot,
        _ children: inout ContiguousArray<DataNode.Child>, _ isComplete: inout Bool
    ) {
        // Copying the field would count references to its parts.
        let earlier = previous.map { $0.children[reading.fields[place].childPlace] }
        let child = self.child(
            place, reading, row, slot(place, reading, row, slots), earlier, snapshot)
        children.append(child)
        guard let required = reading.fields[place].required else { return }
        switch child {
        case .null, .missing:
            note(reading.fields[place], required)
            isComplete = false
        default: break
        }
    }

    /// What an alias names: more of the same record.
    private mutating func alias(
        _ place: Int, _ reading: FlatReading, _ record: RecordIndex, _ previous: DataNode?,
        _ snapshot: Snapshot
    ) -> DataNode.Child {
        guard let plan = reading.fields[place].child else { return .null }
        var earlier: DataNode?
        if let previous, case .node(let node) = previous.children[reading.fields[place].childPlace]
        {
            earlier = node
        }
        return read(record, plan, earlier, snapshot).map { .node($0) } ?? .null
    }

    /// A leaf without a value.
    /// - Returns: false when it is required.
    private mutating func leaf(_ field: FlatReading.Field, _ row: Row, _ slot: Int?) -> Bool {
        if let slot {
            if row.tag(slot) == .failed {
                fail(field, row, slot)
                // The error is the field's value, also where another place requires one.
                if field.catchTo == .result { return true }
            }
        } else if !field.isClient {
            isMissingData = true
        }
        guard let required = field.required else { return true }
        note(field, required)
        return false
    }

    // MARK: Links

    private mutating func child(
        _ place: Int, _ reading: FlatReading, _ row: Row, _ slot: Int?,
        _ previous: DataNode.Child?, _ snapshot: Snapshot
    ) -> DataNode.Child {
        guard let slot, let plan = reading.fields[place].child else {
            isMissingData = isMissingData || !reading.fields[place].isClient
            return .missing
        }
        guard let target = reading.fields[place].catchTo else {
            path.append(.field(reading.fields[place].name))
            defer { path.removeLast() }
            return value(place, reading, plan, row, slot, previous, snapshot)
        }
        let before = (errors: errors.count, required: required)
        path.append(.field(reading.fields[place].name))
        let child = value(place, reading, plan, row, slot, previous, snapshot)
        path.removeLast()
        return caught(target, since: before) ?? child
    }

    /// How `@catch` reports the errors below a field, and `@required(action: THROW)` there; nil if there
    /// are none.
    private mutating func caught(
        _ target: CatchTarget, since before: (errors: Int, required: RequiredFieldFailure?)
    ) -> DataNode.Child? {
        if required != before.required, let failure = required, failure.action == .throw {
            errors.append(FieldError(failure))
            required = before.required
        }
        guard errors.count > before.errors else { return nil }
        let caught = Array(errors[before.errors...])
        errors.removeSubrange(before.errors...)
        return target == .null ? .null : .failed(caught)
    }

    private mutating func value(
        _ place: Int, _ reading: FlatReading, _ plan: Unmanaged<ReaderPlan>, _ row: Row,
        _ slot: Int,
        _ previous: DataNode.Child?, _ snapshot: Snapshot
    ) -> DataNode.Child {
        let kind = reading.fields[place].kind
        switch row.tag(slot) {
        case .link where kind == .linked:
            var earlier: DataNode?
            if case .node(let node)? = previous { earlier = node }
            return read(row.link(slot), plan, earlier, snapshot).map { .node($0) } ?? .null
        case .links where kind == .plural:
            var earlier: DataList?
            if case .list(let list)? = previous { earlier = list }
            return .list(
                list(reading.fields[place].key, plan, row, row.links(slot), earlier, snapshot))
        case .failed:
            note(row, slot)
            return .null
        default:
            return .null
        }
    }

    private mutating func list(
        _ key: NameIndex, _ plan: Unmanaged<ReaderPlan>, _ row: Row, _ links: LinkList,
        _ previous: DataList?, _ snapshot: Snapshot
    ) -> DataList {
        var elements: ContiguousArray<DataNode?> = []
        elements.reserveCapacity(links.count)
        var hasNulls = false
        links.forEachRecord { record in
            guard let record else {
                hasNulls = true
                elements.append(nil)
                return
            }
            let index = elements.count
            path.append(.index(index))
            let earlier = previous.flatMap {
                index < $0.elements.count ? $0.elements[index] : nil
            }
            elements.append(read(record, plan, earlier, snapshot))
            path.removeLast()
        }
        if hasNulls { noteElements(key, row, snapshot.symbols) }
        let list = DataList(elements)
        if let previous, list.isSame(as: previous) { return previous }
        return list
    }

    // MARK: Errors

    private mutating func fail(_ field: FlatReading.Field, _ row: Row, _ slot: Int) {
        guard field.catchTo == nil else { return }
        path.append(.field(field.name))
        note(row, slot)
        path.removeLast()
    }

    private mutating func note(_ row: Row, _ slot: Int) {
        let json = row.withText(slot) { (try? JSONValue(parsing: $0)) ?? .null }
        errors.append(FieldError(path: texts, errors: json))
    }

    /// Errors about elements of a list are in a field of their own.
    private mutating func noteElements(_ key: NameIndex, _ row: Row, _ symbols: Symbols) {
        guard let key = symbols.elementErrorsKey(of: key), let slot = row.slot(of: key),
            row.tag(slot) == .json
        else { return }
        note(row, slot)
    }

    private mutating func note(_ field: FlatReading.Field, _ action: RequiredAction) {
        if action == .none { return }
        if required?.action == .throw || (required != nil && action == .log) { return }
        let name = String(decoding: field.name, as: UTF8.self)
        required = RequiredFieldFailure(action: action, path: texts + [name])
    }

    private var texts: [String] {
        path.map { step in
            switch step {
            case .field(let name): String(decoding: name, as: UTF8.self)
            case .index(let index): String(index)
            }
        }
    }
}
