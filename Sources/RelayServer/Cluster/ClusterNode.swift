import Cluster
import EventLog
import Logging
@_spi(Rooms) import RelayRecords
import SharedJournal
import StoreEngine
import Threads
import WebSocketIO

/// What makes a server one of a cluster: it follows the journal, leads when it is its turn, and hands mutations on when it
/// is not.
final class ClusterNode: ClusterDelegate {
    /// What other servers of the cluster show.
    let key: ClusterKey
    /// What they are told then.
    let greeting: NodeGreeting
    private let place: ClusterPlace
    private let member: ClusterMember
    private let store: OpenStore
    private let service: GraphQLService
    private let link: LeaderLink
    private let marks: StateMarks
    private let logger: Logger
    /// Why the records do not fit this server's schema any more.
    private let foreignSchema = Lock<String?>(nil)

    init(
        _ place: ClusterPlace, _ member: ClusterMember, _ store: OpenStore,
        _ service: GraphQLService, _ link: LeaderLink, messageBytes: Int, _ logger: Logger
    ) {
        self.place = place
        self.member = member
        key = ClusterKey(member.history.clusterKey)
        greeting = NodeGreeting(
            proof: key.proof, claims: service.mentionedClaims, messageBytes: messageBytes)
        self.store = store
        self.service = service
        self.link = link
        self.logger = logger
        marks = StateMarks(of: service)
    }

    func start() { member.start(self) }

    /// Ends its part in the cluster; another server may lead at once.
    func stop() async {
        do {
            try await onThreadOfItsOwn { [member] in member.stop() }
        } catch {
            // No thread could be made, and it has to end: this one waits.
            member.stop()
        }
        await link.stop()
    }

    var status: ClusterStatus { member.status }

    /// Why no clients should be sent here; nil if they are welcome.
    var unreadiness: String? {
        let status = member.status
        if status.failure != nil { return "This server can no longer follow the journal." }
        if foreignSchema.withLock({ $0 != nil }) {
            return "The records no longer fit this server's schema: another one has a newer schema."
        }
        if status.appendError != nil { return "The journal takes no events." }
        if status.appendTime > member.options.lease * 2 {
            return "The journal does not say what became of this server's last events."
        }
        if status.leaseTrouble > member.options.lease * 2 {
            return "This server cannot look at the cluster's lease."
        }
        if status.lag > place.lagLimit {
            return "This server is \(status.lag) events behind the journal."
        }
        if status.lastError != nil, status.lagTime > member.options.lease {
            return "This server cannot follow the journal at the moment."
        }
        return nil
    }

    // MARK: ClusterDelegate

    var isAside: Bool { service.isAside }

    var hasRoomToFollow: Bool { service.hasRoomToFollow }

    var stateMark: CheckpointMark? { marks.newest() }

    func follow(_ events: [Event]) throws {
        try service.follow(events)
        guard events.contains(where: { if case .schema = $0.body { true } else { false } }) else {
            return
        }
        // Another server has another schema: this one goes on with its own, if the records still fit that.
        let refusal = Result { try store.events(missingIn: service.snapshot) }.failure
        foreignSchema.withLock { $0 = refusal.map { "\($0)" } }
        if let refusal {
            logger.error(
                "The server that leads has another schema. This one cannot lead. \(refusal)")
        }
    }

    func prepareToLead() throws {
        let snapshot = service.snapshot
        let events = try store.events(missingIn: snapshot)
        if events.isEmpty { return }
        let outcome = Monitor<Result<UInt64, JournalError>?>(nil)
        store.journal.append(events, expecting: snapshot.sequence) { result in
            outcome.update { $0 = result }
        }
        _ = try outcome.wait { $0 }.get()
        try service.follow(Event.appended(events, after: snapshot.sequence))
    }

    func lead() {
        service.lead()
        link.lead()
    }

    func followOthers(leader: String?) {
        if let leader, leader == place.advertised {
            logger.error(
                "The server that leads is said to be at \(leader), which is this one's address: mutations wait. --advertise must be another one on each server."
            )
        }
        // The link first: it must not take what arrives from now on for its own.
        let other = leader == place.advertised ? nil : leader
        link.follow(other.flatMap(ServerAddress.init(url:)))
        service.followOthers(link.forwarder)
    }

    func fail(_ reason: String) {
        link.fail()
        logger.critical("This server can no longer follow the journal. \(reason)")
        place.onFailure(reason)
    }
}

extension Server.Configuration {
    /// The same, with what follows from where the server listens.
    func completed(listeningOn port: Int) -> Server.Configuration {
        guard case .cluster(let place) = storage.place else { return self }
        let name = host.contains(":") ? "[\(host)]" : host
        var completed = self
        completed.storage = Server.Storage(
            place: .cluster(
                place.completed(listeningOn: "\(tls == nil ? "ws" : "wss")://\(name):\(port)")))
        return completed
    }

    /// - Throws: `IOError`.
    func makeLink(for store: OpenStore, _ logger: Logger) throws -> LeaderLink? {
        guard let member = store.member else { return nil }
        return LeaderLink(
            on: try IOLoop.start(), key: ClusterKey(member.history.clusterKey),
            messageBytes: limits.messageBytes,
            claims: store.schemaService.mentionedClaims, report: { logger.warning("\($0)") })
    }

    func makeNode(
        _ store: OpenStore, _ service: GraphQLService, _ link: LeaderLink, _ logger: Logger
    ) -> ClusterNode? {
        guard case .cluster(let place) = storage.place, let member = store.member else {
            return nil
        }
        return ClusterNode(
            place, member, store, service, link, messageBytes: limits.messageBytes, logger)
    }
}

extension Result {
    fileprivate var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}
