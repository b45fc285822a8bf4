import BoundedTesting
import Foundation
import OpenCombine
import Relay
@_spi(Rooms) import RelayStore
import Testing
import TodoFixtures

/// Several tasks that change the same todos, whose server answers on a task of its own, beside collections and
/// invalidations. Where exact values depend on who comes first, these do not: whatever is told is a text that the server
/// had, with what is under way behind it; no word is ever there twice; nobody goes back; and in the end all read what
/// the server says.
///
/// ``ModelRounds`` says how many rounds. A seed gives the same steps again, in another order of the tasks.
@Suite(.bounded, .timeLimit(.minutes(30)))
struct SharedTodoModelTests {
    static let ids = ["a", "b"]

    @Test func tasksThatShareTodosAgreeWithTheirServer() async {
        await ModelRounds.run { seed in try await round(seed) }
    }

    private func round(_ seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let server = SharedTodoServer()
        let bufferSize = Int.random(in: 0...2, using: &random)
        let environment = Environment(
            network: server, store: Store(gcReleaseBufferSize: bufferSize))
        let kept = Self.ids.map {
            environment.retain(operation: TodoQuery(id: $0).createDescriptor())
        }
        for id in Self.ids {
            try environment.commitPayload(
                TodoQuery(id: id).createDescriptor(),
                ["node": ["__typename": "Todo", "id": id, "text": "", "complete": true]])
        }
        let seeds = (0..<3).map { _ in random.next() }
        let workers = await withTaskGroup(of: SharedTodoWorker.self) { tasks in
            for (number, seed) in seeds.enumerated() {
                tasks.addTask {
                    var worker = SharedTodoWorker(environment, server, name: "w\(number)", seed)
                    // Few enough that nobody who is told slowly misses one.
                    for _ in 0..<30 {
                        worker.step()
                        await Task.yield()
                    }
                    worker.settle()
                    return worker
                }
            }
            let answering = Task { [random] in
                var random = random
                while !Task.isCancelled || !server.isIdle {
                    server.answerSome(&random)
                    await Task.yield()
                }
            }
            let workers = await tasks.reduce(into: [SharedTodoWorker]()) { $0.append($1) }
            answering.cancel()
            await answering.value
            return workers
        }
        for worker in workers { try await worker.compare() }
        for retention in kept { retention.cancel() }
    }
}

/// One of the tasks.
private struct SharedTodoWorker: @unchecked Sendable {
    // Unchecked: one task at a time works with it.

    struct Mismatch: Error, CustomStringConvertible {
        let description: String
    }

    private struct Follower {
        let id: String
        let first: String
        let told: Outcomes

        /// What it saw, from where it began.
        var history: [String] { [first] + told.lines }
    }

    private let environment: Environment
    private let server: SharedTodoServer
    private let name: String
    private var random: SeededGenerator
    private var count = 0
    private var mutations: [(word: String, told: Outcomes)] = []
    private var fetches: [(id: String, told: Outcomes)] = []
    private var followers: [Follower] = []
    private var shown: [AnyCancellable] = []

    init(_ environment: Environment, _ server: SharedTodoServer, name: String, _ seed: UInt64) {
        self.environment = environment
        self.server = server
        self.name = name
        random = SeededGenerator(seed: seed)
    }

    // MARK: Steps

    mutating func step() {
        let id = SharedTodoModelTests.ids.randomElement(using: &random) ?? ""
        switch Int.random(in: 0..<20, using: &random) {
        case 0..<8: mutate(id)
        case 8..<11: fetch(id)
        case 11..<13: show(id)
        case 13..<15: if !shown.isEmpty { shown.removeFirst().cancel() }
        case 15..<17: follow(id)
        case 17: try? environment.commitUpdate { store in store.invalidateStore() }
        default: environment.store.collectGarbage()
        }
    }

    /// Takes back what only this program shows.
    mutating func settle() {
        for end in shown { end.cancel() }
        shown = []
    }

    private mutating func nextWord() -> String {
        count += 1
        return "\(name).\(count)"
    }

    private mutating func mutate(_ id: String) {
        let word = nextWord()
        let mutation = RenameTodoMutation(variables: .init(id: id, text: word))
        let optimistic: SelectorStoreUpdater = { store, _ in
            if let record = store[DataID(id)] { Self.add(word, to: record) }
        }
        let told = Outcomes(
            environment.commitMutation(mutation, optimisticUpdater: optimistic)
        ) { $0?.renameTodo?.todo.text ?? "null" }
        mutations.append((word, told))
    }

    private mutating func fetch(_ id: String) {
        let told = Outcomes(environment.fetchQuery(TodoQuery(id: id))) {
            $0?.node?.asTodo?.text ?? "null"
        }
        fetches.append((id, told))
    }

    private mutating func show(_ id: String) {
        let word = nextWord()
        let end = try? environment.applyUpdate { store in
            if let record = store[DataID(id)] { Self.add(word, to: record) }
        }
        if let end { shown.append(end) }
    }

    private mutating func follow(_ id: String) {
        let now = environment.lookup(
            selector: TodoQuery(id: id).createDescriptor().fragment, as: TodoQuery.Data.self)
        let told = Outcomes(environment.subscribe(snapshot: now)) {
            $0.data?.node?.asTodo?.text ?? "null"
        }
        followers.append(
            Follower(id: id, first: now.data?.node?.asTodo?.text ?? "null", told: told))
    }

    private static func add(_ word: String, to record: any RecordProxy) {
        guard let text = record["text"] as? String else { return }
        record["text"] = text.isEmpty ? word : "\(text) \(word)"
    }

    // MARK: Comparing

    /// When everybody has settled and everything was answered.
    func compare() async throws {
        for (word, told) in mutations {
            let expected = server.outcome(ofAdding: word)
            try await require("what the mutation \(word) was told", { told.lines }, expected)
        }
        for (id, told) in fetches {
            try await require("how many values and ends a query has", { told.lines.count }, 2)
            let words = told.lines[0].split(separator: " ").map(String.init)
            try require(
                server.words(of: id).starts(with: words), "a query was told \(told.lines)")
        }
        for follower in followers {
            let text = server.text(of: follower.id)
            try await require(
                "the last that a follower was told", { (follower.history.last) }, text)
            try check(follower)
        }
    }

    /// - Throws: when something that was told cannot have been so.
    private func check(_ follower: Follower) throws {
        let truth = server.words(of: follower.id)
        var (before, length): (String?, Int) = (nil, 0)
        for text in follower.history {
            let words = text.split(separator: " ").map(String.init)
            try require(text != before, "\(text) was told twice in \(follower.history)")
            try require(Set(words).count == words.count, "a word is twice in \(text)")
            let known = zip(words, truth).prefix { $0 == $1 }.count
            try require(known >= length, "\(text) goes back in \(follower.history), \(truth)")
            let pending = words.dropFirst(known).map { $0.split(separator: ".") }
            try require(pending.allSatisfy { $0.count == 2 }, "nobody has written \(text)")
            for (_, ofOne) in Dictionary(grouping: pending, by: { $0[0] }) {
                let numbers = ofOne.compactMap { Int($0[1]) }
                try require(numbers == numbers.sorted(), "\(text) is not in the order begun")
            }
            (before, length) = (text, known)
        }
    }

    private func require(_ isTrue: Bool, _ text: @autoclosure () -> String) throws {
        if !isTrue { throw Mismatch(description: "\(name): \(text())") }
    }

    private func require<Value: Equatable>(
        _ what: String, _ value: () -> Value, _ expected: Value
    ) async throws {
        let deadline = ContinuousClock.now + .testDeadline
        while value() != expected {
            let found = value()
            try require(
                ContinuousClock.now < deadline, "\(what): \(found), and not \(expected)")
            await Task.yield()
        }
    }
}
