import ArgumentParser
import Console
import RelayJSON
import Threads
import WebSocketIO

/// `relay bench live`: many live queries on as many records, while these change.
struct BenchLive: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "live",
        abstract: "Measure live queries, each on a record of its own, while the records change.",
        discussion: """
            The server must serve the todo example; its log keeps the todos that are made. Commits \
            change one record after the other. A result may show several changes at once; latencies \
            are from sending the newest of them to the delivery. lost counts the records whose last \
            state was not delivered, over all runs.
            """)

    @Argument(help: "The server: ws://HOST:PORT/graphql")
    var url: String

    @Option(help: ArgumentHelp("Live queries, each on a record of its own.", valueName: "n"))
    var queries = 1_000

    @Option(help: ArgumentHelp("Connections that share the queries.", valueName: "n"))
    var connections = 100

    @Option(help: ArgumentHelp("Commits a second.", valueName: "n"))
    var rate = 1_000.0

    @OptionGroup var runs: LoadRuns
    @OptionGroup var server: ServerOptions
    @OptionGroup var measures: MeasureOptions

    func validate() throws {
        guard 1...1_000_000 ~= connections else {
            throw ValidationError("--connections must be from 1 to 1000000.")
        }
        guard connections...10_000_000 ~= queries else {
            throw ValidationError("--queries must be from --connections to 10000000.")
        }
        guard rate > 0, rate <= 100_000 else {
            throw ValidationError("--rate must be more than 0 and at most 100000.")
        }
    }

    func run() async throws {
        let client = try await LoadClient.connect(url, server, count: connections + 1)
        let ids = try await TodoLoad.makeTodos(queries, on: client.connections[0])
        let load = LiveLoad(client, ids, rate: rate)
        try await load.subscribe()
        let results = try await runs.take("Measuring") {
            try await load.run(seconds: runs.seconds)
        }
        await client.close()
        measures.report(
            results,
            [
                "queries": .int(Int64(queries)), "connections": .int(Int64(connections)),
                "rate": .double(rate), "seconds": .double(runs.seconds),
                "runs": .int(Int64(runs.runs)),
            ])
    }
}

/// One publisher that changes records, and a live query for each of them.
private final class LiveLoad: Sendable {
    private struct State: LoadState {
        /// When each commit was sent, by its number; commit N changes record N modulo their number.
        var sent: [ContinuousClock.Instant] = [.now]
        /// The newest commit that each live query was notified of; nil as long as it has said nothing.
        var told: [Int?]
        var waitingForFirst: Int
        var measure = DeliveryMeasure()
        var failure: CommandFailure?
    }

    private let client: LoadClient
    private let ids: [JSONValue]
    private let rate: Double
    private let state: Lock<State>

    init(_ client: LoadClient, _ ids: [JSONValue], rate: Double) {
        self.client = client
        self.ids = ids
        self.rate = rate
        state = Lock(
            State(told: Array(repeating: nil, count: ids.count), waitingForFirst: ids.count))
    }

    /// Returns when all live queries have delivered their first result.
    func subscribe() async throws {
        let watchers = client.connections.dropFirst()
        for (index, id) in ids.enumerated() {
            watchers[watchers.startIndex + index % watchers.count].start(TodoLoad.live(id)) {
                self.received($0, at: index)
            }
        }
        let isReady = try await waited(.seconds(120)) {
            try state.check { $0.waitingForFirst == 0 }
        }
        guard isReady else {
            throw CommandFailure("Not all live queries had a result within two minutes.")
        }
    }

    func run(seconds: Double) async throws -> DeliveryMeasure {
        state.withLock { $0.measure = DeliveryMeasure() }
        let start = ContinuousClock.now
        let end = start + .seconds(seconds)
        Pacer.run(rate: rate, until: end, on: client.loop) { self.publish() }
        try await state.wait(until: end)
        let hasAll = try await waited(.seconds(30)) { try state.check(lostCount) == 0 }
        return try state.check { state in
            var measure = state.measure
            // Slower than the rate means that the last results came late.
            measure.seconds = (ContinuousClock.now - start) / .seconds(1)
            measure.lost = hasAll ? 0 : lostCount(state)
            return measure
        }
    }

    /// Records whose newest state has not been delivered.
    private func lostCount(_ state: State) -> Int {
        let last = state.sent.count - 1
        return state.told.indices.count { index in
            let newest = last - (last - index + ids.count) % ids.count
            return newest > 0 && state.told[index] != newest
        }
    }

    /// On the loop's thread.
    private func publish() {
        let number = state.withLock { state in
            state.sent.append(.now)
            return state.sent.count - 1
        }
        client.connections[0].start(TodoLoad.rename(ids[number % ids.count], number)) { event in
            switch event {
            case .result(let bytes):
                if TodoLoad.number(in: bytes) == number { return }
                self.state.fail("A mutation was refused: \(String(decoding: bytes, as: UTF8.self))")
            case .ended(let failure):
                if let failure { self.state.fail(failure.description) }
            }
        }
    }

    private func received(_ event: LoadConnection.Event, at index: Int) {
        let now = ContinuousClock.now
        switch event {
        case .ended(let failure): state.fail(failure?.description ?? "A live query has ended.")
        case .result(let bytes):
            guard let number = TodoLoad.number(in: bytes) else {
                return state.fail(
                    "A result without a number: \(String(decoding: bytes, as: UTF8.self))")
            }
            state.withLock { state in
                let last = state.told[index]
                state.told[index] = number
                if last == nil { state.waitingForFirst -= 1 }
                if number == 0 { return }
                guard number > last ?? -1, number < state.sent.count else {
                    state.failure = CommandFailure(
                        "A live query went from state \(last ?? 0) to \(number).")
                    return
                }
                state.measure.latencies.record(now - state.sent[number])
            }
        }
    }
}
