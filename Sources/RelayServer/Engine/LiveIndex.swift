import GraphQLExecution
import RelayStore

/// From what changed to the live groups that have read it, so that a commit costs what it touches and not
/// what is subscribed.
struct LiveIndex {
    typealias Group = SubscriptionGroup.Key

    private var byRecord: [RecordIndex: Set<Group>] = [:]
    private var byType: [NameIndex: Set<Group>] = [:]

    mutating func insert(_ group: Group, _ dependencies: Dependencies) {
        for record in dependencies.records.keys { byRecord[record, default: []].insert(group) }
        for type in dependencies.types { byType[type, default: []].insert(group) }
    }

    mutating func remove(_ group: Group, _ dependencies: Dependencies) {
        for record in dependencies.records.keys {
            byRecord[record]?.remove(group)
            if byRecord[record]?.isEmpty == true { byRecord[record] = nil }
        }
        for type in dependencies.types {
            byType[type]?.remove(group)
            if byType[type]?.isEmpty == true { byType[type] = nil }
        }
    }

    /// The groups that may have another result after these changes; the dependencies of each decide.
    func candidates(_ changes: ChangeSet, in snapshot: Snapshot) -> Set<Group> {
        var found: Set<Group> = []
        for record in changes.concernedRecords {
            if let groups = byRecord[record] { found.formUnion(groups) }
            if byType.isEmpty { continue }
            if let type = snapshot.type(of: record), let groups = byType[type] {
                found.formUnion(groups)
            }
        }
        if !byType.isEmpty, !changes.deleted.isEmpty {
            // A deleted record's type is gone with it.
            for groups in byType.values { found.formUnion(groups) }
        }
        return found
    }
}
