import Combine
import Foundation
import Relay
import RelayNetwork
import Testing
import TodoFixtures
import TodoMutations

/// The articles of the client runtime: their code runs, and is what they say it is.
@Suite(.bounded, .timeLimit(.minutes(10)))
struct ArticleTests {
    @Test func aListIsFetchedFollowedAndChanged() async throws {
        try await ServedTodos.run { todos in
            let shown = Noted<Int>()
            var examples = ArticleExamples()
            examples.show = { shown.note($0?.edges?.count ?? -1) }
            try await examples.fromZeroToALiveList(todos.url)
            // The list itself did not change, only a row of it.
            #expect(shown.all.isEmpty)
        }
    }

    @Test func anOperationWrittenByHandIsAnOperation() async throws {
        try await ServedTodos.run { todos in
            let environment = Environment(
                network: try WebSocketNetwork(url: todos.url), store: Store())
            #expect(try await OperationByHand.count(environment) == 2)
        }
    }

    @Test func updatersChangeTheStore() async throws {
        try await ServedTodos.run { todos in
            let examples = ArticleExamples()
            let environment = Environment(
                network: try WebSocketNetwork(url: todos.url), store: Store())
            let user = try #require(try await environment.fetch(UserQuery()).data?.user)
            try await examples.updaters(environment)
            func rows() -> [Item_todo.Data?] {
                let edges = environment.lookup(List_user(key: user)).data?.todos?.edges ?? []
                return edges.map { edge in
                    edge?.node.flatMap { environment.lookup(Item_todo(key: $0)).data }
                }
            }
            #expect(rows().count == 2 && rows().allSatisfy { $0?.complete == true })
            #expect(rows().last??.text == "Done at last")
            let shown = try examples.optimisticUpdates(environment)
            #expect(rows().last??.text == "Being typed")
            for change in shown { change.cancel() }
            #expect(rows().last??.text == "Done at last")
        }
    }

    @Test func eventsAreTakenIn() async throws {
        try await ServedTodos.run { todos in
            let added = Noted<String>()
            var examples = ArticleExamples()
            examples.added = { added.note($0?.text ?? "-") }
            let environment = Environment(
                network: try WebSocketNetwork(url: todos.url), store: Store())
            let events = Task { [examples] in try await examples.events(environment) }
            let subscription = examples.subscription(environment)
            let request = TodoAddedSubscription().createDescriptor().request
            // A subscription tells what comes after it began, which takes its time.
            await eventually {
                _ = try? await environment.commit(
                    AddTodoMutation(variables: .init(text: "new", connections: [])))
                return !added.all.isEmpty
            }
            subscription.cancel()
            await eventually {
                _ = try? await environment.commit(
                    AddTodoMutation(variables: .init(text: "new", connections: [])))
                return !environment.isActive(request: request)
            }
            try await events.value
            #expect(added.all.first == "new")
        }
    }

    @Test func mocksPlayTheServer() async throws {
        #expect(
            try await ArticleExamples().testing() == ["Test", "Buy milk", "Buy milk", "Buy bread"])
    }

    @Test func theCodeOfTheArticlesIsThatOfTheExamples() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        let root = folder.deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        func lines(_ file: URL) throws -> [String] {
            try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
                .map { $0.trimmingCharacters(in: .whitespaces) }
        }
        let examples = try ["ArticleExamples", "OperationByHand"].flatMap {
            try lines(folder.appending(path: "\($0).swift"))
        }
        var blockCount = 0
        for name in [
            "FromZeroToALiveList", "OperationsByHand", "Updaters", "OptimisticUpdates",
            "Subscriptions", "Testing",
        ] {
            var block: [String]?
            let article = root.appending(path: "Sources/Relay/Relay.docc/\(name).md")
            for line in try lines(article) {
                if line == "```swift" {
                    block = []
                } else if line == "```", let code = block {
                    blockCount += 1
                    block = nil
                    let isThere = examples.indices.contains { examples[$0...].starts(with: code) }
                    #expect(isThere, "\(name).md:\n\(code.joined(separator: "\n"))")
                } else {
                    block?.append(line)
                }
            }
        }
        #expect(blockCount >= 15)
    }
}
