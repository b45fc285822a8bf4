package import RelayJSON
@_spi(Rooms) package import RelayRecords

/// What a result was read from. While none of it changes, the result stays the same.
package struct Dependencies: Sendable {
    /// Fields of records, one selection at a time: the keys are in the plan and shared.
    package private(set) var records: [RecordIndex: [ObjectKeys]] = [:]
    /// Types of which a record that is created may change the result.
    package private(set) var types: Set<NameIndex> = []
    /// The keys of unique fields: a record of these types that gets another value may change the result.
    private var uniqueKeys: Set<NameIndex> = []
    /// Ids of which there was no record; one that is created may change the result.
    package private(set) var missing: Set<ExactText> = []

    package init() {}

    /// A set of keys that were read for an object plan or a field plan.
    package struct ObjectKeys: Sendable, Hashable {
        package let keys: [NameIndex]
        private let owner: ObjectIdentifier

        fileprivate init(_ plan: ObjectPlan) {
            keys = plan.keys
            owner = ObjectIdentifier(plan)
        }

        fileprivate init(_ keys: [NameIndex], owner: ObjectIdentifier) {
            self.keys = keys
            self.owner = owner
        }

        package static func == (left: ObjectKeys, right: ObjectKeys) -> Bool {
            // Swift code may read other fields of the same record for the same field plan.
            left.owner == right.owner && left.keys == right.keys
        }

        package func hash(into hasher: inout Hasher) { hasher.combine(owner) }
    }

    mutating func insert(_ record: RecordIndex, _ plan: ObjectPlan) {
        let keys = ObjectKeys(plan)
        if records[record]?.contains(keys) != true { records[record, default: []].append(keys) }
    }

    /// Fields of a record that a filter, a count or a look-up has read for a field plan, or a rule for a test.
    mutating func insert(_ record: RecordIndex, _ keys: [NameIndex], for reader: AnyObject) {
        let keys = ObjectKeys(keys, owner: ObjectIdentifier(reader))
        if records[record]?.contains(keys) != true { records[record, default: []].append(keys) }
    }

    /// Records of a type were searched: all, or those with some value under a unique key.
    mutating func insert(type: NameIndex, key: NameIndex?) {
        types.insert(type)
        if let key { uniqueKeys.insert(key) }
    }

    mutating func insert(missing id: String) { missing.insert(ExactText(id)) }

    /// What Swift code has read for a field plan or a rule.
    mutating func insert(_ reads: ReadLog, for reader: AnyObject) {
        for (record, keys) in reads.records { insert(record, keys, for: reader) }
        for (type, keys) in reads.types {
            insert(type: type, key: nil)
            for key in keys { insert(type: type, key: key) }
        }
        for id in reads.missing { insert(missing: id) }
    }

    /// Whether these changes may change the result.
    package func isTouched(by changes: ChangeSet, in snapshot: Snapshot) -> Bool {
        let isRead: (ChangeSet.Field) -> Bool = { [records] field in
            records[field.record]?.contains { $0.keys.contains(field.key) } ?? false
        }
        if changes.fields.contains(where: isRead) || changes.derived.contains(where: isRead) {
            return true
        }
        if changes.deleted.contains(where: { records[$0] != nil }) { return true }
        let isMissed: (RecordIndex) -> Bool = { [records, missing] record in
            if records[record] != nil { return true }
            return !missing.isEmpty
                && missing.contains(ExactText(snapshot.symbols.idString(record)))
        }
        if changes.created.contains(where: isMissed) { return true }
        if types.isEmpty { return false }
        let isSearched: (RecordIndex) -> Bool = { [types] record in
            snapshot.type(of: record).map(types.contains) ?? false
        }
        return changes.created.contains(where: isSearched)
            || changes.fields.contains { uniqueKeys.contains($0.key) && isSearched($0.record) }
    }
}
