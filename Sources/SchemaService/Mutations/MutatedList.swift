import GraphQLExecution
@_spi(Rooms) import RelayRecords

/// The parent's list that a mutation adds to, removes from or reorders.
struct MutatedList: Sendable {
    /// The type of the record that has the list.
    let owner: String
    let key: String
    let name: NameIndex

    func append(_ id: DataID, of parent: RecordIndex, to draft: inout Draft) {
        write([.append(id)], of: parent, to: &draft)
    }

    func remove(_ id: DataID, of parent: RecordIndex, from draft: inout Draft) {
        write([.remove(id)], of: parent, to: &draft)
    }

    /// - Parameter neighbour: in the list; nil: before all others.
    func move(
        _ record: RecordIndex, behind neighbour: RecordIndex?, of parent: RecordIndex,
        in draft: inout Draft
    ) {
        let snapshot = draft.snapshot
        let move = ListMove(of: record, among: snapshot.links(name, of: parent).records) { others in
            neighbour.map { others.firstIndex(of: $0).map { $0 + 1 } ?? others.count } ?? 0
        }
        if let move { write(move.writes(snapshot.dataID(record)), of: parent, to: &draft) }
    }

    func contains(_ record: RecordIndex, of parent: RecordIndex, in snapshot: Snapshot) -> Bool {
        snapshot.position(of: record, in: name, of: parent) != nil
    }

    private func write(_ values: [FieldValue], of parent: RecordIndex, to draft: inout Draft) {
        draft.write(
            draft.snapshot.dataID(parent), type: owner, fields: values.lazy.map { (key, $0) })
    }
}
