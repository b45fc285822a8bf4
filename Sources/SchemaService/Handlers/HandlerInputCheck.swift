import GraphQLExecution
import GraphQLLanguage
import RelayJSON
@_spi(Rooms) import RelayRecords

/// Asks for the records that the input of a mutation in Swift names, before its code runs.
///
/// The record of the payload's field is looked for by its id and its unique values, and must exist. Of others only
/// ids are known; what becomes of one that no record has is up to the code.
struct HandlerInputCheck: Sendable {
    /// The root field.
    let field: SchemaField
    let types: ServiceTypes
    let parent: RecordFinder?

    /// The arguments with the parent's id in place of any unique value that named it.
    /// - Throws: `NOT_FOUND` if there is no such record, or none for whoever asks.
    func arguments(
        naming arguments: JSONObject, _ snapshot: Snapshot, _ access: MutationAccess
    ) throws(ExecutionError) -> JSONObject {
        var fields = arguments.mutationInput
        var named = arguments
        if let parent, let record = try parent.record(in: fields, snapshot, access) {
            fields[parent.input] = .string(snapshot.dataID(record).rawValue)
            if arguments["input"]?.object != nil {
                named["input"] = .object(fields)
            } else {
                named = fields
            }
        }
        if let access = access.access {
            for argument in field.arguments {
                try check(named[argument.name], argument.type, argument.name, snapshot, access)
            }
        }
        return named
    }

    /// Asks for every id in a value.
    private func check(
        _ value: JSONValue?, _ type: WrappedType, _ path: String, _ snapshot: Snapshot,
        _ access: Access
    ) throws(ExecutionError) {
        guard let value, value != .null else { return }
        if let item = type.listItem {
            // A list may be given by its only element (GraphQL §3.11).
            for element in value.array ?? [value] {
                try check(element, item, path, snapshot, access)
            }
            return
        }
        let named = types.schema[type.namedType]
        if named.kind == .inputObject {
            for field in named.inputFields {
                try check(
                    value.object?[field.name], field.type, "\(path).\(field.name)", snapshot, access
                )
            }
        } else if named.name == "ID", let record = value.recordName.flatMap(snapshot.existing),
            !access.isVisible(record, for: .input)
        {
            throw ExecutionError(
                """
                Could not run \(self.field.name): there is no record whose id is \
                \(value.described) (\(path)). Nothing was changed.
                """, code: .notFound)
        }
    }
}
