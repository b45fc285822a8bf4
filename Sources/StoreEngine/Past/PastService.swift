import GraphQLExecution
import GraphQLLanguage
import RelayJSON
@_spi(Rooms) package import RelayRecords
package import SchemaService
import Synchronization

/// The state of a log at one point, for queries: offline and read-only.
package struct PastService: Sendable {
    private let service: SchemaService
    private let operations: OperationCache
    private var snapshot: Snapshot

    /// Takes a state and reads the schema in force there.
    /// - Parameters:
    ///   - computed: fields that a program computes, as `Type.field`.
    ///   - present: its rules are asked.
    package init(
        _ state: Snapshot, limits: DocumentLimits = DocumentLimits(), computed: Set<String> = [],
        present: SchemaService? = nil
    ) throws {
        let schema = try ServiceSchema(reading: state.schema, computed: computed)
        // Today's rules may look into lists that then no rule looked into.
        let forRules = (present?.accessIndexes ?? []).filter { !schema.indexes.contains($0) }
        snapshot = state.indexed(by: schema.indexes + forRules)
        let access = present?.access(toPast: schema) ?? AccessRules.none
        service = SchemaService(schema, access: access, symbols: snapshot.symbols)
        operations = OperationCache(schema: service.executable, limits: limits)
    }

    /// A copy for another state of the same replay; nil if its schema differs or its indexes are missing.
    func on(_ state: Snapshot) -> PastService? {
        guard state.symbols === snapshot.symbols, state.schema == snapshot.schema,
            state.isIndexed(by: service.indexes)
        else { return nil }
        var moved = self
        moved.snapshot = state
        return moved
    }

    /// The state, with the indexes that its schema needs.
    var state: Snapshot { snapshot }

    /// Runs a query.
    package func answer(_ request: GraphQLRequest) -> Response {
        outcome(request, nil).response
    }

    /// Runs a query.
    /// - Parameters:
    ///   - notes: added to the result, if any.
    ///   - present: everything must be visible there as well.
    func outcome(
        _ request: GraphQLRequest, _ notes: RelayNotes?, present: Snapshot? = nil
    ) -> Outcome {
        do throws(ExecutionErrors) {
            // As in the present: the limit on estimates tells nothing of what is hidden.
            let isRestricted = service.access.restrict(request.identity)
            let operation = try operations.operation(
                for: request, storedRecords: isRestricted ? 0 : snapshot.recordCount)
            guard operation.kind == .query else {
                let message = "The past can be queried, not changed: \(operation.kind.rawValue)."
                return .refused([ExecutionError(message, code: .badUserInput)])
            }
            let variables = try operation.coerce(request.variables)
            var execution = Execution(
                operation.plan(for: variables), variables: variables, on: snapshot,
                schema: service.executable, identity: request.identity, present: present)
            if let notes { return .executed(Response(execution.result(), notes)) }
            let bytes = execution.response()
            return .executed(Response(bytes: bytes, hasErrors: !execution.errors.isEmpty))
        } catch {
            return .refused(error.errors)
        }
    }

    /// What a mutation would write here. Nothing is changed.
    ///
    /// New records get the same ids on every run.
    /// - Parameters:
    ///   - time: the value for fields with `@now`, in microseconds since 1970.
    ///   - ids: those of this scenario.
    /// - Throws: why the mutation is refused.
    package func writes(
        of request: GraphQLRequest, at time: Int64, ids: InventedIDs
    ) throws(PastMutationRefusal) -> [WriteSet] {
        let operation: PreparedOperation
        do throws(ExecutionErrors) {
            operation = try operations.operation(for: request, storedRecords: snapshot.recordCount)
        } catch {
            throw PastMutationRefusal(error.errors.first?.message)
        }
        guard operation.kind == .mutation else {
            throw PastMutationRefusal("It is a \(operation.kind.rawValue), not a mutation.")
        }
        let runner = MutationRunner(
            service: service, storeID: "", epoch: 0,
            inputs: EngineInputs(now: { time }, makeID: { ids.next($0) }))
        let run = runner.run(
            MutationRequest(
                operation: operation, variables: request.variables, mutationID: nil,
                identity: .unrestricted, answer: { _ in }),
            on: snapshot)
        guard case .done(let outcome) = run.end else {
            throw PastMutationRefusal(
                "Its handler is a program's, which is not at hand; insert the records that it wrote."
            )
        }
        switch outcome {
        case .refused(let errors):
            throw PastMutationRefusal(errors.first?.message)
        case .stopping:
            throw PastMutationRefusal(Outcome.stoppingErrors.first?.message)
        case .overtaken:
            throw PastMutationRefusal(Outcome.overtakenErrors.first?.message)
        case .executed(let response):
            if response.hasErrors {
                let errors = (try? JSONValue(parsing: response.bytes))?["errors"]
                throw PastMutationRefusal(errors?.array?.first?["message"]?.string)
            }
            return run.publications.compactMap { $0.commit?.response.writes }
        }
    }
}

/// Ids for records made by hypothetical mutations: `Todo:new-1` and so on, the same on every run, never
/// twice.
package final class InventedIDs: Sendable {
    private let count = Atomic(0)

    package init() {}

    func next(_ type: String) -> DataID {
        DataID("\(type):new-\(count.add(1, ordering: .relaxed).newValue)")
    }
}

/// Why a mutation could not have been carried out.
package struct PastMutationRefusal: Error, CustomStringConvertible {
    package let description: String

    package init(_ message: String?) { description = message ?? "It failed." }
}
