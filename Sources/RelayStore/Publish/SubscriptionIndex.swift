/// From what changed to who read it, so that a commit asks only those whom it can concern.
///
/// A record has a short list of its readers. Where many read one record (all queries read the root), the
/// list is sorted by field, so that a change costs what its own readers cost.
struct SubscriptionIndex {
    /// The number of a group of equal subscriptions.
    typealias Group = Int

    fileprivate struct Reader {
        let group: Group
        /// nil: the record did not exist.
        let reading: FlatReading?
    }

    fileprivate struct Readers {
        var few: ContiguousArray<Reader> = []
        /// By field, once there are many; a group that found no record is under no field.
        var byField: [NameIndex: [Group: Int]]?
        /// How often each group is in here, once there are many.
        var counts: [Group: Int] = [:]

        var isEmpty: Bool { few.isEmpty && counts.isEmpty }
    }

    fileprivate static let fewLimit = 24

    private var readers: [RecordIndex: Readers] = [:]

    // MARK: Keeping it

    mutating func add(_ group: Group, _ seen: ContiguousArray<SeenRecord>) {
        for record in seen { add(group, record) }
    }

    mutating func remove(_ group: Group, _ seen: ContiguousArray<SeenRecord>) {
        for record in seen { remove(group, record) }
    }

    private mutating func add(_ group: Group, _ seen: SeenRecord) {
        readers[seen.record, default: Readers()].add(group, seen.reading)
    }

    private mutating func remove(_ group: Group, _ seen: SeenRecord) {
        readers[seen.record]?.remove(group, seen.reading)
        if readers[seen.record]?.isEmpty ?? false { readers[seen.record] = nil }
    }

    // MARK: Asking

    /// Groups that read something that changed, in the order of their numbers.
    func groups(touchedBy changes: ChangeSet) -> [Group] {
        if readers.isEmpty { return [] }
        var groups: Set<Group> = []
        for record in changes.created { readers[record]?.addAll(to: &groups) }
        for record in changes.deleted { readers[record]?.addAll(to: &groups) }
        for field in changes.fields { readers[field.record]?.add(to: &groups, field.key) }
        return groups.sorted()
    }

    /// Every record that somebody reads.
    var records: some Collection<RecordIndex> { readers.keys }
}

extension SubscriptionIndex.Readers {
    fileprivate mutating func add(_ group: Int, _ reading: FlatReading?) {
        if byField != nil {
            counts[group, default: 0] += 1
            for key in reading?.keys ?? [] { byField?[key, default: [:]][group, default: 0] += 1 }
            return
        }
        few.append(.init(group: group, reading: reading))
        if few.count > SubscriptionIndex.fewLimit {
            let all = few
            few = []
            byField = [:]
            for reader in all { add(reader.group, reader.reading) }
        }
    }

    fileprivate mutating func remove(_ group: Int, _ reading: FlatReading?) {
        guard byField != nil else {
            if let place = few.firstIndex(where: { $0.group == group && $0.reading === reading }) {
                few.remove(at: place)
            }
            return
        }
        guard let count = counts[group] else { return }
        counts[group] = count > 1 ? count - 1 : nil
        for key in reading?.keys ?? [] {
            guard let times = byField?[key]?[group] else { continue }
            byField?[key]?[group] = times > 1 ? times - 1 : nil
            if byField?[key]?.isEmpty ?? false { byField?[key] = nil }
        }
    }

    fileprivate func addAll(to groups: inout Set<Int>) {
        if byField != nil {
            groups.formUnion(counts.keys)
        } else {
            for reader in few { groups.insert(reader.group) }
        }
    }

    fileprivate func add(to groups: inout Set<Int>, _ key: NameIndex) {
        if let byField {
            if let touched = byField[key] { groups.formUnion(touched.keys) }
        } else {
            for reader in few where reader.reading?.keys.contains(key) ?? false {
                groups.insert(reader.group)
            }
        }
    }
}
