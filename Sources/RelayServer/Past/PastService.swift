package import EventStore
import GraphQLExecution
import GraphQLLanguage
package import RelayStore

/// The state of a log at one point, to be queried: offline, read-only.
package struct PastService {
    private let service: SchemaService
    private let operations: OperationCache
    private let snapshot: Snapshot

    /// Folds a log up to a sequence.
    package init(_ history: History, at sequence: UInt64) throws {
        try self.init(try history.snapshot(at: sequence))
    }

    /// Takes a state, and the schema that was in force there.
    package init(_ state: Snapshot) throws {
        let schema = try ServiceSchema(reading: state.schema)
        snapshot = state.indexed(by: schema.indexes)
        service = SchemaService(schema, symbols: snapshot.symbols)
        operations = OperationCache(schema: service.executable)
    }

    /// Runs a query.
    package func answer(_ request: GraphQLRequest) -> Response {
        switch outcome(request, nil) {
        case .executed(let response): response
        case .refused(let errors): Response(refused: errors)
        }
    }

    /// Runs a query.
    /// - Parameter notes: what is said about the result, if anything.
    func outcome(_ request: GraphQLRequest, _ notes: RelayNotes?) -> Outcome {
        do throws(ExecutionErrors) {
            let operation = try operations.operation(
                for: request, storedRecords: snapshot.recordCount)
            guard operation.kind == .query else {
                let message = "The past can be queried, not changed: \(operation.kind.rawValue)."
                return .refused([ExecutionError(message, code: .badUserInput)])
            }
            let variables = try operation.coerce(request.variables)
            var execution = Execution(
                operation.plan(for: variables), variables: variables, on: snapshot,
                schema: service.executable)
            let bytes = execution.response(isOpen: notes != nil)
            let hasErrors = !execution.errors.isEmpty
            guard let notes else { return .executed(Response(bytes: bytes, hasErrors: hasErrors)) }
            return .executed(Response(open: bytes, hasErrors: hasErrors, notes))
        } catch {
            return .refused(error.errors)
        }
    }
}
