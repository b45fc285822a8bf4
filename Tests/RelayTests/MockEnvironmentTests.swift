import Foundation
import OpenCombine
import Relay
import Testing
import TodoFixtures

@Suite(.bounded, .timeLimit(.minutes(10)))
struct MockEnvironmentTests {
    private let environment = MockEnvironment()

    private func items(_ user: UserQuery.Data.User_user?) -> [Item_todo.Data?] {
        guard let user else { return [] }
        let edges = environment.lookup(List_user(key: user)).data?.todos?.edges ?? []
        return edges.map { edge in
            edge?.node.flatMap { environment.lookup(Item_todo(key: $0)).data }
        }
    }

    // MARK: Payloads that are made up

    @Test func whatNobodySaysIsMadeUpByItsType() throws {
        let result = Collected(environment.fetchQuery(UserQuery()))
        try environment.resolveMostRecent()
        let user = try #require(result.values.first??.user)
        #expect(result.isFinished)
        #expect(user.id == "<User-mock-id-1>" && user.totalCount == 42)
        #expect(user.userId == #"<mock-value-for-field-"userId">"#)
        let item = try #require(items(user).first ?? nil)
        #expect(item.id == "<Todo-mock-id-2>" && !item.complete)
        #expect(item.text == #"<mock-value-for-field-"text">"#)
    }

    @Test func resolversSpeakForTypesAndForPaths() throws {
        var contexts: [String] = []
        let generator = MockPayloadGenerator([
            "User": { _ in ["userId": "ada", "id": "U"] },
            "Todo": { context in
                contexts.append("\(context.parentType).\(context.name) \(context.path)")
                return ["text": .string("todo \(context.makeID())"), "complete": true]
            },
            "user.todos": { context in
                #expect(context.arguments == ["first": 10])
                return ["edges": [[:], nil, ["node": nil], ["node": ["text": "given"]]]]
            },
            "Int": { _ in 7 },
        ])
        let result = Collected(environment.fetchQuery(UserQuery()))
        try environment.resolveMostRecent(with: generator)
        let user = try #require(result.values.first??.user)
        #expect(user.id == "U" && user.userId == "ada" && user.totalCount == 7)
        #expect(items(user).map { $0?.text } == ["todo 1", nil, nil, "given"])
        #expect(
            contexts == [
                #"TodoEdge.node ["user", "todos", "edges", "0", "node"]"#,
                #"TodoEdge.node ["user", "todos", "edges", "3", "node"]"#,
            ])
    }

    @Test func theSameIsMadeUpEveryTime() {
        let operation = UserQuery().createDescriptor()
        let first = MockPayloadGenerator().response(to: operation)
        #expect(first == MockPayloadGenerator().response(to: operation))
        #expect(String(decoding: first, as: UTF8.self).contains("<Todo-mock-id-2>"))
    }

    @Test func objectsOfAbstractTypesHaveATypeThatIsAskedFor() throws {
        let todo = Collected(environment.fetchQuery(TodoQuery(id: "a")))
        try environment.resolveMostRecent()
        #expect(todo.values.first??.node?.asTodo?.text == #"<mock-value-for-field-"text">"#)
        let nobody = Collected(environment.fetchQuery(TodoQuery(id: "b")))
        try environment.resolveMostRecent(with: MockPayloadGenerator(["node": { _ in .null }]))
        #expect(nobody.values.first.map { $0?.node == nil } == true)
    }

    @Test func withoutTheDirectiveLeavesAreTexts() throws {
        let result = Collected(environment.commitMutation(change("a", true)))
        try environment.resolveMostRecent()
        let error = try #require(result.error as? ReadError)
        #expect(error.reason == .mismatch(expected: "boolean"))
        let said = Collected(environment.commitMutation(change("a", true)))
        try environment.resolveMostRecent(
            with: MockPayloadGenerator(["Todo": { _ in ["complete": true] }]))
        #expect(said.values.first??.changeTodoStatus?.todo.complete == true)
    }

    @Test func theDataCanBeAnOptimisticResponse() throws {
        let mutation = change("a", true)
        let generator = MockPayloadGenerator(["Todo": { _ in ["id": "a", "complete": true] }])
        try environment.cachePayload(TodoQuery(id: "a"), Payloads.todo("a", "A", complete: false))
        let result = Collected(
            environment.commitMutation(
                mutation, optimisticResponse: generator.data(for: mutation.createDescriptor())))
        #expect(environment.todo("a")?.complete == true)
        result.cancel()
        #expect(environment.todo("a")?.complete == false)
    }

    // MARK: Requests

    @Test func requestsAreAnsweredInAnyOrderAndWay() throws {
        let a = Collected(environment.fetchQuery(TodoQuery(id: "a")))
        let b = Collected(environment.fetchQuery(TodoQuery(id: "b")))
        #expect(environment.isLoading(TodoQuery(id: "a")))
        #expect(
            environment.waitingOperations.map(\.request.variables) == [["id": "a"], ["id": "b"]])
        let first = try #require(environment.requests(of: TodoQuery(id: "a")).first)
        #expect(environment.operation(of: first) == TodoQuery(id: "a").createDescriptor())
        try environment.rejectMostRecent(URLError(.timedOut))
        #expect(b.error is URLError && !environment.isLoading(TodoQuery(id: "b")))
        try environment.nextValue(first)
        #expect(a.values.count == 1 && !a.isFinished)
        first.complete()
        #expect(a.isFinished)
        #expect(throws: NoMockRequestError.self) { try environment.resolve(first) }
        #expect(throws: NoMockRequestError.self) { try environment.resolveMostRecent() }
        #expect(throws: NoMockRequestError.self) {
            try environment.rejectMostRecent(URLError(.timedOut))
        }
    }

    @Test func subscriptionsGetEventsOneByOne() throws {
        let events = Collected(environment.requestSubscription(TodoAddedSubscription()))
        let request = try #require(environment.mostRecent)
        for text in ["one", "two"] {
            try environment.nextValue(
                request,
                with: MockPayloadGenerator(["Todo": { _ in ["text": .string(text)] }]))
        }
        #expect(events.values.map { $0?.todoAdded?.todo.text } == ["one", "two"])
        request.complete()
        #expect(events.isFinished)
    }

    @Test func answersMayBeGivenForAllOperations() async throws {
        environment.answer { operation in
            operation.request.node.params.name == "TodoQuery"
                ? MockPayloadGenerator().response(to: operation) : nil
        }
        environment.mockResponse(TodoQuery(id: "a"), Payloads.todo("a", "mocked", complete: false))
        #expect(
            try await environment.fetch(TodoQuery(id: "a")).data?.node?.asTodo?.text == "mocked")
        #expect(
            try await environment.fetch(TodoQuery(id: "b")).data?.node?.asTodo?.id
                == "<Todo-mock-id-1>")
        let other = Collected(environment.fetchQuery(UserQuery()))
        #expect(environment.isLoading(UserQuery()))
        other.cancel()
    }

    @Test func aDelayedResponseAnswersAllThatWait() throws {
        let deliver = try environment.delayMockedResponse(
            TodoQuery(id: "a"),
            ["data": ["node": ["__typename": "Todo", "id": "a", "text": "x", "complete": true]]])
        let first = Collected(environment.fetchQuery(TodoQuery(id: "a")))
        let second = Collected(
            environment.fetchQuery(TodoQuery(id: "a"), cacheConfig: CacheConfig(force: true)))
        #expect(first.values.isEmpty && second.values.isEmpty)
        deliver()
        #expect(first.isFinished && second.isFinished)
        #expect(first.values.first??.node?.asTodo?.text == "x")
    }
}
