import GraphQLExecution
import RelayJSON
@_spi(Rooms) import RelayRecords

/// `@move`: puts a record of a list behind another one or, if none is named, before all others; does nothing if it is
/// there already.
struct MoveMutation: DirectiveMutation {
    let parent: RecordFinder
    let child: RecordFinder
    let after: RecordFinder
    let list: MutatedList
    let payload: PayloadSource

    func write(
        _ input: JSONObject, to draft: inout Draft, _ context: MutationContext,
        _ access: MutationAccess
    ) throws(ExecutionError) -> DataID {
        let parent = try parent.requiredRecord(in: input, draft.snapshot, access)
        let record = try child.requiredRecord(in: input, draft.snapshot, access)
        let neighbour = try after.record(in: input, draft.snapshot, access)
        try access.check(.update, parent, in: draft.snapshot)
        let id = draft.snapshot.dataID(record)
        for (finder, named) in [(child, record), (after, neighbour)] {
            guard let named, !list.contains(named, of: parent, in: draft.snapshot) else { continue }
            // What is in the list is not for those who may not read it.
            guard access.mayRead(list.name, of: parent) else { return id }
            throw MutationRefusal.notInList(
                input[finder.input] ?? .null, list: "\(list.owner).\(list.key)"
            )
            .error(in: finder.mutation, input: finder.input)
        }
        if neighbour != record { list.move(record, behind: neighbour, of: parent, in: &draft) }
        try access.check(.update, parent, in: draft.snapshot)
        return id
    }
}
