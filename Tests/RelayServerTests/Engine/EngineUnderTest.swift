import BoundedTesting
import GraphQLExecution
import GraphQLLanguage
import Logging
import RelayJSON
@_spi(Rooms) import RelayRecords
import SchemaService
import Synchronization
import Testing
import Threads

@testable import StoreEngine

/// The todo example served in process, without a socket; every new id and time is known.
final class EngineUnderTest: Sendable {
    let journal: GatedJournal
    let service: GraphQLService
    let schema: Schema
    let access: AccessRules
    private let inbox: Inbox
    private let ids: Numbers
    /// What happens when a mutation's turn comes, once.
    private let onTurn: OneTime
    /// What is to be done when time passes, which it does when the test says so.
    private let postponed: Postponed

    /// - Parameter recentCommits: kept in memory; older ones have to be read from the journal.
    convenience init(
        journal: GatedJournal = GatedJournal(), recentCommits: Int = 4_096,
        pastEvents: Int = 500_000, resumeEvents: Int = 1_000_000,
        persisted: PersistedOperations = .init(),
        settling: Gate? = nil, onSettle: SettleHook? = nil,
        limits change: (inout GraphQLService.Limits) -> Void = { _ in }
    ) async throws {
        try await self.init(
            journal: journal, sdl: Example.text("todo.graphql") + Self.open, handlers: Handlers(),
            seed: Example.text("todo.seed.ndjson"), recentCommits: recentCommits,
            pastEvents: pastEvents, resumeEvents: resumeEvents, persisted: persisted,
            settling: settling, onSettle: onSettle, limits: change)
    }

    /// Viewers may see and do everything.
    static let open = "\nextend schema @access(default: OPEN)\n"

    /// - Parameters:
    ///   - text: the schema, as the log has it.
    ///   - former: an engine whose journal this goes on with, under this schema and without its seed.
    ///   - settling: passed by who waits until the sinks have taken everything.
    ///   - onSettle: done then.
    init(
        journal: GatedJournal = GatedJournal(), sdl text: String, handlers: Handlers,
        seed: String = "", after former: EngineUnderTest? = nil, recentCommits: Int = 4_096,
        pastEvents: Int = 500_000,
        resumeEvents: Int = 1_000_000, logger: Logger = ServiceSchema.noLogger,
        persisted: PersistedOperations = .init(),
        settling: Gate? = nil, onSettle: SettleHook? = nil,
        limits change: (inout GraphQLService.Limits) -> Void = { _ in }
    ) async throws {
        let schema = try ServiceSchema(text, handlers: handlers, logger: logger)
        let journal = former?.journal ?? journal
        var snapshot: Snapshot
        let begin: EventBody
        if let former {
            snapshot = former.service.snapshot.indexed(by: schema.indexes)
            begin = .schema(text)
        } else {
            let seed = try SeedFile.read(Array(seed.utf8), for: schema, timeMicroseconds: 0)
            snapshot = Snapshot(indexes: schema.indexes)
            begin = .genesis(schema: text, seed: seed.writes)
        }
        let sequence = snapshot.sequence
        _ = try await journal.append(
            [NewEvent(timeMicroseconds: 0, body: begin)], expecting: sequence)
        var changes = ChangeSet()
        try snapshot.fold(
            Event(sequence: sequence + 1, timeMicroseconds: 0, body: begin), changes: &changes)
        let inbox = Inbox()
        let ids = Numbers()
        self.ids = ids
        let onTurn = OneTime()
        let postponed = Postponed()
        self.onTurn = onTurn
        self.postponed = postponed
        self.inbox = inbox
        self.schema = schema.schema
        access = schema.access
        self.journal = journal
        var limits = GraphQLService.Limits()
        limits.recentCommits = recentCommits
        limits.pastEvents = pastEvents
        limits.resumeEvents = resumeEvents
        change(&limits)
        service = GraphQLService(
            SchemaService(schema, symbols: snapshot.symbols), journal: journal, storeID: "test",
            snapshot: snapshot,
            inputs: EngineInputs(
                now: {
                    onTurn.run()
                    return 0
                }, makeID: { DataID("\($0)-\(ids.next())") },
                tasks: EngineTasks(later: { postponed.add($1) })),
            limits: limits, persisted: persisted, deliver: { inbox.take($0) },
            settle: {
                await settling?.pass()
                await onSettle?.run()
            })
    }

    /// Does something in the middle of the writer's next turn, when its head is chosen already.
    func onNextTurn(_ action: @escaping @Sendable () -> Void) { onTurn.set(action) }

    /// Lets time pass until what is postponed now is due; false when nothing is.
    func passTime() -> Bool { postponed.run() }

    /// Returns when every mutation that was posted has had its turn.
    func everyTurn() async throws {
        try await eventually("every turn") { service.waitingMutations == 0 ? true : nil }
    }

    /// Returns when the publisher has come to everything that is durable: which commits are in memory is known then.
    func everyPublication() async throws {
        try await eventually("every publication") { service.deliveryLag == 0 ? true : nil }
    }

    /// Runs a query or mutation to its answer.
    func run(
        _ query: String, variables: JSONObject = [:], mutationID: String? = nil,
        as identity: Identity = .unrestricted, optimisticResponse: JSONValue? = nil,
        relay: JSONObject = [:]
    ) async throws -> JSONValue {
        var relay = relay
        if let mutationID { relay["mutationId"] = .string(mutationID) }
        if let optimisticResponse { relay["optimisticResponse"] = optimisticResponse }
        let request = GraphQLRequest(
            query: query, variables: variables, extensions: ["relay": .object(relay)],
            identity: identity)
        let prepared: PreparedOperation
        do {
            prepared = try service.prepare(request)
        } catch {
            return ["errors": .array(error.errors.map(\.json))]
        }
        let outcome = try await answer("an answer to \(query)") { answered in
            service.execute(prepared, request, answer: answered)
        }
        return try Self.json(outcome)
    }

    /// Hands a mutation over and does not wait.
    func post(
        _ mutation: String, mutationID: String, answer: @escaping @Sendable (JSONValue) -> Void
    ) throws {
        let request = GraphQLRequest(
            query: mutation, extensions: ["relay": ["mutationId": .string(mutationID)]])
        service.execute(try service.prepare(request), request) { outcome in
            answer((try? Self.json(outcome)) ?? "not JSON")
        }
    }

    private static func json(_ outcome: Outcome) throws -> JSONValue {
        try JSONValue(parsing: outcome.response.bytes)
    }

    @discardableResult
    func subscribe(
        _ query: String, _ variables: JSONObject = [:], as identity: Identity = .unrestricted,
        relay: JSONObject = [:], sink: TestSink = TestSink()
    ) throws -> TestSink {
        let request = GraphQLRequest(
            query: query, variables: variables, extensions: ["relay": .object(relay)],
            identity: identity)
        try service.subscribe(try service.prepare(request), request, sink: sink)
        return sink
    }

    /// The first result of an operation of any kind.
    func runOrSubscribe(_ query: String, relay: JSONObject) async throws -> JSONValue {
        let request = GraphQLRequest(query: query, extensions: ["relay": .object(relay)])
        guard try service.prepare(request).isStream else {
            return try await run(query, relay: relay)
        }
        do {
            let sink = TestSink()
            try service.subscribe(try service.prepare(request), request, sink: sink)
            return try await results(of: sink, count: 1)[0]
        } catch let errors as ExecutionErrors {
            return ["errors": .array(errors.errors.map(\.json))]
        }
    }

    /// The cursor of an event.
    func cursor(_ sequence: UInt64) -> String {
        StreamCursor(storeID: "test", epoch: 7, sequence: sequence).text
    }

    func addTodo(_ text: String, mutationID: String? = nil) async throws -> JSONValue {
        try await run(Self.addTodo(text), mutationID: mutationID)
    }

    static func addTodo(_ text: String) -> String {
        "mutation { addTodo(input: {text: \"\(text)\"}) { todo { id } user { totalCount } } }"
    }

    /// Hands a query or mutation over and does not wait for its answer.
    func post(
        _ query: String, mutationID: String? = nil, variables: JSONObject = [:],
        relay: JSONObject = [:]
    ) throws -> Answer {
        var relay = relay
        if let mutationID { relay["mutationId"] = .string(mutationID) }
        let request = GraphQLRequest(
            query: query, variables: variables, extensions: ["relay": .object(relay)])
        let answer = Answer()
        service.execute(try service.prepare(request), request) { answer.take($0) }
        return answer
    }

    /// How many ids of records were made, also by mutations that were refused in the end.
    var madeIDs: Int { ids.count }

    /// The number of events in the journal.
    var eventCount: Int { journal.eventCount }

    /// What a sink has been told so far, once it is at least so many.
    func results(of sink: TestSink, count: Int) async throws -> [JSONValue] {
        try await eventually("\(count) results") { [inbox] in
            let results = inbox.results(of: sink)
            return results.count >= count ? results : nil
        }
    }

    /// What a sink has been told so far.
    func resultsSoFar(of sink: TestSink) -> [JSONValue] { inbox.results(of: sink) }

    /// The same, with each patch's result as those are told it who have missed the one before.
    func patchesSoFar(of sink: TestSink) -> [(told: JSONValue, full: JSONValue?)] {
        inbox.patches(of: sink).map {
            ($0.told, $0.full.flatMap { try? JSONValue(parsing: $0().bytes) })
        }
    }
}

/// A sink that is as slow, or as gone, as a test says.
final class TestSink: SubscriptionSink {
    private struct State {
        /// Missed results that it takes before it is full.
        var room = Int.max
        var isWanted = true
        var whenDrained: [@Sendable () -> Void] = []

        var isFull: Bool { room <= 0 }
    }

    private let state = Lock(State())

    var isWanted: Bool { state.withLock { $0.isWanted } }
    var isFull: Bool { state.withLock { $0.isFull } }
    /// Somebody waits until there is room.
    var isAwaited: Bool { state.withLock { !$0.whenDrained.isEmpty } }

    func whenDrained(_ action: @escaping @Sendable () -> Void) {
        let waits = state.withLock { state in
            if state.isFull { state.whenDrained.append(action) }
            return state.isFull
        }
        if !waits { action() }
    }

    func expect(missedBytes: Int) { state.withLock { $0.room -= 1 } }

    func fill() { state.withLock { $0.room = 0 } }

    func leave() { state.withLock { $0.isWanted = false } }

    /// Makes room for so many missed results.
    func makeRoom(_ results: Int) {
        let actions = state.withLock { state in
            state.room = results
            defer { state.whenDrained = [] }
            return state.whenDrained
        }
        for action in actions { action() }
    }

    func drain() { makeRoom(.max) }
}

/// What a mutation is answered, once it is.
final class Answer: Sendable {
    private let answers = Lock<[Outcome]>([])

    func take(_ outcome: Outcome) { answers.withLock { $0.append(outcome) } }

    /// Nil before it is answered.
    var now: JSONValue? {
        answers.withLock { $0.first }.flatMap { try? JSONValue(parsing: $0.response.bytes) }
    }

    /// How often it was answered, which should be once.
    var count: Int { answers.withLock { $0.count } }

    func get() async throws -> JSONValue { try await eventually("an answer") { now } }
}

/// An action that happens once.
final class OneTime: Sendable {
    private let action = Lock<(@Sendable () -> Void)?>(nil)

    func set(_ action: @escaping @Sendable () -> Void) { self.action.withLock { $0 = action } }

    func run() {
        let action = action.withLock { action in
            defer { action = nil }
            return action
        }
        action?()
    }
}

/// Actions that wait for time to pass.
private final class Postponed: Sendable {
    private let actions = Lock<[@Sendable () -> Void]>([])

    func add(_ action: @escaping @Sendable () -> Void) { actions.withLock { $0.append(action) } }

    func run() -> Bool {
        let due = actions.withLock { actions in
            defer { actions = [] }
            return actions
        }
        for action in due { action() }
        return !due.isEmpty
    }
}

/// What is done whenever the sinks have taken everything.
final class SettleHook: Sendable {
    private let action = Lock<(@Sendable () async -> Void)?>(nil)

    func set(_ new: (@Sendable () async -> Void)?) { action.withLock { $0 = new } }

    func run() async { await action.withLock { $0 }?() }
}

/// Holds back those who come, until it is opened.
final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Lock(State())

    var waitingCount: Int { state.withLock { $0.waiting.count } }

    func pass() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}

/// Rising numbers.
final class Numbers: Sendable {
    private let last = Atomic(0)

    func next() -> Int { last.add(1, ordering: .relaxed).newValue }

    /// How often ``next()`` was called.
    var count: Int { last.load(ordering: .relaxed) }
}

/// What the publisher has delivered, by sink.
final class Inbox: Sendable {
    struct Told: Sendable {
        let told: JSONValue
        let full: (@Sendable () -> Response)?
    }

    /// With its sink, so that no other is ever known by the same identity.
    private let results = Lock<[ObjectIdentifier: (sink: any SubscriptionSink, told: [Told])]>([:])

    func take(_ deliveries: [Delivery]) {
        results.withLock { results in
            for delivery in deliveries {
                guard let told = told(delivery.event) else { continue }
                let sink = delivery.sink
                results[ObjectIdentifier(sink), default: (sink, [])].told.append(told)
            }
        }
    }

    private func told(_ event: Delivery.Event) -> Told? {
        switch event {
        case .next(let response), .missed(let response), .latest(let response): told(response)
        case .patch(let response, let full): told(response, full: full)
        case .failed(let errors):
            Told(told: ["errors": .array(errors.map(\.json))], full: nil)
        case .completed: Told(told: "complete", full: nil)
        case .began, .caughtUp: nil
        }
    }

    private func told(_ response: Response, full: (@Sendable () -> Response)? = nil) -> Told {
        Told(told: (try? JSONValue(parsing: response.bytes)) ?? "not JSON", full: full)
    }

    func results(of sink: TestSink) -> [JSONValue] { patches(of: sink).map(\.told) }

    func patches(of sink: TestSink) -> [Told] {
        results.withLock { $0[ObjectIdentifier(sink)]?.told ?? [] }
    }
}

/// Waits until something is there, for one generous deadline: tests that keep both threads of the pool busy may
/// run beside this one.
@discardableResult
func eventually<Value>(
    _ what: String, _ look: () async throws -> Value?
) async throws -> Value {
    let clock = ContinuousClock()
    let deadline = clock.now + .testDeadline
    while clock.now < deadline {
        if let value = try await look() { return value }
        try await Task.sleep(for: .milliseconds(1))
    }
    throw TestFailure("waited in vain for \(what)")
}

/// What a callback is given, in time.
func answer<Value: Sendable>(
    _ what: String, _ ask: (@escaping @Sendable (Value) -> Void) -> Void
) async throws -> Value {
    let promise = Promise<Value>()
    let deadline = Task {
        try await Task.sleep(for: .testDeadline)
        promise.settle(.failure(TestFailure("waited in vain for \(what)")))
    }
    defer { deadline.cancel() }
    return try await withCheckedThrowingContinuation { continuation in
        promise.keep(continuation)
        ask { promise.settle(.success($0)) }
    }
}

/// Resumes whoever waits, once, whatever comes first.
private final class Promise<Value: Sendable>: Sendable {
    private let waiting = Lock<CheckedContinuation<Value, any Error>?>(nil)

    func keep(_ continuation: CheckedContinuation<Value, any Error>) {
        waiting.withLock { $0 = continuation }
    }

    func settle(_ result: Result<Value, any Error>) {
        let continuation = waiting.withLock { waiting in
            defer { waiting = nil }
            return waiting
        }
        continuation?.resume(with: result)
    }
}

struct TestFailure: Error, CustomStringConvertible {
    struct NoState: EventReadError { let isLasting = true }

    let description: String

    init(_ description: String) { self.description = description }
}

/// A journal in memory whose appends can be held back, and made to fail.
final class GatedJournal: EventJournal {
    private typealias Append = @Sendable (JournalError?) -> Void

    private struct State {
        var isHeld = false
        var isDraining = false
        var waiting: [Append] = []
        /// Why all fail, if they do.
        var full: JournalError?
        /// How many of those that wait fail, and why.
        var failing: (count: Int, error: JournalError)?
        /// How many go on though they are held.
        var passing = 0
        var appends: [[NewEvent]] = []

        /// The next append and what becomes of it; nil ends the draining.
        mutating func next() -> (Append, JournalError?)? {
            guard !isHeld || failing != nil || passing > 0, !waiting.isEmpty else {
                isDraining = false
                return nil
            }
            passing = max(0, passing - 1)
            guard let failing else { return (waiting.removeFirst(), nil) }
            self.failing = failing.count > 1 ? (failing.count - 1, failing.error) : nil
            return (waiting.removeFirst(), failing.error)
        }
    }

    private let memory = InMemoryJournal(epoch: 7)
    private let room = Atomic(true)
    private let state = Lock(State())
    let earliestState: UInt64
    private let appended = Atomic(0)
    private let states = Atomic(0)
    private let reads = Lock(Reads())

    private struct Reads {
        /// So many fail, from the next on.
        var failing = 0
        var failure: any Error = TestFailure("too many open files")
        /// The next reading of events fails behind so many.
        var eventsUntilFailure: Int?
        var areHeld = false
        var waiting: [CheckedContinuation<Void, Never>] = []
        /// States of the past, rising; nil: that before the first event.
        var states: [Snapshot?] = [nil]

        func state(near sequence: UInt64) throws -> Snapshot? {
            guard let last = states.last(where: { $0?.sequence ?? 0 <= sequence }) else {
                throw TestFailure.NoState()
            }
            return last
        }
    }

    /// - Parameter earliestState: as of a log that was compacted there.
    init(earliestState: UInt64 = 0) { self.earliestState = earliestState }

    var epoch: UInt64 { memory.epoch }
    var eventCount: Int { appended.load(ordering: .acquiring) }
    var heldCount: Int { state.withLock { $0.waiting.count } }
    /// How often a state of the past was asked for.
    var stateCount: Int { states.load(ordering: .acquiring) }

    /// Reads of the past that are held back.
    var heldReadCount: Int { reads.withLock { $0.waiting.count } }

    /// From now on reads of the past wait for ``releaseReads()``.
    func holdReads() { reads.withLock { $0.areHeld = true } }

    /// Lets those go on that wait; later ones wait again.
    func releaseHeldReads() { releaseReads(holdingLater: true) }

    func releaseReads(holdingLater: Bool = false) {
        let waiting = reads.withLock { reads in
            reads.areHeld = holdingLater
            defer { reads.waiting = [] }
            return reads.waiting
        }
        for read in waiting { read.resume() }
    }

    private func beginRead() async {
        await withCheckedContinuation { read in
            let isHeld = reads.withLock { reads in
                if reads.areHeld { reads.waiting.append(read) }
                return reads.areHeld
            }
            if !isHeld { read.resume() }
        }
    }

    /// As a checkpoint of a state.
    func keep(_ state: Snapshot) { reads.withLock { $0.states.append(state) } }

    /// As if the log began with the first state that was kept.
    func forgetBeginning() { reads.withLock { _ = $0.states.removeFirst() } }

    /// Whether a try of the disk finds room.
    func setRoom(_ hasRoom: Bool) { room.store(hasRoom, ordering: .releasing) }

    func hasRoom() async -> Bool { room.load(ordering: .acquiring) }

    /// From now on every append fails like this, and a try of the disk finds no room; nil: it has room.
    func setFull(_ error: JournalError?) {
        state.withLock { $0.full = error }
        setRoom(error == nil)
    }

    /// From now on appends wait for ``release()``.
    func hold() { state.withLock { $0.isHeld = true } }

    /// Lets the first that waits go on, or the next; those behind it wait.
    func releaseFirst() {
        state.withLock { $0.passing = 1 }
        drain()
    }

    /// The events of each append, whatever became of it.
    var appends: [[NewEvent]] { state.withLock { $0.appends } }

    /// Lets what waits go on; with an error, all of it fails.
    func release(failing error: JournalError? = nil) {
        state.withLock { state in
            state.isHeld = false
            if let error, !state.waiting.isEmpty { state.failing = (state.waiting.count, error) }
        }
        drain()
    }

    func append(
        _ events: [NewEvent], expecting sequence: UInt64,
        completion: @escaping @Sendable (Result<UInt64, JournalError>) -> Void
    ) {
        let append: Append = { [self] failure in
            if let failure = failure ?? state.withLock({ $0.full }) {
                return completion(.failure(failure))
            }
            memory.append(events, expecting: sequence) { [self] result in
                if case .success = result {
                    appended.add(events.count, ordering: .acquiringAndReleasing)
                }
                completion(result)
            }
        }
        state.withLock { state in
            state.waiting.append(append)
            state.appends.append(events)
        }
        drain()
    }

    /// One after the other, in the order of the calls, whoever calls.
    private func drain() {
        let starts = state.withLock { state in
            guard !state.isHeld || state.passing > 0, !state.isDraining else { return false }
            state.isDraining = true
            return true
        }
        guard starts else { return }
        while let (append, failure) = state.withLock({ $0.next() }) { append(failure) }
    }

    func failReads(
        _ count: Int, with failure: any Error = TestFailure("too many open files")
    ) {
        reads.withLock { ($0.failing, $0.failure) = (count, failure) }
    }

    /// The next reading of events fails behind some.
    func failEvents(
        behind count: Int, with failure: any Error = TestFailure("too many open files")
    ) {
        reads.withLock { ($0.eventsUntilFailure, $0.failure) = (count, failure) }
    }

    /// Whether a read fails that was to.
    private func failIfAsked() throws {
        try reads.withLock { reads in
            if reads.failing == 0 { return }
            reads.failing -= 1
            throw reads.failure
        }
    }

    func events(from sequence: UInt64) -> AsyncThrowingStream<Event, any Error> {
        let events = memory.events(from: sequence)
        let last = reads.withLock { reads in
            defer { reads.eventsUntilFailure = nil }
            return reads.eventsUntilFailure.map { ($0, reads.failure) }
        }
        do {
            try failIfAsked()
        } catch {
            return AsyncThrowingStream { throw error }
        }
        guard let last else { return events }
        return AsyncThrowingStream { continuation in
            let reading = Task {
                do {
                    var count = 0
                    for try await event in events {
                        count += 1
                        if count > last.0 { throw last.1 }
                        continuation.yield(event)
                    }
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in reading.cancel() }
        }
    }

    func state(near sequence: UInt64, indexes: [IndexDefinition]) async throws -> Snapshot {
        states.add(1, ordering: .acquiringAndReleasing)
        await beginRead()
        try failIfAsked()
        let kept = try reads.withLock { try $0.state(near: sequence) }
        if let kept { return kept }
        return try await memory.state(near: sequence, indexes: indexes)
    }

    func lastEvent(
        at timeMicroseconds: Int64, through last: UInt64
    ) async throws -> UInt64? {
        await beginRead()
        try failIfAsked()
        return try await memory.lastEvent(at: timeMicroseconds, through: last)
    }
}

extension Identity {
    /// A viewer without claims, or whoever may do everything.
    init(_ viewer: String?) { self = viewer.map { .viewer(Viewer(id: $0)) } ?? .unrestricted }
}
