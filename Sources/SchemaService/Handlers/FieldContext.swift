import GraphQLExecution
public import RelayArtifacts
import RelayJSON
@_spi(Rooms) import RelayRecords

/// The input of a computed field.
public struct FieldContext: Sendable {
    /// The record that has the field, or that the payload with the field is about; nil for a field of the
    /// query type, and for a field of an object that is not a record.
    public let record: SnapshotRecord?
    /// The object that has the field, if a handler returned it.
    public let object: VariableData?
    /// The coerced arguments, including defaults.
    public let arguments: VariableData
    /// The viewer, as named by the authentication. Nil for nobody (a client without a token, which may see and do what
    /// the rules let everybody), and for whoever may do everything: see ``isUnrestricted``.
    public let viewer: String?
    /// Everything is allowed: no authentication is configured, or the client has a token without a name.
    public let isUnrestricted: Bool
    /// All records.
    public let records: SnapshotReader
}

/// A resolver registered by a program.
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

/// Replaces a resolver of the program that originally served the schema.
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
        viewer = call.identity.viewerID
        isUnrestricted = call.identity == .unrestricted
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
