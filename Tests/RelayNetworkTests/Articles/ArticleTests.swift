import Combine
import Foundation
import Relay
import RelayNetwork
import Testing
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
            // Where only a row changes, the list does not; what is added to it is shown.
            #expect(shown.all == [3])
        }
    }

    @Test func anOperationWrittenByHandIsAnOperation() async throws {
        try await ServedTodos.run { todos in
            let environment = Environment(
                network: try WebSocketNetwork(url: todos.url), store: Store())
            #expect(try await OperationByHand.count(environment) == 2)
        }
    }

    @Test func aPersonSaysWhatIsRead() async throws {
        try await ServedTodos.run { todos in
            let environment = Environment(
                network: try WebSocketNetwork(url: todos.url), store: Store())
            let answers = try await OperationByHand.ask("totalCount userId totalCount", environment)
            #expect(answers == ["totalCount": "2", "userId": "me"])
            #expect(
                try await OperationByHand.ask("completedCount id", environment).keys.sorted()
                    == ["completedCount", "id"])
            #expect(try await OperationByHand.ask("id } user {", environment).isEmpty)
            await #expect(throws: NetworkError.self) {
                try await OperationByHand.ask("nothing", environment)
            }
        }
    }

    @Test func aListWrittenByHandIsFetchedFollowedAndAppendedTo() async throws {
        try await ServedTodos.run { todos in
            let shown = Noted<[String]>()
            let environment = Environment(
                network: try WebSocketNetwork(url: todos.url), store: Store())
            let added = try await ListByHand.run(
                environment, until: { await eventually { shown.all.last?.count == 3 } },
                print: { shown.note($0) })
            #expect(added == "Buy milk")
            // The first page, both pages, and what was added.
            #expect(shown.all.map(\.count) == [1, 2, 3])
            #expect(shown.all.last?.last == "Buy milk")
            #expect(shown.all.last?.dropLast() == shown.all.dropLast().last?[...])
        }
    }

    @Test func updatersChangeTheStore() async throws {
        try await ServedTodos.run { todos in
            let examples = ArticleExamples()
            let environment = Environment(
                network: try WebSocketNetwork(url: todos.url), store: Store())
            let user = try #require(try await environment.fetch(ListQuery()).data?.user)
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
            examples.added = { added.note($0 ?? "-") }
            let environment = Environment(
                network: try WebSocketNetwork(url: todos.url), store: Store())
            let events = Task { [examples] in try await examples.events(environment) }
            let subscription = examples.subscription(environment)
            let request = TodoAddedSubscription().createDescriptor().request
            // A subscription tells what comes after it began, which takes its time.
            await eventually {
                _ = try? await environment.commit(
                    AddTodoMutation(input: .init(text: "new"), connections: []))
                return !added.all.isEmpty
            }
            subscription.cancel()
            await eventually {
                _ = try? await environment.commit(
                    AddTodoMutation(input: .init(text: "new"), connections: []))
                return !environment.isActive(request: request)
            }
            try await events.value
            #expect(added.all.first == "new")
        }
    }

    @Test func aStoreOnDiskShowsItsLastStateAndSendsWhatWasNotSent() async throws {
        let directory = FileManager.default.temporaryDirectory
            .appending(path: "relay-article-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try await ServedTodos.run { todos in
            let ended = Noted<String>()
            let (first, environment) = try StoreOnDiskExample.open(directory, todos.url)
            let events = Noted<ExecutionEvent.Name>()
            let listening = StoreOnDiskExample.listen(environment) { events.note($0.name) }
            #expect(try StoreOnDiskExample.start(environment) { ended.note($0.operation) } == [])
            #expect(StoreOnDiskExample.kept(environment) == [.incomplete])
            #expect(try await StoreOnDiskExample.fetch(environment) == [])
            #expect(StoreOnDiskExample.kept(environment) == [.complete])
            await eventually { events.all.contains(.executeComplete) }
            listening.cancel()
            try await StoreOnDiskExample.close(first, environment)

            let nowhere = "ws://127.0.0.1:1/graphql"
            let (second, offline) = try StoreOnDiskExample.open(directory, nowhere)
            #expect(StoreOnDiskExample.kept(offline) == [.unnamed])
            #expect(try StoreOnDiskExample.start(offline) { ended.note($0.operation) } == [])
            #expect(StoreOnDiskExample.kept(offline) == [.cached])
            let adding = offline.commitMutation(
                AddTodoMutation(input: .init(text: "Begun offline"), connections: [])
            ).sink(receiveCompletion: { _ in }, receiveValue: { _ in })
            try await StoreOnDiskExample.close(second, offline)
            #expect(ended.all == [])

            let (third, online) = try StoreOnDiskExample.open(directory, todos.url)
            #expect(try StoreOnDiskExample.start(online) { ended.note($0.operation) } == [])
            await eventually { ended.all == ["AddTodoMutation"] }
            #expect(try await StoreOnDiskExample.fetch(online) == [])
            #expect(StoreOnDiskExample.kept(online) == [.complete])
            let user = try #require(try await online.fetch(StoreOnDiskExample.query).data?.user)
            #expect(online.lookup(List_user(key: user)).data?.todos?.edges?.count == 3)
            try await StoreOnDiskExample.close(third, online)
            adding.cancel()
        }
    }

    @Test func mocksPlayTheServer() async throws {
        #expect(
            try await ArticleExamples().testing() == ["Test", "Buy milk", "Buy milk", "Buy bread"])
    }

    @Test func theCodeOfTheArticlesIsThatOfTheExamples() throws {
        let examples = try [
            "ArticleExamples", "OperationByHand", "StoreOnDiskExample", "Item", "List",
            "ChangeTodoStatus", "AddTodo",
            "../../FirstApp/Package", "../../FirstApp/Sources/Todos/Todos",
            "../../FirstApp/Sources/Todos/AddTodo",
        ].flatMap {
            try Self.lines(Self.folder.appending(path: "\($0).swift"))
        }
        var blockCount = 0
        for name in [
            "FromZeroToALiveList", "OperationsByHand", "Updaters", "OptimisticUpdates",
            "Subscriptions", "Testing", "AStoreOnDisk", "YourFirstApp",
        ] {
            var block: [String]?
            for line in try Self.lines(Self.article(name)) {
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
        #expect(blockCount >= 46)
    }

    /// A reader puts the pieces into files in the order in which the article has them, and nothing else.
    @Test func thePiecesOfTheFirstAppAreItsFiles() throws {
        var pieces: [[String]] = []
        var isInside = false
        for line in try Self.lines(Self.article("YourFirstApp")) {
            if line.hasPrefix("```") {
                isInside = line == "```swift"
                if isInside { pieces.append([]) }
            } else if isInside {
                pieces[pieces.count - 1].append(line)
            }
        }
        func file(_ name: String) throws -> [String] {
            try Self.lines(
                Self.folder.appending(path: "../../FirstApp/Sources/Todos/\(name).swift"))
        }
        try #require(pieces.count == 5)
        #expect(try pieces[1...3].flatMap(\.self) == file("Todos"))
        #expect(try pieces[4] == file("AddTodo"))
    }

    /// The table's code has dots where the reader has to put something. Its parts are one after the other in a line of
    /// `TableByHand`.
    @Test func theTableOfOperationsByHandCompiles() throws {
        func dense(_ text: some StringProtocol) -> String {
            String(text).filter { !$0.isWhitespace }
        }
        let file = Self.folder.appending(path: "OperationByHand.swift")
        let selections = try Self.lines(file).drop { !$0.hasPrefix("enum TableByHand") }.joined()
            .split(separator: ",.").map(dense)
        func isCompiled(_ code: some StringProtocol) -> Bool {
            selections.contains { selection in
                var rest = selection[...]
                // Parentheses behind the dots close what they open.
                for part in code.split(separator: "…").map(dense)
                where !part.allSatisfy({ $0 == ")" }) {
                    let start = part.drop { $0 == "." }
                    guard let found = rest.firstRange(of: start) else { return false }
                    rest = rest[found.upperBound...]
                }
                return true
            }
        }
        let compiled = ["Normalization", "Reader", "abstractKey:", "filters:", "kind:"]
        var codeCount = 0
        for row in try Self.lines(Self.article("OperationsByHand")) where row.hasPrefix("| ") {
            for column in row.split(separator: "|").dropFirst() {
                let codes = column.split(separator: "`", omittingEmptySubsequences: false)
                for (place, code) in codes.enumerated() where !place.isMultiple(of: 2) {
                    guard compiled.contains(where: code.contains) else { continue }
                    codeCount += 1
                    #expect(isCompiled(code), "\(code)")
                }
            }
        }
        #expect(codeCount >= 15)
    }

    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()

    private static func article(_ name: String) -> URL {
        folder.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Sources/Relay/Relay.docc/\(name).md")
    }

    private static func lines(_ file: URL) throws -> [String] {
        try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
            .map { $0.trimmingCharacters(in: .whitespaces) }
    }
}
