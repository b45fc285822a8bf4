import GraphQLExecution
@_spi(Rooms) import RelayRecords

/// The parent's list that a mutation adds to or removes from.
struct MutatedList: Sendable {
    /// The type of the record that has the list.
    let owner: String
    let key: String
    let name: NameIndex

    func append(_ id: DataID, of parent: RecordIndex, to draft: inout Draft) {
        write(.append(id), of: parent, to: &draft)
    }

    func remove(_ id: DataID, of parent: RecordIndex, from draft: inout Draft) {
        write(.remove(id), of: parent, to: &draft)
    }

    func contains(_ record: RecordIndex, of parent: RecordIndex, in snapshot: Snapshot) -> Bool {
        snapshot.position(of: record, in: name, of: parent) != nil
    }

    private func write(_ value: FieldValue, of parent: RecordIndex, to draft: inout Draft) {
        draft.write(
            draft.snapshot.dataID(parent), type: owner, fields: CollectionOfOne((key, value)))
    }
}
