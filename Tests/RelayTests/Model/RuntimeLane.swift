import BoundedTesting
import Foundation
import OpenCombine
import Relay
@_spi(Rooms) import RelayStore
import TodoFixtures

/// One task of the model test: works on todos of its own in an environment that it shares with other lanes, and
/// compares after each step what the runtime says with what its model says.
final class RuntimeLane: @unchecked Sendable {
    // Unchecked: one task at a time works with it.

    /// What the runtime said and the model did not.
    struct Mismatch: Error, CustomStringConvertible {
        let description: String
    }

    /// Somebody who follows a todo.
    struct Follower {
        let told: Outcomes
        var expected: [String] = []
    }

    struct Todo {
        let id: String
        var model = TodoModel()
        var retention: AnyCancellable?
        var follower: Follower?
        /// Whether all of it must be there: it was fetched while somebody kept it, and somebody has ever since.
        var isCertain = false
        /// Since when it is stale: since it was invalidated itself, or with the whole store.
        var isInvalidated = false
        var isStoreInvalidated = false
        /// Whether it was fetched since it is retained: the store says only then what is stale.
        var isFetchKnown = false

        var query: TodoQuery { TodoQuery(id: id) }
    }

    /// An execution that has not ended.
    struct Pending {
        enum Kind {
            case fetch(todo: Int)
            /// A query that nobody keeps.
            case passing(id: String)
            case mutation(todo: Int, ModelMutation, update: Int, ModelUpdater)
            case connection(ConnectionModel.Change, update: Int)
        }

        let kind: Kind
        let request: LaneNetwork.Request
        var outcomes: [Outcomes]
    }

    let environment: Environment
    let name: String
    let isAlone: Bool
    var random: SeededGenerator
    var todos: [Todo] = []
    var pending: [Pending] = []
    /// Local optimistic updates.
    var shown: [(update: Int, todo: Int, end: AnyCancellable)] = []
    /// Executions that have ended, or were told something, and what they must have been told.
    var expectations: [(outcomes: Outcomes, lines: [String])] = []
    let events: Outcomes
    var expectedEvents: [String] = []
    let eventRequest: LaneNetwork.Request
    let requests = LaneNetwork.Requests()
    var kept: [KeptResult] = []
    var list: List?
    var connection: Connection?
    private(set) var trace: [String] = []
    private var count = 0

    /// - Parameter isAlone: nobody else works on the environment, so that everything is told at once.
    init(_ environment: Environment, name: String, isAlone: Bool, seed: UInt64) throws {
        self.environment = environment
        self.name = name
        self.isAlone = isAlone
        random = SeededGenerator(seed: seed)
        let requests = requests
        events = LaneNetwork.$current.withValue(requests) {
            Outcomes(
                environment.requestSubscription(
                    TodoAddedSubscription(), updater: RuntimeLane.bury)
            ) { Self.line($0?.todoAdded?.todo) }
        }
        guard let request = requests.take().first else {
            throw Mismatch(description: "a subscription made no request")
        }
        eventRequest = request
        for number in 0..<4 { todos.append(Todo(id: "\(name)-\(number)")) }
    }

    /// A number that no earlier step had.
    func next() -> Int {
        count += 1
        return count
    }

    func note(_ line: String) { trace.append(line) }

    static func line(_ todo: (any WholeTodo)?) -> String {
        todo.map { "todo \($0.id) \($0.text) \($0.complete)" } ?? "null"
    }

    /// The updater of the lane's subscription: an event whose text says so deletes another record.
    private static func bury(
        _ store: inout any RecordSourceSelectorProxy, _ data: SelectorData?
    ) {
        let todo = data?.get(SelectorData?.self, "todoAdded")?.get(SelectorData?.self, "todo")
        guard let words = todo?.get(String?.self, "text")?.split(separator: " "),
            words.count == 3, words[1] == "buries"
        else { return }
        store.delete(dataID: DataID(String(words[2])))
    }

    /// Runs the body as this lane, and gives the requests that it made.
    func asking<R>(_ body: () -> R) -> (R, [LaneNetwork.Request]) {
        let result = LaneNetwork.$current.withValue(requests) { body() }
        return (result, requests.take())
    }

    /// The same for a mutation: where others work on the environment, one of their threads may be about to send it.
    func sent(_ made: [LaneNetwork.Request]) async -> [LaneNetwork.Request] {
        let deadline = ContinuousClock.now + .testDeadline
        var made = made
        while made.isEmpty, !isAlone, ContinuousClock.now < deadline {
            await Task.yield()
            made = requests.take()
        }
        return made
    }

    // MARK: What readers see

    static func record(_ snapshot: Relay.Snapshot<TodoQuery.Data>) -> TodoModel.Record {
        guard let node = snapshot.selectorData?.get(SelectorData?.self, "node") else {
            return snapshot.isMissingData ? .unknown : .deleted
        }
        return .fields(
            text: node.get(String?.self, "text"), complete: node.get(Bool?.self, "complete"))
    }

    func snapshot(of todo: Todo) -> Relay.Snapshot<TodoQuery.Data> {
        environment.lookup(selector: todo.query.createDescriptor().fragment)
    }

    // MARK: Comparing

    /// Does a step: followers must be told when what they follow becomes another.
    /// - Parameter change: makes the model what it must be then.
    func committing<R>(_ body: () throws -> R, model change: () -> Void) rethrows -> R {
        let before = (todos.map(\.model.head), connection?.model.head)
        change()
        for place in todos.indices where todos[place].model.head != before.0[place] {
            let head = todos[place].model.head
            todos[place].follower?.expected.append("\(head)")
        }
        if let head = connection?.model.head, head != before.1 {
            connection?.expected.append(Self.line(head))
        }
        return try body()
    }

    /// Compares everything. Lanes that are not alone wait: another's thread may be telling.
    func compare() async throws {
        for todo in todos where todo.isCertain {
            try require(
                Self.record(snapshot(of: todo)) == todo.model.head,
                "\(todo.id) is \(Self.record(snapshot(of: todo))), not \(todo.model.head)")
            try compareAvailability(todo)
        }
        for todo in todos {
            guard let follower = todo.follower else { continue }
            try await compare(follower.told, follower.expected, "followers of \(todo.id)")
        }
        for (outcomes, lines) in expectations {
            try await compare(outcomes, lines, "an execution")
        }
        expectations.removeAll { $0.lines.last == "finished" || $0.lines.last == "failed" }
        try await compare(events, expectedEvents, "the subscription")
        try compareKept()
        try await compareList()
        try await compareConnection()
    }

    private func compareAvailability(_ todo: Todo) throws {
        guard todo.isFetchKnown, !todo.model.isCovered,
            case .fields(let text, let complete) = todo.model.confirmed
        else { return }
        let found = environment.check(operation: todo.query.createDescriptor())
        let isRight =
            switch found {
            case .stale: todo.isInvalidated || todo.isStoreInvalidated
            case .missing:
                !todo.isInvalidated && !todo.isStoreInvalidated
                    && (text == nil || complete == nil)
            case .available:
                !todo.isInvalidated && !todo.isStoreInvalidated && text != nil && complete != nil
            }
        try require(isRight, "check says that \(todo.id) is \(found)")
    }

    func compare(
        _ outcomes: Outcomes, _ expected: [String], _ whose: String
    ) async throws {
        if !isAlone {
            let deadline = ContinuousClock.now + .testDeadline
            while outcomes.lines.count < expected.count, ContinuousClock.now < deadline {
                await Task.yield()
            }
        }
        let told = outcomes.lines
        try require(told == expected, "\(whose): \(told) were told, not \(expected)")
    }

    func require(_ condition: Bool, _ message: @autoclosure () -> String) throws {
        if condition { return }
        let steps = trace.suffix(40).map { "  " + $0 }.joined(separator: "\n")
        throw Mismatch(description: "lane \(name): \(message())\n\(steps)")
    }
}
