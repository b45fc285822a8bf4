import GraphQLExecution
import RelayJSON
@_spi(Rooms) import RelayRecords

/// `@link` and `@unlink`: adds a record to a list of another, or removes it; does nothing if the link is
/// already there, or already gone.
struct LinkMutation: DirectiveMutation {
    enum Action: Sendable { case link, unlink }

    let action: Action
    let parent: RecordFinder
    let child: RecordFinder
    let list: MutatedList
    let payload: PayloadSource

    func write(
        _ input: JSONObject, to draft: inout Draft, _ context: MutationContext,
        _ access: MutationAccess
    ) throws(ExecutionError) -> DataID {
        let parent = try parent.requiredRecord(in: input, draft.snapshot, access)
        let child = try child.requiredRecord(in: input, draft.snapshot, access)
        try access.check(.update, parent, in: draft.snapshot)
        let id = draft.snapshot.dataID(child)
        switch (action, list.contains(child, of: parent, in: draft.snapshot)) {
        case (.link, false): list.append(id, of: parent, to: &draft)
        case (.unlink, true): list.remove(id, of: parent, from: &draft)
        default: break
        }
        try access.check(.update, parent, in: draft.snapshot)
        return id
    }
}
