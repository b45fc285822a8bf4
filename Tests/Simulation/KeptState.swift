import EventStore
import GraphQLExecution
import RelayJSON
@_spi(Rooms) import RelayStore
import SchemaService
import StoreEngine

@testable import RelayServer

/// A state that somebody holds while the server goes on, and after its end: it stays as it is (invariant 9).
struct KeptState {
    private let snapshot: RelayStore.Snapshot
    private let stateHash: StateHash
    private let answer: [UInt8]
    private let read: (RelayStore.Snapshot) throws -> [UInt8]

    /// - Parameter query: has no variables.
    init(of service: GraphQLService, _ schema: SchemaService, query: String) throws {
        let operation = try service.prepare(GraphQLRequest(query: query))
        read = { snapshot in
            let variables = try operation.coerce([:])
            var execution = Execution(
                operation.plan(for: variables), variables: variables, on: snapshot,
                schema: schema.executable, identity: .unrestricted)
            return execution.response(isOpen: false)
        }
        snapshot = service.snapshot
        stateHash = snapshot.stateHash
        answer = try read(snapshot)
    }

    func check() throws {
        let sequence = snapshot.sequence
        if snapshot.stateHash != stateHash {
            throw Violation("the state at \(sequence) has changed since it was taken")
        }
        if try read(snapshot) != answer {
            throw Violation(
                "the state at \(sequence) answers something else than when it was taken")
        }
    }
}
