import Cluster
import EventLog
import EventStore
import GraphQLExecution
import HTTPMessages
import JSONWebTokens
@_spi(Rooms) import RelayRecords
import StoreEngine
import Threads
import WebSocketIO

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The server's metrics, in the text format of Prometheus (version 0.0.4).
final class Metrics: Sendable {
    private let service: GraphQLService
    /// Nil for a log in memory.
    private let journal: FileJournal?
    /// Nil if none are fetched.
    private let keys: KeyURL?
    private let history: HistoryDesk?
    /// Nil for a server that is alone.
    private let node: ClusterNode?
    private let server = Lock(WeakServer())

    init(
        _ service: GraphQLService, journal: FileJournal?, keys: KeyURL? = nil,
        history: HistoryDesk? = nil, node: ClusterNode? = nil
    ) {
        self.node = node
        self.history = history
        self.service = service
        self.journal = journal
        self.keys = keys
    }

    /// From now on the connections of this server are counted too.
    func observe(_ server: HTTPServer) {
        self.server.withLock { $0.server = server }
    }

    func response() async -> HTTPResponse {
        HTTPResponse(
            status: 200, headers: ["content-type": "text/plain; version=0.0.4; charset=utf-8"],
            body: Array(await text().utf8))
    }

    private func text() async -> String {
        var page = MetricsPage()
        if let usage = try? await server.withLock({ $0.server })?.usageByLoop() {
            describe(usage, &page)
        }
        describeService(&page)
        describeStorage(&page)
        if let history { describe(history, &page) }
        if let journal { describe(journal, &page) }
        if let keys { describe(keys, &page) }
        if let node { describe(node.status, &page) }
        describeProcess(&page)
        return page.text
    }

    private func describe(_ loops: [HTTPServer.Usage], _ page: inout MetricsPage) {
        func byLoop(_ value: (HTTPServer.Usage) -> Int) -> [(String, Int)] {
            loops.enumerated().map { ("loop=\"\($0.offset)\"", value($0.element)) }
        }
        page.gauge(
            "relay_connections", "Connections, WebSocket and HTTP.",
            loops.reduce(0) { $0 + $1.connections })
        page.gauge(
            "relay_queue_bytes", "Bytes queued for clients.",
            loops.reduce(0) { $0 + $1.queuedBytes })
        page.gauge(
            "relay_loop_connections", "Connections by the loop that serves them.",
            byLoop(\.connections))
        page.gauge(
            "relay_loop_queue_bytes", "Bytes queued for clients, by loop.", byLoop(\.queuedBytes)
        )
    }

    private func describe(_ history: HistoryDesk, _ page: inout MetricsPage) {
        let counts = history.counts
        page.counter(
            "relay_history_requests_total", "Questions about the history, by what became of them.",
            [
                ("outcome=\"answered\"", counts.answered), ("outcome=\"refused\"", counts.refused),
                ("outcome=\"left\"", counts.left),
            ])
        page.gauge(
            "relay_waiting_history_requests",
            "Questions about the history that wait for their turn.",
            history.waitingCount)
    }

    private func describeService(_ page: inout MetricsPage) {
        let snapshot = service.snapshot
        let open = service.subscriptionCounts
        let counts = service.counters.now
        page.gauge("relay_sequence", "The last durable event.", snapshot.sequence)
        page.gauge("relay_records", "Records in the state.", snapshot.recordCount)
        page.gauge("relay_subscriptions", "Open subscriptions.", open.subscriptions)
        page.gauge(
            "relay_subscription_groups", "Groups of equal subscriptions.", open.groups)
        page.gauge(
            "relay_subscription_bytes", "About what subscriptions keep in memory.",
            service.subscriptionByteCount)
        page.gauge(
            "relay_waiting_mutations", "Mutations waiting for the writer.",
            service.waitingMutations)
        page.counter(
            "relay_operations_total", "Operations begun.",
            [
                ("kind=\"query\"", counts.queries), ("kind=\"mutation\"", counts.mutations),
                ("kind=\"subscription\"", counts.subscriptions),
            ])
        page.counter("relay_refusals_total", "Requests that were not executed.", counts.refusals)
        page.counter(
            "relay_commits_total",
            "Durable commits, one per root field of a mutation.",
            counts.commits)
        page.counter(
            "relay_publications_total", "Times that the durable state has advanced.",
            counts.publications)
        page.counter(
            "relay_deliveries_total", "Results of subscriptions that were sent.", counts.deliveries)
        page.counter(
            "relay_resume_log_events_total",
            "Events read from the log for subscriptions that were away longer than memory reaches.",
            counts.resumedEvents)
        let executions = service.subscriptionExecutions
        page.counter(
            "relay_executions_total", "Executions for subscriptions.", executions.run)
        page.counter(
            "relay_executions_saved_total",
            "Executions saved because equal subscriptions share one.", executions.saved)
        page.gauge(
            "relay_lag_events",
            "Durable events, of the shared journal if there is one, that subscriptions have not been notified of.",
            service.deliveryLag + (node?.status.lag ?? 0))
        page.counter(
            "relay_fold_seconds_total", "Carrying out mutations and folding what they wrote.",
            service.foldTime / .seconds(1))
        describe(service.accessCounts, &page)
    }

    private func describe(_ status: ClusterStatus, _ page: inout MetricsPage) {
        let isWriter = if case .leader = status.role { true } else { false }
        page.gauge(
            "relay_role", "1 for what this server is in its cluster, else 0.",
            [("role=\"writer\"", isWriter ? 1 : 0), ("role=\"follower\"", isWriter ? 0 : 1)])
        page.gauge("relay_term", "The newest term that this server has heard of.", status.term)
        page.gauge(
            "relay_lag_seconds",
            "For how long this server has not had all of the journal, as far as it knows.",
            status.lagTime / .seconds(1))
        page.counter(
            "relay_failovers_total", "Times that this server has become the writer.",
            status.failovers)
    }

    private func describe(_ access: AccessRules.Counts, _ page: inout MetricsPage) {
        page.counter(
            "relay_access_hidden_total", "Records that rules have hidden from somebody.",
            AccessExit.allCases.map { ("exit=\"\($0)\"", access.hidden[$0] ?? 0) })
        let refusals = AccessRefusal.Place.allCases.flatMap { place in
            [true, false].map { AccessRefusal(place: place, isLoggedIn: $0) }
        }
        page.counter(
            "relay_access_refusals_total", "Fields and mutations that rules have refused somebody.",
            refusals.map { refusal in
                let labels = "code=\"\(refusal.code.rawValue)\",of=\"\(refusal.place)\""
                return (labels, access.refused[refusal] ?? 0)
            })
    }

    private func describeStorage(_ page: inout MetricsPage) {
        page.gauge(
            "relay_storage_full", "1 while mutations are refused because the disk is full, else 0.",
            service.health.reason == nil ? 0 : 1)
        page.counter(
            "relay_storage_refusals_total", "Mutations refused because the disk is full.",
            service.health.refusalCount)
    }

    private func describe(_ journal: FileJournal, _ page: inout MetricsPage) {
        let statistics = journal.statistics
        page.counter("relay_log_events_total", "Events appended.", statistics.events)
        page.counter("relay_log_appends_total", "Batches appended.", statistics.batches)
        page.counter("relay_log_syncs_total", "Syncs to the disk.", statistics.syncs)
        page.counter(
            "relay_log_sync_seconds_total", "Waiting for the disk.",
            statistics.syncTime / .seconds(1))
        page.gauge(
            "relay_log_appends_per_sync", "Batches that share a sync, on average.",
            statistics.syncs == 0 ? 0 : Double(statistics.batches) / Double(statistics.syncs))
        page.counter("relay_log_bytes_total", "Bytes written to segments.", statistics.bytes)
        page.gauge(
            "relay_log_waiting_bytes", "Bytes of events waiting for the disk.",
            journal.waitingBytes)
        guard let files = journal.filesOnDisk else { return }
        page.gauge(
            "relay_log_size_bytes", "Size of the segments and checkpoints, up to ten seconds ago.",
            files.byteCount)
        page.gauge("relay_log_segments", "Segments.", files.segmentCount)
        page.gauge("relay_log_checkpoints", "Checkpoints.", files.checkpointCount)
    }

    private func describe(_ keys: KeyURL, _ page: inout MetricsPage) {
        let counts = keys.counts
        page.counter(
            "relay_jwt_key_fetches_total", "Times that keys were fetched, or should have been.",
            [
                ("outcome=\"changed\"", counts.changed),
                ("outcome=\"unchanged\"", counts.unchanged),
                ("outcome=\"failed\"", counts.failed),
            ])
        page.gauge("relay_jwt_keys", "Keys that are used.", keys.keysAtHand.keys.count)
    }

    private func describeProcess(_ page: inout MetricsPage) {
        var time = timespec()
        guard clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0 else { return }
        let seconds = Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        page.counter("process_cpu_seconds_total", "Processor time used.", seconds)
    }
}

/// A server that is not kept alive.
private struct WeakServer {
    weak var server: HTTPServer?
}

/// Metrics, written one after the other.
private struct MetricsPage {
    private(set) var text = ""

    mutating func gauge(_ name: String, _ help: String, _ value: some CustomStringConvertible) {
        add(name, help, "gauge", [("", value)])
    }

    /// - Parameter values: by their labels.
    mutating func gauge(
        _ name: String, _ help: String, _ values: [(String, some CustomStringConvertible)]
    ) {
        add(name, help, "gauge", values)
    }

    mutating func counter(_ name: String, _ help: String, _ value: some CustomStringConvertible) {
        add(name, help, "counter", [("", value)])
    }

    /// - Parameter values: by their labels.
    mutating func counter(
        _ name: String, _ help: String, _ values: [(String, some CustomStringConvertible)]
    ) {
        add(name, help, "counter", values)
    }

    private mutating func add(
        _ name: String, _ help: String, _ type: String,
        _ values: [(labels: String, value: some CustomStringConvertible)]
    ) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
        for (labels, value) in values {
            text += name + (labels.isEmpty ? "" : "{\(labels)}") + " \(value)\n"
        }
    }
}
