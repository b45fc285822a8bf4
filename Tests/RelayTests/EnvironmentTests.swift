import Foundation
import OpenCombine
import Relay
import Testing
import TodoFixtures

@Suite(.bounded, .timeLimit(.minutes(10)))
struct EnvironmentTests {
    private struct NoHandlers: HandlerProvider {
        func handler(for handle: String) -> (any Handler)? { nil }
    }

    private let user: [String: Any] = [
        "user": [
            "id": "U", "userId": "me", "totalCount": 0,
            "todos": [
                "edges": [Any](), "pageInfo": ["endCursor": NSNull(), "hasNextPage": false],
            ],
        ]
    ]

    @Test func promise1AnEnvironmentNeedsANetworkAndAStore() throws {
        let network = MockNetwork()
        let store = Store()
        let environment = Environment(network: network, store: store)
        #expect(environment.network as? MockNetwork === network)
        #expect(environment.store === store)
        let other = Environment(network: network, store: Store(), handlerProvider: NoHandlers())
        // Relay's own directives are known unless somebody says otherwise.
        for (environment, knowsConnections) in [(environment, true), (other, false)] {
            try environment.commitPayload(UserQuery().createDescriptor(), user)
            let read = environment.lookup(
                selector: UserQuery().createDescriptor().fragment, as: UserQuery.Data.self)
            let list = environment.lookup(List_user(key: try #require(read.data?.user)))
            #expect(list.isMissingData != knowsConnections)
        }
    }

    @Test func promise2OneEnvironmentServesAllOperationsAndGoesWithItsLastHolder() async throws {
        weak var gone: MockEnvironment?
        func work() async throws {
            let environment = MockEnvironment()
            gone = environment
            for id in 0..<40 {
                environment.mockResponse(
                    TodoQuery(id: "\(id)"), Payloads.todo("\(id)", "t\(id)", complete: false))
            }
            let results = try await withThrowingTaskGroup(
                of: OperationResult<TodoQuery.Data>.self
            ) { group in
                for id in 0..<40 {
                    group.addTask { try await environment.fetch(TodoQuery(id: "\(id)")) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(
                Set(results.map(\.data?.node?.asTodo?.text)) == Set((0..<40).map { "t\($0)" }))
            // The store keeps ten of them for nobody; and whatever a result that somebody has is made of.
            environment.store.collectGarbage()
            for id in 0..<40 { #expect(environment.todo("\(id)")?.text == "t\(id)") }
            withExtendedLifetime(results) {}
        }
        try await work()
        #expect(gone == nil)
    }

    @Test func promise5WhoCancelsEarlySeesNoUpdates() throws {
        let environment = MockEnvironment()
        try environment.cachePayload(TodoQuery(id: "a"), Payloads.todo("a", "A", complete: false))
        var updates = 0
        let result = Collected(
            environment.commitMutation(change("a", true), updater: { _, _ in updates += 1 }))
        let request = try #require(environment.mostRecent)
        result.cancel()
        request.resolve(Payloads.status("a", complete: true))
        #expect(environment.todo("a")?.complete == false)
        #expect(updates == 0 && result.values.isEmpty && !result.isFinished)
    }

    @Test func promise6WrappersUseTheEnvironmentThatIsCurrent() throws {
        let environment = MockEnvironment()
        let mutation = Mutation<ChangeTodoStatusMutation>()
        CurrentEnvironment.with(environment) {
            #expect(CurrentEnvironment.value === environment)
            mutation.wrappedValue.commit(variables: change("a", true).variables)
        }
        #expect(environment.mostRecent?.parameters.name == "ChangeTodoStatusMutation")
        #expect(CurrentEnvironment.value !== environment)
    }

    @Test func promises12And13EitherTheTextOfAnOperationIsSentOrItsID() throws {
        let environment = MockEnvironment()
        let text = Collected(environment.fetchQuery(UserQuery()))
        let sent = try #require(environment.mostRecent)
        #expect(sent.parameters.text?.hasPrefix("query UserQuery") == true)
        #expect(sent.parameters.id == nil)
        let node = UserQuery.node
        let persisted = ConcreteRequest(
            fragment: node.fragment, operation: node.operation,
            params: RequestParameters(name: "UserQuery", operationKind: .query, id: "5eed"))
        let byID = Collected(
            environment.execute(
                operation: OperationDescriptor(
                    request: RequestDescriptor(node: persisted, variables: [:]))))
        #expect(environment.mostRecent?.parameters.id == "5eed")
        #expect(environment.mostRecent?.parameters.text == nil)
        environment.mostRecent?.resolve(Payloads.user(["a"]))
        #expect(byID.isFinished)
        text.cancel()
    }

    /// An operation whose node is made anew whenever it is asked for.
    private struct MadeAnew: Relay.Operation {
        typealias Data = UserQuery.Data

        static var node: ConcreteRequest {
            let node = UserQuery.node
            return ConcreteRequest(
                fragment: node.fragment, operation: node.operation, params: node.params)
        }

        let variables: EmptyVariables
    }

    @Test func anOperationIsOneHoweverOftenItsNodeIsMade() throws {
        let environment = MockEnvironment()
        func isFresh() -> Bool {
            let found = environment.check(operation: MadeAnew().createDescriptor())
            if case .available(_?) = found { return true }
            return false
        }
        try environment.commitPayload(MadeAnew().createDescriptor(), user)
        #expect(isFresh())
        try environment.commitUpdate { $0.invalidateStore() }
        #expect(!isFresh())
        try environment.commitPayload(MadeAnew().createDescriptor(), user)
        #expect(isFresh())
    }
}
