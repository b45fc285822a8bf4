import GraphQLExecution
import RelayJSON
@_spi(Rooms) import RelayRecords

/// `@update`: sets the given fields of the record that the input names; absent fields are unchanged.
struct UpdateMutation: DirectiveMutation {
    let type: String
    let record: RecordFinder
    let writes: [FieldWrite]
    /// Fields that are set to the time.
    let timestamps: [String]
    let payload: PayloadSource

    func write(
        _ input: JSONObject, to draft: inout Draft, _ context: MutationContext,
        _ access: MutationAccess
    ) throws(ExecutionError) -> DataID {
        let record = try record.requiredRecord(in: input, draft.snapshot, access)
        try access.check(.update, record, in: draft.snapshot)
        _ = try payload.parent?.record(in: input, draft.snapshot, access)
        var fields = try writes.values(in: input, draft.snapshot, access)
        let before = draft.snapshot
        for key in timestamps { fields.append((key, context.timestamp)) }
        let id = draft.snapshot.dataID(record)
        if !fields.isEmpty { draft.write(id, type: type, fields: fields) }
        try access.check(.update, record, in: draft.snapshot)
        // Only who may update the record like that learns whether its unique values are taken.
        try writes.checkUniqueness(in: input, for: record, before)
        return id
    }
}
