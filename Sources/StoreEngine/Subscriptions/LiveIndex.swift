import GraphQLExecution
import RelayJSON
@_spi(Rooms) import RelayRecords

/// Maps changes to the live groups that read the changed data, so that the cost of a commit depends on what
/// it touches and not on the number of subscriptions.
struct LiveIndex {
    typealias Group = SubscriptionGroup.ID

    private var byRecord: [RecordIndex: Set<Group>] = [:]
    private var byType: [NameIndex: Set<Group>] = [:]
    private var byMissingID: [ExactText: Set<Group>] = [:]

    /// Updates a group's dependencies. The cost depends only on the difference from the old ones.
    mutating func update(_ group: Group, from old: Dependencies, to new: Dependencies) {
        for record in old.records.keys where new.records[record] == nil {
            byRecord.remove(group, at: record)
        }
        for record in new.records.keys where old.records[record] == nil {
            byRecord[record, default: []].insert(group)
        }
        for type in old.types where !new.types.contains(type) { byType.remove(group, at: type) }
        for type in new.types where !old.types.contains(type) {
            byType[type, default: []].insert(group)
        }
        for id in old.missing where !new.missing.contains(id) { byMissingID.remove(group, at: id) }
        for id in new.missing where !old.missing.contains(id) {
            byMissingID[id, default: []].insert(group)
        }
    }

    /// The groups whose results may change; each group's dependencies decide.
    func candidates(_ changes: ChangeSet, in snapshot: Snapshot) -> Set<Group> {
        var found: Set<Group> = []
        for record in changes.concernedRecords {
            if let groups = byRecord[record] { found.formUnion(groups) }
            if byType.isEmpty { continue }
            if let type = snapshot.type(of: record), let groups = byType[type] {
                found.formUnion(groups)
            }
        }
        if !byMissingID.isEmpty {
            for record in changes.created {
                let id = ExactText(snapshot.symbols.idString(record))
                if let groups = byMissingID[id] { found.formUnion(groups) }
            }
        }
        return found
    }
}

extension Dictionary where Value == Set<LiveIndex.Group> {
    fileprivate mutating func remove(_ group: LiveIndex.Group, at key: Key) {
        self[key]?.remove(group)
        if self[key]?.isEmpty == true { self[key] = nil }
    }
}
