import Foundation
import OpenCombine
import Relay
import Testing
import TodoFixtures

/// The async twins of publishers.
@Suite(.bounded, .timeLimit(.minutes(10))) struct SequenceTests {
    private let environment = MockEnvironment()
    private let operation = TodoQuery(id: "a").createDescriptor()

    private func write(_ text: String) throws {
        try environment.cachePayload(TodoQuery(id: "a"), Payloads.todo("a", text, complete: false))
    }

    @Test func snapshotsBeginWithWhatIsThereAndGoOn() async throws {
        try write("one")
        var texts: [String?] = []
        for await snapshot in environment.snapshots(
            of: operation.fragment, as: TodoQuery.Data.self)
        {
            texts.append(snapshot.data?.node?.asTodo?.text)
            if texts.count == 3 { break }
            try write(["two", "three"][texts.count - 1])
        }
        #expect(texts == ["one", "two", "three"])
    }

    @Test func aFragmentIsASequenceToo() async throws {
        try environment.cachePayload(UserQuery(), Payloads.user(["a"]))
        let user: Relay.Snapshot<UserQuery.Data> = environment.lookup(
            selector: UserQuery().createDescriptor().fragment)
        let list = environment.lookup(List_user(key: try #require(user.data?.user)))
        let todo = Item_todo(key: try #require(list.data?.todos?.edges?.first??.node))
        var texts: [String?] = []
        for await snapshot in environment.snapshots(of: todo) {
            texts.append(snapshot.data?.text)
            if texts.count == 2 { break }
            try environment.commitUpdate { $0["a"]?["text"] = "new" }
        }
        #expect(texts == ["ta", "new"])
    }

    @Test func aSlowReaderSeesTheNewestSnapshotOnly() async throws {
        try write("one")
        let snapshots: AsyncStream<Relay.Snapshot<TodoQuery.Data>> = environment.snapshots(
            of: operation.fragment)
        try write("two")
        try write("three")
        for await snapshot in snapshots {
            #expect(snapshot.data?.node?.asTodo?.text == "three")
            break
        }
    }

    @Test func aQueryBeingPreparedIsASequence() async throws {
        let states = QueryResource(environment: environment).prepare(
            operation: operation, fetchPolicy: .networkOnly)
        var words: [String] = []
        for await state in states.values {
            switch state {
            case nil: words.append("loading")
            case .success?: words.append("data")
            case .failure?: words.append("error")
            }
            environment.mostRecent?.resolve(Payloads.todo("a", "x", complete: true))
        }
        #expect(words == ["loading", "data"])
    }

    @Test func responsesAreSequences() async throws {
        environment.mockResponse(TodoQuery(id: "a"), Payloads.todo("a", "x", complete: true))
        var count = 0
        for try await response in environment.execute(operation: operation).values {
            #expect(response.hasData)
            count += 1
        }
        #expect(count == 1)
        environment.mockResponse(change("a", true), Payloads.status("a", complete: true))
        for try await answer in environment.execute(
            operation: change("a", true).createDescriptor()
        ).values {
            #expect(answer.hasData)
            count += 1
        }
        #expect(count == 2)
    }

    @Test func resultsOfASubscriptionHaveItsErrors() async throws {
        let results = environment.results(of: TodoAddedSubscription())
        let request = try #require(environment.mostRecent)
        request.resolve(
            """
            {"data":{"todoAdded":{"todo":{"id":"a","text":"t","complete":false}}},\
            "errors":[{"message":"half"}]}
            """)
        var told: [String] = []
        for try await result in results {
            told.append("\(result.data?.todoAdded?.todo.id ?? "-") \(result.errors.map(\.message))")
        }
        #expect(told == [#"a ["half"]"#])
    }
}
