import ArgumentParser
import Console
import RelayJSON
import Threads
import WebSocketIO

/// `relay bench fanout`: how fast one commit reaches many subscribers.
struct BenchFanout: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fanout",
        abstract: "Measure how fast commits reach many subscribers of one event.",
        discussion: """
            The server must serve the todo example; its log keeps the todos that are added. Each \
            subscriber has a connection of its own. One commit is in flight at a time, unless --rate \
            says how many are made in a second. Latencies are from sending the mutation to the \
            delivery. lost counts what did not come, over all runs.
            """)

    @Argument(help: "The server: ws://HOST:PORT/graphql")
    var url: String

    @Option(help: ArgumentHelp("Subscribers.", valueName: "n"))
    var subscribers = 1_000

    @Option(
        help: ArgumentHelp("Commits a second. (default: one in flight)", valueName: "n"))
    var rate: Double?

    @OptionGroup var runs: LoadRuns
    @OptionGroup var server: ServerOptions
    @OptionGroup var measures: MeasureOptions

    func validate() throws {
        guard 1...1_000_000 ~= subscribers else {
            throw ValidationError("--subscribers must be from 1 to 1000000.")
        }
        if let rate, !(rate > 0 && rate <= 100_000) {
            throw ValidationError("--rate must be more than 0 and at most 100000.")
        }
    }

    func run() async throws {
        let client = try await LoadClient.connect(url, server, count: subscribers + 1)
        let load = FanoutLoad(client, rate: rate)
        try await load.subscribe()
        let results = try await runs.take("Measuring") {
            try await load.run(seconds: runs.seconds)
        }
        await client.close()
        var taken: JSONObject = [
            "subscribers": .int(Int64(subscribers)), "seconds": .double(runs.seconds),
            "runs": .int(Int64(runs.runs)),
        ]
        if let rate { taken["rate"] = .double(rate) }
        measures.report(results, taken)
    }
}

/// One publisher, and the subscribers of what it publishes.
private final class FanoutLoad: Sendable {
    private struct State: LoadState {
        /// When each commit was sent, by its number.
        var sent: [ContinuousClock.Instant] = [.now]
        /// The last commit that each subscriber was notified of.
        var told: [Int?]
        /// Deliveries of the newest commit.
        var newestDeliveries = 0
        var measure = DeliveryMeasure()
        var isPublishing = false
        var failure: CommandFailure?
    }

    private let client: LoadClient
    private let publisher: LoadConnection
    private let subscribers: ArraySlice<LoadConnection>
    private let rate: Double?
    private let state: Lock<State>

    init(_ client: LoadClient, rate: Double?) {
        self.client = client
        self.rate = rate
        publisher = client.connections[0]
        subscribers = client.connections.dropFirst()
        state = Lock(State(told: Array(repeating: nil, count: subscribers.count)))
    }

    /// Returns when all subscribers get commits.
    func subscribe() async throws {
        for (index, subscriber) in subscribers.enumerated() {
            subscriber.start(TodoLoad.added) { self.received($0, at: index) }
        }
        // An event stream says nothing of its own: commits with the number 0 are made until all have seen one.
        for _ in 0..<60 {
            publisher.start(TodoLoad.add(0)) { self.answered($0) }
            let isReady = try await waited(.seconds(1)) {
                try state.check { state in !state.told.contains(nil) }
            }
            if isReady { return }
        }
        throw CommandFailure("Not all subscribers were told of commits within a minute.")
    }

    func run(seconds: Double) async throws -> DeliveryMeasure {
        let first = state.withLock { state in
            state.measure = DeliveryMeasure()
            state.isPublishing = true
            return state.sent.count
        }
        let start = ContinuousClock.now
        let end = start + .seconds(seconds)
        if let rate {
            Pacer.run(rate: rate, until: end, on: client.loop) { self.publish() }
        } else {
            client.loop.perform { self.publish() }
        }
        try await state.wait(until: end)
        // However short the time, one commit is seen to arrive.
        _ = try await waited(.seconds(10)) {
            try state.check { $0.told.contains { ($0 ?? 0) >= first } }
        }
        state.withLock { state in
            state.isPublishing = false
            state.measure.seconds = (ContinuousClock.now - start) / .seconds(1)
        }
        // What is still on its way counts as delivered, though not for the rate.
        var measure = state.withLock { $0.measure }
        let hasAll = try await waited(.seconds(10)) {
            try state.check { state in state.told.allSatisfy { $0 == state.sent.count - 1 } }
        }
        if !hasAll {
            measure.lost = state.withLock { state in
                state.told.reduce(0) { $0 + state.sent.count - 1 - max($1 ?? 0, first - 1) }
            }
        }
        return measure
    }

    /// On the loop's thread.
    private func publish() {
        let number = state.withLock { state -> Int? in
            guard state.isPublishing else { return nil }
            state.newestDeliveries = 0
            state.sent.append(.now)
            return state.sent.count - 1
        }
        guard let number else { return }
        publisher.start(TodoLoad.add(number)) { self.answered($0) }
    }

    private func answered(_ event: LoadConnection.Event) {
        switch event {
        case .result(let bytes):
            if bytes.starts(with: #"{"data":{"addTodo":{"#.utf8) { return }
            state.fail("A mutation was refused: \(String(decoding: bytes, as: UTF8.self))")
        case .ended(let failure):
            if let failure { state.fail(failure.description) }
        }
    }

    private func received(_ event: LoadConnection.Event, at subscriber: Int) {
        let now = ContinuousClock.now
        switch event {
        case .ended(let failure): state.fail(failure?.description ?? "A subscription has ended.")
        case .result(let bytes):
            guard let number = TodoLoad.number(in: bytes) else {
                return state.fail(
                    "A result without a number: \(String(decoding: bytes, as: UTF8.self))")
            }
            let publishesNext = state.withLock { state in
                take(number, at: subscriber, now, &state)
            }
            if publishesNext { publish() }
        }
    }

    /// True when all have been notified of the newest commit, and one should be in flight.
    private func take(
        _ number: Int, at subscriber: Int, _ now: ContinuousClock.Instant, _ state: inout State
    ) -> Bool {
        let last = state.told[subscriber]
        state.told[subscriber] = number
        if number == 0 { return false }
        guard number == (last ?? 0) + 1, number < state.sent.count else {
            state.failure = CommandFailure(
                "A subscriber was told of commit \(number) after \(last ?? 0).")
            return false
        }
        state.measure.latencies.record(now - state.sent[number])
        guard rate == nil, number == state.sent.count - 1 else { return false }
        state.newestDeliveries += 1
        return state.newestDeliveries == subscribers.count
    }
}
