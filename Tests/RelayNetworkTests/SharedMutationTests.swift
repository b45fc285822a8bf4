import Foundation
import Relay
import RelayArtifacts
import RelayJSON
import RelayServer
import RelayStore
import Testing

@testable import RelayNetwork

#if canImport(OpenCombine)
    import OpenCombine
#else
    import Combine
#endif

/// One function is the server's handler and the client's optimistic updater.
@Suite(.timeLimit(.minutes(3)))
struct SharedMutationTests {
    private static let schema = """

        extend type Mutation { finishAll(input: FinishAllInput!): FinishAllPayload }
        input FinishAllInput { userId: ID! }
        type FinishAllPayload { user: User! }
        """

    /// Marks all todos as done, and puts the last one first.
    @Sendable
    private static func finishAll(
        _ records: inout any RecordSourceProxy, _ variables: VariableData
    ) throws -> DataID? {
        guard case .object(let input)? = variables["input"],
            case .string(let id)? = input["userId"],
            let user = records[DataID(id)], let todos = user.connection("List_todos")
        else { return nil }
        for todo in todos.nodes { todo["complete"] = true }
        if let last = todos.nodes.last { todos.move(nodeID: last.dataID, to: .start) }
        return user.dataID
    }

    @Test func whatIsShownIsWhatIsConfirmed() async throws {
        try await ServedTodos.run {
            $0.schema += Self.schema
            $0.handlers.mutation("finishAll", Self.finishAll)
        } _: { todos in
            let environment = Environment(
                network: try WebSocketNetwork(url: todos.url), store: Store())
            let list = try TodoOperations.descriptor("ListQuery", [:], adding: Self.schema)
            let finish = try TodoOperations.descriptor(
                "FinishAllMutation", ["input": ["userId": "VXNlcjptZQ=="]], adding: Self.schema)
            let fetched = Noted<Int>()
            let fetch = environment.execute(operation: list).sink(
                receiveCompletion: { _ in }, receiveValue: { _ in fetched.note(1) })
            await eventually { fetched.all.count == 1 }
            let before = Self.list(environment.store.snapshot)
            #expect(before.count == 2 && before.contains { $0.hasSuffix("false") })

            let answered = Noted<Int>()
            let mutation = environment.executeMutation(
                operation: finish,
                optimisticUpdater: sharedUpdater(
                    Self.finishAll, input: finish.request.variables)
            ).sink(receiveCompletion: { _ in }, receiveValue: { _ in answered.note(1) })
            let shown = Self.list(environment.store.snapshot)
            #expect(shown == before.reversed().map { $0.replacing("false", with: "true") })

            await eventually { answered.all.count == 1 }
            #expect(Self.list(environment.store.snapshot) == shown)
            withExtendedLifetime((fetch, mutation)) {}
        }
    }

    /// The list as the client shows it: a line for each node of the connection, in order.
    private static func list(_ snapshot: RelayStore.Snapshot) -> [String] {
        func links(_ id: String, _ key: String) -> [String] {
            guard let record = snapshot.existing(id) else { return [] }
            switch snapshot.fieldValue(key, of: record) {
            case .link(let id)?: return [id.rawValue]
            case .links(let ids)?: return ids.compactMap { $0?.rawValue }
            default: return []
            }
        }
        return links("VXNlcjptZQ==", "__List_todos_connection").flatMap { links($0, "edges") }
            .flatMap { links($0, "node") }
            .map { id in
                let isComplete = snapshot.existing(id).flatMap {
                    snapshot.fieldValue("complete", of: $0)
                }
                return isComplete == .bool(true) ? "\(id) true" : "\(id) false"
            }
    }
}
