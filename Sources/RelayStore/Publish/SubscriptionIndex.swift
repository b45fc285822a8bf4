@_spi(Rooms) import RelayRecords

/// Maps changes to their readers, so that a commit checks only those it can affect.
///
/// Readers are indexed by their record's number; most records have none or one. If many read one record (all queries
/// read the root), the list is sorted by field, so that the cost of a change depends on its own readers.
struct SubscriptionIndex {
    struct Reader {
        let group: SubscriptionGroup
        /// nil: the record did not exist.
        let reading: FlatReading?
    }

    private enum Readers {
        case none
        case one(Reader)
        case several(RecordSubscribers)
    }

    /// By record.
    private var readers: ContiguousArray<Readers> = []
    private var question: UInt64 = 0

    // MARK: Keeping it

    mutating func add(_ group: SubscriptionGroup, _ seen: ContiguousArray<SeenRecord>) {
        for record in seen {
            let index = Int(record.record.rawValue)
            while readers.count <= index { readers.append(.none) }
            let new = Reader(group: group, reading: record.reading)
            switch readers[index] {
            case .none: readers[index] = .one(new)
            case .one(let old): readers[index] = .several(RecordSubscribers([old, new]))
            case .several(let all): all.add(new)
            }
        }
    }

    mutating func remove(_ group: SubscriptionGroup, _ seen: ContiguousArray<SeenRecord>) {
        for record in seen {
            let index = Int(record.record.rawValue)
            guard index < readers.count else { continue }
            switch readers[index] {
            case .none: break
            case .one(let old): if old.group === group { readers[index] = .none }
            case .several(let all):
                all.remove(Reader(group: group, reading: record.reading))
                if all.isEmpty { readers[index] = .none }
            }
        }
    }

    // MARK: Asking

    /// Groups that read something that changed, older ones first.
    mutating func groups(
        concernedBy changes: ChangeSet, _ symbols: Symbols
    ) -> ContiguousArray<SubscriptionGroup> {
        question += 1
        var groups = ConcernedGroups(question: question)
        for record in changes.created { addAll(of: record, to: &groups) }
        for record in changes.deleted { addAll(of: record, to: &groups) }
        for field in changes.fields {
            add(field, to: &groups)
            // A reader of a list sees the errors of its elements.
            if let list = symbols.list(withElementErrors: field.key) {
                add(.init(record: field.record, key: list), to: &groups)
            }
        }
        return groups.sorted()
    }

    private func addAll(of record: RecordIndex, to groups: inout ConcernedGroups) {
        let index = Int(record.rawValue)
        guard index < readers.count else { return }
        switch readers[index] {
        case .none: break
        case .one(let reader): groups.insert(reader.group)
        case .several(let all): all.addAll(to: &groups)
        }
    }

    private func add(_ field: ChangeSet.Field, to groups: inout ConcernedGroups) {
        let index = Int(field.record.rawValue)
        guard index < readers.count else { return }
        switch readers[index] {
        case .none: break
        case .one(let reader):
            if reader.reading?.reads(field.key) ?? false { groups.insert(reader.group) }
        case .several(let all): all.add(to: &groups, field.key)
        }
    }

    /// Whether a field is read.
    func isRead(_ key: NameIndex, of record: RecordIndex) -> Bool {
        let index = Int(record.rawValue)
        guard index < readers.count else { return false }
        return switch readers[index] {
        case .none: false
        case .one(let reader): reader.reading?.reads(key) ?? false
        case .several(let all): all.isRead(key)
        }
    }

    /// Calls the body with every record that is read.
    func forEachRecord(_ body: (RecordIndex) -> Void) {
        for index in readers.indices {
            if case .none = readers[index] { continue }
            body(RecordIndex(rawValue: UInt32(index)))
        }
    }
}

/// The readers of one record.
final class RecordSubscribers: @unchecked Sendable {
    // Unchecked: used only by the writer.

    private typealias Number = Int

    /// Used while there are few.
    private var few: ContiguousArray<SubscriptionIndex.Reader>
    /// By field, once there are many; a group that found no record is under no field.
    private var byField: [NameIndex: [Number: Int]]?
    /// How often each group is in here, once there are many.
    private var many: [Number: (group: SubscriptionGroup, times: Int)] = [:]

    private static let fewLimit = 24

    init(_ readers: ContiguousArray<SubscriptionIndex.Reader>) { few = readers }

    var isEmpty: Bool { few.isEmpty && many.isEmpty }

    func add(_ reader: SubscriptionIndex.Reader) {
        if byField != nil { return addToMany(reader) }
        few.append(reader)
        guard few.count > Self.fewLimit else { return }
        byField = [:]
        for reader in few { addToMany(reader) }
        few = []
    }

    private func addToMany(_ reader: SubscriptionIndex.Reader) {
        let number = reader.group.number
        many[number, default: (reader.group, 0)].times += 1
        for key in reader.reading?.keys ?? [] {
            byField?[key, default: [:]][number, default: 0] += 1
        }
    }

    func remove(_ reader: SubscriptionIndex.Reader) {
        guard byField != nil else {
            let place = few.firstIndex {
                $0.group === reader.group && $0.reading === reader.reading
            }
            if let place { few.remove(at: place) }
            return
        }
        let number = reader.group.number
        guard let times = many[number]?.times else { return }
        if times > 1 { many[number]?.times = times - 1 } else { many[number] = nil }
        for key in reader.reading?.keys ?? [] {
            guard let times = byField?[key]?[number] else { continue }
            byField?[key]?[number] = times > 1 ? times - 1 : nil
            if byField?[key]?.isEmpty ?? false { byField?[key] = nil }
        }
    }

    func addAll(to groups: inout ConcernedGroups) {
        for reader in few { groups.insert(reader.group) }
        for reader in many.values { groups.insert(reader.group) }
    }

    func isRead(_ key: NameIndex) -> Bool {
        byField.map { $0[key] != nil } ?? few.contains { $0.reading?.reads(key) ?? false }
    }

    func add(to groups: inout ConcernedGroups, _ key: NameIndex) {
        if let byField {
            for number in byField[key, default: [:]].keys {
                if let group = many[number]?.group { groups.insert(group) }
            }
        } else {
            for reader in few where reader.reading?.reads(key) ?? false {
                groups.insert(reader.group)
            }
        }
    }
}
