import GraphQLExecution
import RelayJSON
@_spi(Rooms) import RelayRecords

/// `@create`: a new record from the input's fields, added to a list of the parent.
///
/// A nullable field that the input omits stays absent, which reads as null and takes no space.
struct CreateMutation: DirectiveMutation {
    let type: String
    let writes: [FieldWrite]
    /// Non-null lists of scalars that the input does not set; they are empty.
    let emptyLists: [String]
    /// Fields that are set to the time.
    let timestamps: [String]
    let list: MutatedList?
    let payload: PayloadSource

    func write(
        _ input: JSONObject, to draft: inout Draft, _ context: MutationContext,
        _ access: MutationAccess
    ) throws(ExecutionError) -> DataID {
        let parent = try payload.parent?.record(in: input, draft.snapshot, access)
        var fields = try writes.values(in: input, draft.snapshot, access)
        for key in emptyLists { fields.append((key, .json([]))) }
        for key in timestamps { fields.append((key, context.timestamp)) }
        try access.checkCreation(ofType: type)
        let before = draft.snapshot
        let id = context.makeID(type)
        draft.write(id, type: type, fields: fields)
        if let list, let parent { list.append(id, of: parent, to: &draft) }
        if let record = draft.snapshot.existing(id.rawValue) {
            try access.check(.create, record, in: draft.snapshot)
        }
        // Only who may create the record learns whether its unique values are taken.
        try writes.checkUniqueness(in: input, for: nil, before)
        return id
    }
}
