import ArgumentParser
import Console
import RelayJSON
import Threads
import WebSocketIO

/// `relay bench mutate`: durable mutations, and queries of the same size.
struct BenchMutate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mutate",
        abstract: "Measure mutations through many connections, and queries of the same size.",
        discussion: """
            The server must serve the todo example; its log keeps the todos that are made. Each \
            connection changes a record of its own; the queries ask for what the mutations answer.
            """)

    @Argument(help: "The server: ws://HOST:PORT/graphql")
    var url: String

    @Option(help: ArgumentHelp("Connections.", valueName: "n"))
    var connections = 64

    @Option(help: ArgumentHelp("Operations in flight on each connection.", valueName: "n"))
    var inFlight = 16

    @OptionGroup var runs: LoadRuns
    @OptionGroup var server: ServerOptions
    @OptionGroup var measures: MeasureOptions

    func validate() throws {
        guard 1...1_000_000 ~= connections else {
            throw ValidationError("--connections must be from 1 to 1000000.")
        }
        guard 1...10_000 ~= inFlight else {
            throw ValidationError("--in-flight must be from 1 to 10000.")
        }
    }

    func run() async throws {
        let client = try await LoadClient.connect(url, server, count: connections)
        let ids = try await TodoLoad.makeTodos(connections, on: client.connections[0])
        let results = try await runs.take("Measuring") {
            let mutations = OperationLoad(client, inFlight: inFlight) { connection, number in
                TodoLoad.rename(ids[connection], number)
            }
            let queries = OperationLoad(client, inFlight: inFlight) { connection, _ in
                TodoLoad.read(ids[connection])
            }
            return (
                mutations: try await mutations.run(seconds: runs.seconds),
                queries: try await queries.run(seconds: runs.seconds)
            )
        }
        await client.close()
        let taken: JSONObject = [
            "connections": .int(Int64(connections)), "inFlight": .int(Int64(inFlight)),
            "seconds": .double(runs.seconds), "runs": .int(Int64(runs.runs)),
        ]
        func report(_ one: String, _ many: String, _ results: [OperationLoad.Measure]) {
            measures.report(
                "\(many)_per_s", median(results.map { Double($0.latencies.count) / $0.seconds }),
                "\(many)/s", taken)
            measures.report(
                "\(one)_p99_ms",
                median(results.map { $0.latencies.milliseconds(percentile: 0.99) }), "ms", taken)
        }
        report("mutation", "mutations", results.map(\.mutations))
        report("query", "queries", results.map(\.queries))
    }
}

/// Operations with one result each: as soon as one is answered, the next is sent.
private final class OperationLoad: Sendable {
    struct Measure: Sendable {
        var latencies = LatencyHistogram()
        var seconds = 0.0
    }

    private struct State: LoadState {
        var measure = Measure()
        var isRunning = true
        var running = 0
        var lastNumber = 0
        var failure: CommandFailure?
    }

    private let client: LoadClient
    private let inFlight: Int
    private let makeOperation: @Sendable (_ connection: Int, _ number: Int) -> JSONObject
    private let state = Lock(State())

    /// - Parameter makeOperation: a query or mutation whose result has a number in it.
    init(
        _ client: LoadClient, inFlight: Int,
        makeOperation: @escaping @Sendable (_ connection: Int, _ number: Int) -> JSONObject
    ) {
        self.client = client
        self.inFlight = inFlight
        self.makeOperation = makeOperation
    }

    func run(seconds: Double) async throws -> Measure {
        let start = ContinuousClock.now
        client.loop.perform {
            for index in self.client.connections.indices {
                for _ in 0..<self.inFlight { self.start(on: index) }
            }
        }
        let end = start + .seconds(seconds)
        try await state.wait(until: end)
        let measure = state.withLock { state in
            state.isRunning = false
            state.measure.seconds = (ContinuousClock.now - start) / .seconds(1)
            return state.measure
        }
        let isOver = try await waited(.seconds(30)) { try state.check { $0.running == 0 } }
        guard isOver else { throw CommandFailure("Operations had no answer within 30 seconds.") }
        return measure
    }

    /// On the loop's thread.
    private func start(on connection: Int) {
        let number = state.withLock { state -> Int? in
            guard state.isRunning, state.failure == nil else { return nil }
            state.running += 1
            state.lastNumber += 1
            return state.lastNumber
        }
        guard let number else { return }
        let start = ContinuousClock.now
        client.connections[connection].start(makeOperation(connection, number)) { event in
            switch event {
            case .result(let bytes):
                if TodoLoad.number(in: bytes) == nil {
                    self.state.fail("The server refused: \(String(decoding: bytes, as: UTF8.self))")
                }
                self.state.withLock { $0.measure.latencies.record(ContinuousClock.now - start) }
            case .ended(let failure):
                if let failure { self.state.fail(failure.description) }
                self.state.withLock { $0.running -= 1 }
                self.start(on: connection)
            }
        }
    }
}
