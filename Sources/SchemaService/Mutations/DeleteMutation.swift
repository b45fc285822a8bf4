import GraphQLExecution
import RelayJSON
@_spi(Rooms) import RelayRecords

/// `@delete`: removes the record that the input names from a list of the parent, and deletes it.
///
/// Links to it from elsewhere stay in their records; they read as null, and are skipped in lists.
struct DeleteMutation: DirectiveMutation {
    let record: RecordFinder
    let list: MutatedList?
    let payload: PayloadSource

    func write(
        _ input: JSONObject, to draft: inout Draft, _ context: MutationContext,
        _ access: MutationAccess
    ) throws(ExecutionError) -> DataID {
        let record = try record.requiredRecord(in: input, draft.snapshot, access)
        try access.check(.delete, record, in: draft.snapshot)
        let parent = try payload.parent?.record(in: input, draft.snapshot, access)
        let id = draft.snapshot.dataID(record)
        if let list, let parent, list.contains(record, of: parent, in: draft.snapshot) {
            list.remove(id, of: parent, from: &draft)
        }
        draft.delete(id)
        return id
    }
}
