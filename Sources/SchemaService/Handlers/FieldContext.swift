import GraphQLExecution
public import RelayArtifacts
import RelayJSON
@_spi(Rooms) import RelayRecords

/// What a computed field is computed from.
public struct FieldContext: Sendable {
    /// The record that has the field, or that the payload with the field is about; nil for a field of
    /// the query type, and for one of an object that is not a record.
    public let record: SnapshotRecord?
    /// The object that has the field, if it is one that a handler gave.
    public let object: VariableData?
    /// Coerced, defaults included.
    public let arguments: VariableData
    /// The viewer, as named by the authentication; nil without authentication.
    public let viewer: String?
    /// Everything else.
    public let records: SnapshotReader
}

/// A resolver that a program has registered.
struct ComputedField: CustomFieldResolver {
    let body: FieldHandler

    func resolve(_ call: FieldCall) throws -> JSONValue {
        do {
            return try body(FieldContext(call))?.variableValue.json ?? .null
        } catch {
            throw ExecutionError(thrown: error)
        }
    }
}

/// In place of a resolver that the program which served the schema had.
struct AbsentHandler: CustomFieldResolver {
    let field: String

    func resolve(_ call: FieldCall) throws -> JSONValue {
        throw ExecutionError.absent(field)
    }
}

extension ExecutionError {
    static func absent(_ field: String) -> ExecutionError {
        ExecutionError("\(field) is computed by the server's own program, which is not here.")
    }
}

extension FieldContext {
    init(_ call: FieldCall) {
        let reader = SnapshotReader(snapshot: call.snapshot, reads: call.reads)
        records = reader
        arguments = VariableData(call.arguments)
        viewer = call.viewer
        switch call.object {
        case .record(let record):
            self.record = reader.existing(record)
            object = nil
        case .payload(let payload):
            record = payload.record.flatMap(reader.existing)
            object = nil
        case .value(let value):
            record = nil
            object = value.object.map(VariableData.init)
        default:
            record = nil
            object = nil
        }
    }
}
