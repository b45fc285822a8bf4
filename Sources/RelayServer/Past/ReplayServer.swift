import EventLog
package import EventStore
import GraphQLExecution
package import Logging
@_spi(Rooms) import RelayRecords
import SchemaService
import StoreEngine
import WebSocketIO

/// A recorded history, replayed to real clients: what `relay replay --serve` runs.
///
/// Queries are answered from the state that the replay has reached, subscriptions get every commit as they
/// did when it was made, mutations are refused. The schema is the one that the history ends with. Reads the
/// log only.
package final class ReplayServer: Sendable {
    package struct Configuration: Sendable {
        /// The event after which it begins.
        package var start: UInt64
        package var host = "127.0.0.1"
        /// 0 lets the system choose.
        package var port = 8080
        package var tokens: [String] = []
        /// Serve everybody, also on an address that other machines can reach.
        package var isOpen = false
        package var allowedHosts: [String] = []
        /// Serve the explorer; nil: on loopback addresses only.
        package var explorer: Bool?
        /// How long a stop may take before what has not ended is cut off.
        package var stopDeadline: Duration = .seconds(5)

        package init(start: UInt64) { self.start = start }
    }

    /// How fast events follow each other.
    package struct Pace: Sendable {
        /// 2 is twice as fast as they happened, 0.5 half.
        package var speed = 1.0
        /// No pause between two events is longer; nil leaves them as they were.
        package var longestPause: Duration?

        package init() {}

        /// The longest pause that can be asked for.
        private static let year = 31_536_000.0

        /// How long to wait between two events.
        ///
        /// Their times come from the log, where a clock may have jumped to anywhere: a clock that was set
        /// back makes no pause, and no pause is longer than a year.
        func pause(from earlier: Int64, to later: Int64) -> Duration {
            let seconds = (Double(later) - Double(earlier)) / 1e6 / speed
            let pause = Duration.seconds(min(max(seconds, 0), Self.year))
            return longestPause.map { min(pause, $0) } ?? pause
        }
    }

    static let mutationRefusal = "This is a replay of a log: the past can be read, not changed."

    /// Steps that are published at once, and messages that may wait for the publisher.
    private static let batchLimit = 256

    /// Where clients find it: `ws://HOST:PORT/graphql`.
    package let url: String
    /// The last event of the history. The one before damage is the last that is played.
    package let end: UInt64
    private let service: GraphQLService
    private let replay: ReplayedHistory
    private let played: PlayedSequence
    private let loop: IOLoop
    private let http: HTTPServer
    private let stopDeadline: Duration
    private let giveUpQuestions: @Sendable () -> Void

    /// Folds the log up to the start, and listens. When it returns, clients can come.
    /// - Throws: `EventStoreError`, `IOError`, and what is wrong with the recorded schema.
    package static func start(
        _ history: History, _ configuration: Configuration, logger: Logger
    ) async throws -> ReplayServer {
        let authentication = Authentication(tokens: configuration.tokens)
        if authentication.isOpen, !configuration.isOpen,
            let why = HostPolicy.objection(toListeningOn: configuration.host)
        {
            throw ConfigurationError(description: "The history is not served: \(why).")
        }
        let schema = try ServiceSchema(history.snapshot(at: history.last).schema)
        let snapshot = try history.snapshot(at: configuration.start, indexes: schema.indexes)
        let schemaService = SchemaService(schema, symbols: snapshot.symbols)
        let replay = try ReplayedHistory(history, from: snapshot, schemaService: schemaService)
        let played = PlayedSequence(configuration.start)
        let loop = try IOLoop.start()
        let loops = NetworkLoops(loops: [loop])
        do {
            LibraryLog.setReceiver { level, line in
                logger.log(level: level == .error ? .warning : .debug, "libwebsockets: \(line)")
            }
            let service = GraphQLService(
                schemaService, journal: ReplayedJournal(history: history, played: played),
                storeID: history.metadata?.storeID.description ?? "memory",
                snapshot: snapshot,
                inputs: EngineInputs(now: WallClock.microseconds),
                mutationRefusal: mutationRefusal, logger: logger,
                deliver: { loops.deliver($0) }, settle: { await loops.settle() })
            let desk = HistoryDesk(.init(), logger: logger) {
                history.beginning(through: played.value)
            }
            let metrics = Metrics(service, journal: nil, history: desk)
            let explorer =
                configuration.explorer ?? HostPolicy.isLoopback(configuration.host)
                ? Explorer(
                    service, schemaService.executable.schema, limits: DocumentLimits(),
                    isExclusive: false) : nil
            let front = Front(
                service, on: loop, authentication: authentication,
                hosts: HostPolicy(
                    for: authentication, listeningOn: configuration.host,
                    allowing: configuration.allowedHosts),
                origins: OriginPolicy(), metrics: metrics,
                history: HistoryPages(desk, authentication: authentication, claim: nil),
                explorer: explorer, limits: SocketLimits(), logger: logger)
            front.start()
            let http = try await HTTPServer.start(
                HTTPServer.Options(
                    host: configuration.host, port: configuration.port,
                    subprotocols: [GraphQLSocket.subprotocol]),
                on: loop, handler: front)
            metrics.observe(http)
            return ReplayServer(
                configuration, end: history.last, service, replay, played, loop, http
            ) {
                desk.stop()
                explorer?.stop()
            }
        } catch {
            await loop.stop()
            throw error
        }
    }

    private init(
        _ configuration: Configuration, end: UInt64, _ service: GraphQLService,
        _ replay: ReplayedHistory, _ played: PlayedSequence, _ loop: IOLoop, _ http: HTTPServer,
        giveUpQuestions: @escaping @Sendable () -> Void
    ) {
        self.giveUpQuestions = giveUpQuestions
        self.end = end
        self.service = service
        self.replay = replay
        self.played = played
        self.loop = loop
        self.http = http
        stopDeadline = configuration.stopDeadline
        let host = configuration.host.contains(":") ? "[\(configuration.host)]" : configuration.host
        url = "ws://\(host):\(http.port)\(Front.path)"
    }

    /// The last event that was played.
    package var sequence: UInt64 { played.value }

    /// Whether any client has asked for anything yet.
    package var hasClients: Bool {
        let counts = service.counters.now
        return counts.queries + counts.subscriptions + counts.mutations > 0
    }

    /// Lets one event happen; nil at the end.
    package func step() async throws -> EventSummary? {
        guard let step = try await replay.step() else { return nil }
        publish([step])
        return step.summary
    }

    /// Lets events happen at a pace until the end, or until the task is cancelled.
    /// - Parameter note: called after each event or more with the last that was played.
    package func play(_ pace: Pace, note: @Sendable (UInt64) -> Void) async throws {
        guard var time = await replay.nextTime else { return }
        var due = ContinuousClock.now
        while let next = await replay.nextTime {
            due += pace.pause(from: time, to: next)
            time = next
            try await Task.sleep(until: due)
            publish(try await replay.steps(through: next, limit: Self.batchLimit))
            note(sequence)
            // Clients that take their time hold up the replay rather than fill the memory.
            while service.unpublishedCount > Self.batchLimit {
                try await Task.sleep(for: .milliseconds(1))
                due = .now
            }
        }
    }

    private func publish(_ steps: [ReplayedHistory.Step]) {
        guard let last = steps.last else { return }
        played.advance(to: last.snapshot.sequence)
        service.publish(steps.compactMap(\.commit), head: last.snapshot)
    }

    /// Accepts no new connections and ends what is open.
    package func stop() async {
        giveUpQuestions()
        await http.stop(within: stopDeadline)
        await loop.stop()
    }
}
