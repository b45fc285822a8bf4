import Foundation
import OpenCombine
import Relay
import RelayArtifacts
@_spi(Rooms) import RelayStore
import Testing
import Threads
import TodoFixtures

/// Responses that come in parts (`@defer`), in the forms that servers know.
@Suite(.bounded, .timeLimit(.minutes(10))) struct IncrementalTests {
    private let environment = MockEnvironment()

    private func text(_ todo: (any DeferredTodo)?) -> String? {
        todo.flatMap { environment.lookup($0.asFragment()).data?.text }
    }

    private static let part = #"{"text":"A","complete":true}"#
    private static let parts = [
        #"{"incremental":[{"label":"item","path":["node"],"data":\#(part)}],"hasNext":true}"#,
        #"{"label":"item","path":["node"],"data":\#(part),"hasNext":true}"#,
        #"{"data":\#(part),"label":"item","path":["node"],"hasNext":true}"#,
    ]

    @Test(arguments: parts, [#"{"hasNext":false}"#, #"{"hasNext":false,"extensions":{"t":1}}"#])
    func anEndNoticeRemovesNothing(_ part: String, _ end: String) async throws {
        let result = Task { [environment] in
            try await environment.fetch(DeferredTodoQuery(variables: .init(id: "a")))
        }
        await eventually { environment.mostRecent != nil }
        let request = try #require(environment.mostRecent)
        request.nextValue(#"{"data":{"node":{"__typename":"Todo","id":"a"}},"hasNext":true}"#)
        request.nextValue(part)
        request.nextValue(end)
        request.complete()
        let todo = try await result.value.data?.node?.asTodo
        #expect(todo?.id == "a" && text(todo) == "A")
    }

    /// The records of a response wait for its parts.
    @Test func aCollectionBetweenTheParts() throws {
        let result = Collected(
            environment.commitMutation(
                DeferredRenameMutation(variables: .init(id: "a", text: "A"))))
        let request = try #require(environment.mostRecent)
        request.nextValue(#"{"data":{"renameTodo":{"todo":{"id":"a"}}},"hasNext":true}"#)
        environment.store.collectGarbage()
        request.nextValue(
            """
            {"incremental":[{"path":["renameTodo","todo"],"data":\(Self.part)}],"hasNext":false}
            """)
        request.complete()
        #expect(result.values.map { $0?.renameTodo?.todo.id } == ["a", "a"])
        #expect(text(result.values.last??.renameTodo?.todo) == "A" && result.isFinished)
    }

    @Test(arguments: [
        #"{"incremental":[{"label":"item","data":{"user":null}}],"hasNext":false}"#,
        #"{"incremental":[{"path":["nowhere"],"data":{"id":"x"}}],"hasNext":false}"#,
        #"{"label":"item","data":{"node":null},"hasNext":false}"#,
        #"{"data":{"node":null},"label":"item","hasNext":false}"#,
    ])
    func anUnmatchedPartIsAnErrorNextToTheData(_ part: String) async throws {
        let result = Task { [environment] in
            try await environment.fetch(DeferredTodoQuery(variables: .init(id: "a")))
        }
        await eventually { environment.mostRecent != nil }
        let request = try #require(environment.mostRecent)
        request.nextValue(#"{"data":{"node":{"__typename":"Todo","id":"a"}},"hasNext":true}"#)
        request.nextValue(part)
        request.complete()
        let value = try await result.value
        #expect(value.data?.node?.asTodo?.id == "a")
        #expect(value.errors.map { $0.message.contains("part of the response") } == [true])
        // The root is as it was.
        #expect(environment.todo("a")?.id == nil)
        #expect(environment.store.snapshot.existing("x") == nil)
    }

    @Test func aPartThatFailsLeavesTheRestAndSaysWhy() async throws {
        let result = Task { [environment] in
            try await environment.fetch(DeferredTodoQuery(variables: .init(id: "a")))
        }
        await eventually { environment.mostRecent != nil }
        let request = try #require(environment.mostRecent)
        request.nextValue(#"{"data":{"node":{"__typename":"Todo","id":"a"}},"hasNext":true}"#)
        request.nextValue(
            """
            {"incremental":[{"path":["node"],"data":null,"errors":[{"message":"too late"}]}],\
            "hasNext":false}
            """)
        request.complete()
        let value = try await result.value
        #expect(value.data?.node?.asTodo?.id == "a" && value.errors.map(\.message) == ["too late"])
    }

    /// A result says of each field that is null why it is, whichever part brought it.
    @Test(arguments: [
        #"{"hasNext":false}"#,
        #"{"incremental":[],"errors":[{"message":"late"}],"hasNext":false}"#,
        #"{"incremental":[{"path":["node"],"data":null,"errors":[{"message":"late"}]}],"hasNext":false}"#,
    ])
    func theErrorsOfAllPartsAreInTheResult(_ end: String) async throws {
        let results = Collected(
            environment.publisher(of: DeferredTodoQuery(variables: .init(id: "a"))))
        let request = try #require(environment.mostRecent)
        request.nextValue(
            """
            {"data":{"node":{"__typename":"Todo","id":"a"}},\
            "errors":[{"message":"first"}],"hasNext":true}
            """)
        request.nextValue(
            #"{"incremental":[{"path":["node"],"data":\#(Self.part)}],"hasNext":true}"#)
        request.nextValue(end)
        request.complete()
        let late = end.contains("late") ? ["late"] : []
        #expect(results.values.last?.errors.map(\.message) == ["first"] + late)
        #expect(results.isFinished)
        // The next response is another one.
        let next = Collected(
            environment.publisher(of: DeferredTodoQuery(variables: .init(id: "a"))))
        environment.mostRecent?.resolve(#"{"data":{"node":null}}"#)
        #expect(next.values.map { $0.errors.count } == [0])
    }

    @Test func anAnswerThatBreaksOffBetweenItsPartsIsAnError() async throws {
        let query = Collected(
            environment.publisher(of: DeferredTodoQuery(variables: .init(id: "a"))))
        let first = try #require(environment.mostRecent)
        first.nextValue(#"{"data":{"node":{"__typename":"Todo","id":"a"}},"hasNext":true}"#)
        first.complete()
        #expect(query.values.count == 1)
        #expect((query.error as? IncompleteResponseError)?.operation == "DeferredTodoQuery")

        let mutation = Collected(
            environment.publisher(
                of: DeferredRenameMutation(variables: .init(id: "a", text: "A"))))
        let second = try #require(environment.mostRecent)
        second.nextValue(#"{"data":{"renameTodo":{"todo":{"id":"a"}}},"hasNext":true}"#)
        second.complete()
        #expect(mutation.error is IncompleteResponseError)
        // It was carried out; what has come of it is there.
        #expect(environment.store.snapshot.existing("a") != nil)
    }

    @Test func thePartsOfAnEventGoWhereTheEventWent() throws {
        let events = Collected(environment.requestSubscription(DeferredTodoAddedSubscription()))
        let request = try #require(environment.mostRecent)
        func event(_ id: String) -> String {
            #"{"data":{"todoAdded":{"todo":{"id":"\#(id)"}}},"hasNext":true}"#
        }
        func part(_ text: String) -> String {
            """
            {"incremental":[{"path":["todoAdded","todo"],\
            "data":{"text":"\(text)","complete":false}}],"hasNext":false}
            """
        }
        ResponseBurst.gather {
            request.nextValue(event("a"))
            request.nextValue(part("A"))
            request.nextValue(event("b"))
        }
        environment.store.collectGarbage()
        request.nextValue(part("B"))
        request.nextValue(#"{"hasNext":false}"#)
        #expect(events.values.map { $0?.todoAdded?.todo.id } == ["a", "a", "b", "b"])
        #expect(text(events.values.last??.todoAdded?.todo) == "B")
        #expect(events.error == nil)
    }

    @Test(arguments: parts)
    func anUpdaterRunsOnceAndNotForTheParts(_ part: String) throws {
        var count = 0
        let result = Collected(
            environment.commitMutation(
                DeferredRenameMutation(variables: .init(id: "a", text: "A")),
                updater: { _, _ in count += 1 }))
        let request = try #require(environment.mostRecent)
        request.nextValue(#"{"data":{"renameTodo":{"todo":{"id":"a"}}},"hasNext":true}"#)
        request.nextValue(
            part.replacingOccurrences(of: #"["node"]"#, with: #"["renameTodo","todo"]"#))
        request.nextValue(#"{"hasNext":false}"#)
        request.complete()
        #expect(result.isFinished && count == 1)
    }

    @Test(arguments: parts)
    func theUpdaterOfAQueryRunsOnceAndNotForTheParts(_ part: String) throws {
        var count = 0
        let result = Collected(
            environment.publisher(
                of: DeferredTodoQuery(variables: .init(id: "a")), updater: { _, _ in count += 1 }))
        let request = try #require(environment.mostRecent)
        request.nextValue(#"{"data":{"node":{"__typename":"Todo","id":"a"}},"hasNext":true}"#)
        request.nextValue(part)
        request.nextValue(#"{"hasNext":false}"#)
        request.complete()
        #expect(result.isFinished && count == 1)
        #expect(text(result.values.last?.data?.node?.asTodo) == "A")
    }

    /// Its data cannot do without what its response brings later.
    private struct WholeTodoQuery: Relay.Operation {
        static let node = ConcreteRequest(
            fragment: TodoQuery.node.fragment, operation: DeferredTodoQuery.node.operation,
            params: DeferredTodoQuery.node.params)
        static let madeCount = Lock(0)
        var variables: TodoQuery.Variables

        struct Data: ReadableRecord {
            var node: Item_todo.Data?

            init(_ record: inout RecordReader) throws {
                WholeTodoQuery.madeCount.withLock { $0 += 1 }
                node = try record.optionalLinked("node")
            }
        }
    }

    @Test func whatIsAwaitedIsReadOnceWhenItIsWhole() async throws {
        let before = WholeTodoQuery.madeCount.withLock { $0 }
        let result = Task { [environment] in
            try await environment.fetch(WholeTodoQuery(variables: .init(id: "a")))
        }
        await eventually { environment.mostRecent != nil }
        let request = try #require(environment.mostRecent)
        request.nextValue(#"{"data":{"node":{"__typename":"Todo","id":"a"}},"hasNext":true}"#)
        request.nextValue(
            #"{"incremental":[{"path":["node"],"data":{"text":"A"}}],"hasNext":true}"#)
        request.nextValue(
            #"{"incremental":[{"path":["node"],"data":{"complete":true}}],"hasNext":false}"#)
        request.complete()
        let value = try await result.value
        #expect(value.data?.node?.text == "A" && value.errors.isEmpty)
        #expect(WholeTodoQuery.madeCount.withLock { $0 } - before == 1)
    }

    @Test func aPartThatCannotBeReadYetSaysSoAndTheNextOneComes() throws {
        let results = Collected(
            environment.publisher(of: RequiredTodoQuery(variables: .init(id: "a"))))
        let request = try #require(environment.mostRecent)
        request.nextValue(#"{"data":{"node":{"__typename":"Todo","id":"a"}},"hasNext":true}"#)
        request.nextValue(
            #"{"incremental":[{"path":["node"],"data":\#(Self.part)}],"hasNext":false}"#)
        request.complete()
        #expect(results.values.map { $0.data?.node?.asTodo?.text } == [nil, "A"])
        #expect(results.values.map(\.errors.count) == [1, 0] && results.isFinished)
        // Nothing more comes of this one.
        let broken = Collected(
            environment.publisher(of: RequiredTodoQuery(variables: .init(id: "b"))))
        environment.mostRecent?.resolve(#"{"data":{"node":{"__typename":"Todo","id":"b"}}}"#)
        #expect(broken.error is ReadError)
    }

    /// As the other one, for a test beside it.
    private struct RequiredTodoQuery: Relay.Operation {
        static let node = WholeTodoQuery.node
        var variables: TodoQuery.Variables
        typealias Data = TodoQuery.Data
    }

    @Test func aRefusalInThePlaceOfAResponseThatWasCutIsTheEnd() throws {
        let results = Collected(
            environment.publisher(of: DeferredTodoQuery(variables: .init(id: "a"))))
        let request = try #require(environment.mostRecent)
        request.nextValue(
            """
            {"data":{"node":{"__typename":"Todo","id":"a"}},\
            "errors":[{"message":"first"}],"hasNext":true}
            """)
        // Asked again over another connection.
        request.nextValue(#"{"errors":[{"message":"no"}]}"#)
        request.complete()
        #expect((results.error as? NetworkError)?.errors.map(\.message) == ["no"])
        #expect(results.values.map { $0.errors.map(\.message) } == [["first"], ["no"]])
    }

    /// Members of a JSON object have no order.
    @Test(arguments: [
        #"{"hasNext":false,"incremental":[\#(place)],"data":\#(data)}"#,
        #"{"incremental":[\#(place)],"errors":[],"hasNext":false,"data":\#(data)}"#,
        #"{"data":\#(data),"incremental":[\#(place)],"hasNext":false}"#,
    ])
    func partsBelongToTheDataOfTheirMessageWhereverItStands(_ response: String) async throws {
        let result = Task { [environment] in
            try await environment.fetch(DeferredTodoQuery(variables: .init(id: "a")))
        }
        await eventually { environment.mostRecent != nil }
        environment.mostRecent?.resolve(response)
        let value = try await result.value
        #expect(value.errors.isEmpty && text(value.data?.node?.asTodo) == "A")
    }

    private static let data = #"{"node":{"__typename":"Todo","id":"a"}}"#
    private static let place = #"{"path":["node"],"data":\#(part)}"#
}
