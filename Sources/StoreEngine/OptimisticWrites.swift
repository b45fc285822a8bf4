import GraphQLExecution
import RelayJSON
@_spi(Rooms) import RelayRecords
import SchemaService

extension MutationRequest {
    /// What the client's optimistic response says about records, as revocable writes: the fields of the
    /// records in it, and the edge of a new record at the end of its list.
    /// - Parameter payload: knows the parent and the list of a payload's edge.
    func optimisticWrites(
        for field: FieldPlan, _ arguments: JSONObject, _ payload: PayloadSource,
        on head: Snapshot, _ service: SchemaService
    ) -> WriteSet? {
        let access = Access(identity, service.access, on: head)
        guard let value = optimisticResponse?[field.responseName] else { return nil }
        var writer = WriteSetWriter()
        for record in field.expectedRecords(in: value, head.symbols) {
            // Others see what is expected, so nobody expects anything of what is not theirs to change.
            if let access, let known = head.existing(record.id.rawValue),
                !access.isVisible(known, for: .input) || !access.may(.update, known, in: head)
            {
                continue
            }
            writer.write(record.id, type: record.type, fields: record.fields)
        }
        if let node = field.expectedNode(in: value, head.symbols), let list = payload.list,
            let finder = payload.parent, let named = arguments.mutationInput[finder.input],
            let parent = finder.find(named, in: head, visibleTo: access),
            let type = head.type(of: parent)
        {
            writer.write(
                head.dataID(parent), type: head.symbols.nameString(type),
                fields: CollectionOfOne((head.symbols.nameString(list), .append(node))))
        }
        return writer.writeSet.isEmpty ? nil : writer.writeSet
    }
}
