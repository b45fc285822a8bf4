import Cluster
import EventLog
import EventStore
import Logging
import RelayRecords
import SharedJournal
import WebSocketIO

/// Where a server of a cluster keeps its data: a journal that it shares, and a directory with its copy.
struct ClusterPlace: Sendable {
    let journal: JournalAddress
    /// Of the verified copy.
    let directory: String
    var storeOptions = EventStoreOptions()
    /// Nil: what it is reached by.
    var node: String?
    /// `ws://HOST:PORT` or `wss://…`; nil: what is listened on.
    var advertised: String?
    /// Events that it may be behind and still be ready.
    var lagLimit: UInt64 = 1_000
    /// Told why the server cannot go on.
    var onFailure: @Sendable (String) -> Void = { _ in }

    /// Why other servers and clients could not use an address; nil if they can.
    static func objection(toAdvertising text: String) -> String? {
        guard let address = ServerAddress(url: text),
            text == "\(address.isSecure ? "wss" : "ws")://\(address)"
        else { return "\"\(text)\" is not ws://HOST:PORT or wss://HOST:PORT" }
        return isEverywhere(address.host)
            ? "\(address.host) is no address that others can connect to" : nil
    }

    /// Why a server cannot have a name; nil if it can.
    static func objection(toName name: String) -> String? {
        let isPrintable = name.unicodeScalars.allSatisfy { $0.value > 32 && $0.value != 127 }
        return 1...100 ~= name.utf8.count && isPrintable
            ? nil : "a server's name has 1 to 100 bytes, without spaces and control characters"
    }

    /// Whether listening on a host means all addresses of the machine.
    static func isEverywhere(_ host: String) -> Bool { ["0.0.0.0", "::"].contains(host) }

    /// The same, with everything that was left out.
    /// - Parameter url: `ws://HOST:PORT` of what is listened on.
    func completed(listeningOn url: String) -> ClusterPlace {
        var place = self
        let advertised = advertised ?? url
        place.advertised = advertised
        place.node = node ?? advertised.split(separator: "/").last.map(String.init) ?? advertised
        return place
    }

    /// What an operator should know of the address by which other servers reach this one.
    var remark: String? {
        guard let advertised, let address = ServerAddress(url: advertised),
            HostPolicy.isLoopback(address.host)
        else { return nil }
        return """
            Other servers of the cluster are told \(advertised), which they can only reach on this machine. --advertise \
            names another address.
            """
    }

    /// Brings the copy up to date, and opens it. An empty journal gets its first events. Blocks.
    /// - Parameter first: makes those.
    func join(
        _ indexes: [IndexDefinition], _ storeOptions: EventStoreOptions, _ logger: Logger,
        first: (Snapshot) throws -> [NewEvent]
    ) throws -> (member: ClusterMember, opened: EventStore) {
        let options = MemberOptions(
            journal: journal, node: node ?? "", address: advertised ?? "")
        while true {
            let (member, opened) = try ClusterMember.join(
                options, directory: directory, indexes: indexes, storeOptions: storeOptions,
                report: { logger.notice("\($0)") })
            if opened.snapshot.sequence > 0 {
                CopyMark.put(in: directory, storeOptions.fileSystem, journal: "\(journal)")
                return (member, opened)
            }
            defer { opened.journal.close() }
            try member.found(first(opened.snapshot))
        }
    }
}

extension Server.Storage {
    /// In a journal that several servers share: a PostgreSQL database. One of them carries out mutations at a time, and the
    /// others follow it; if it is lost, another one takes over (docs/cluster.md).
    ///
    /// - Parameters:
    ///   - url: `postgres://USER@HOST/DATABASE`, as docs/cluster.md has it.
    ///   - directory: of this server's copy of the journal. It is made if need be.
    ///   - node: the server's name, which no other has; nil: the address that is advertised.
    ///   - advertised: `ws://HOST:PORT` or `wss://HOST:PORT`, by which the other servers reach this one; nil: what it
    ///     listens on.
    ///   - maxLag: events that the server may be behind; `/readyz` answers 503 if it is further behind.
    ///   - onFailure: called once, from any thread, if the server can no longer follow the journal, with the reason in a
    ///     sentence: what it holds is damaged, or is not what this server has. Queries are still answered from the state
    ///     that there is; stop it.
    /// - Throws: what is wrong with the addresses, or that libpq is missing.
    public static func journal(
        _ url: String, copy directory: String, node: String? = nil, advertised: String? = nil,
        maxLag: UInt64 = 1_000, onFailure: @escaping @Sendable (String) -> Void = { _ in }
    ) throws -> Server.Storage {
        if let advertised, let objection = ClusterPlace.objection(toAdvertising: advertised) {
            throw ConfigurationError(description: "--advertise: \(objection).")
        }
        if let node, let objection = ClusterPlace.objection(toName: node) {
            throw ConfigurationError(description: "--node: \(objection).")
        }
        var place = ClusterPlace(
            journal: try JournalAddress(parsing: url), directory: directory, node: node,
            advertised: advertised)
        place.lagLimit = maxLag
        place.onFailure = onFailure
        return Server.Storage(place: .cluster(place))
    }
}
