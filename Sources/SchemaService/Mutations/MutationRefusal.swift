import GraphQLExecution
import RelayJSON

/// Why a mutation described by a directive was refused. Nothing has been written at that point.
enum MutationRefusal {
    /// No record has this id or unique value.
    case notFound(JSONValue, type: String, keys: [String])
    /// The record with this id or unique value is not in the list.
    case notInList(JSONValue, list: String)
    /// Another record has this unique value.
    case taken(JSONValue, type: String, field: String)
    /// A non-null field was set to null.
    case null(field: String, type: String)

    /// - Parameters:
    ///   - mutation: the root field.
    ///   - input: the input field at fault.
    func error(in mutation: String, input: String) -> ExecutionError {
        let (problem, code): (String, ErrorCode) =
            switch self {
            case .notFound(let value, let type, let keys):
                (
                    "there is no \(type) whose \(keys.joined(separator: " or ")) is \(value.described)",
                    .notFound
                )
            case .notInList(let value, let list):
                ("\(value.described) is not in \(list)", .notFound)
            case .taken(let value, let type, let field):
                ("there is another \(type) whose \(field) is \(value.described)", .conflict)
            case .null(let field, let type):
                ("\(field) is \(type) and cannot be set to null", .badUserInput)
            }
        return ExecutionError(
            "Could not run \(mutation): \(problem) (input.\(input)). Nothing was changed.",
            code: code)
    }
}
