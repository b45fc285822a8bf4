package import EventStore
public import GraphQLExecution
import GraphQLLanguage
import JSONWebTokens
public import Logging
public import RelayArtifacts
@_spi(Rooms) import RelayRecords
package import SchemaService
import StoreEngine
import WebSocketIO

/// A schema served from a log, on a port: what `relay serve` runs, and what a program runs that has
/// handlers of its own.
///
///     let server = try await Server.start(
///         .init(schema: schema, storage: .directory("todo-data"), handlers: handlers))
///     print("listening on \(server.url)")
///     …
///     await server.stop()
public final class Server: Sendable {
    /// What a server serves, and how.
    public struct Configuration: Sendable {
        /// The schema, in SDL.
        public var schema: String
        /// How people know the schema: its file's path.
        public var schemaName: String
        /// Where the log is kept.
        public var storage: Storage
        /// What the program does in place of the schema's directives, or in addition to them.
        public var handlers: Handlers
        /// What a seed file holds; used only when the log is empty.
        public var seed: [UInt8]?
        /// How people know the seed: its file's path.
        public var seedName = "seed.ndjson"
        /// The address to listen on.
        public var host = "127.0.0.1"
        /// 0 lets the system choose.
        public var port = 8080
        /// Threads that serve connections, each of which has one of them. As many as there are processors unless
        /// something else is said here, but not more than four.
        public var loops = NetworkLoops.defaultCount
        /// Whoever shows one of these may do everything. If any tokens are accepted, each client needs one.
        public var tokens: [String] = []
        /// Whoever shows one of these is that viewer.
        public var viewerTokens: [ViewerToken] = []
        /// Whoever shows a JSON Web Token that these options accept is the viewer that it names.
        public var webTokens: WebTokenOptions?
        var authenticator: Authentication.Hook?
        /// A claim: viewers who have it, and for whom it is neither false nor empty, may see the whole history (`/log/…`),
        /// whatever the rules say, as those may who show one of ``tokens``.
        public var historyClaim: String?
        /// Serve everybody, also on an address that other machines can reach.
        public var isOpen = false
        /// Names by which clients may call a server that asks for no token, besides `localhost` and its addresses; on an
        /// address that other machines can reach, besides all addresses and names that nobody can register. `*`: any name.
        public var allowedHosts: [String] = []
        /// Serve the explorer, a page to look at schema, data and history with, at `/`; nil: on loopback addresses only. It
        /// shows nobody more than they may see otherwise.
        public var explorer: Bool?
        /// How long a stop may take before what has not ended is cut off.
        public var stopDeadline: Duration = .seconds(5)
        private var furtherDocuments: [Source] = []
        var tls: HTTPServer.TLSIdentity?
        var origins = OriginPolicy()
        var persisted = PersistedOperations()
        /// How much clients may ask for, and what may wait.
        public var limits = Limits()
        /// Serve the subprotocol `echo` too.
        package var echoes = false

        /// What a server needs to start; the rest is set afterwards.
        /// - Parameters:
        ///   - schema: the schema, in SDL.
        ///   - schemaName: how people know the schema.
        ///   - storage: where the log is kept.
        ///   - handlers: what the program does in place of the schema's directives, or in addition to them.
        public init(
            schema: String, schemaName: String = "schema.graphql", storage: Storage,
            handlers: Handlers = Handlers()
        ) {
            self.schema = schema
            self.schemaName = schemaName
            self.storage = storage
            self.handlers = handlers
        }

        /// Says who a client is: for sessions, cookies, tokens of another kind.
        ///
        ///     configuration.authenticate { headers, payload in
        ///         try sessions.viewer(ofCookie: headers["cookie"])
        ///     }
        ///
        /// It is asked about clients that show none of ``tokens`` and ``viewerTokens``, before ``webTokens``: for each
        /// HTTP request, for the handshake of a WebSocket, for its `connection_init` and for each `ping` with a payload.
        /// It runs on a network thread, so it must not wait for anything.
        ///
        /// When the viewer's session ends (`Viewer.expiresAt`), its connections are closed with 4403, unless a `ping`
        /// with a payload has renewed it: then the closure is asked again, and may close the connection at once by
        /// throwing. If it returns nil, nothing changes. A viewer without an end stays as long as it is connected. If
        /// the headers of the handshake say who the client is, the payload of `connection_init` is not looked at,
        /// whatever token is there.
        /// - Parameter body: gets the headers of the request or handshake by their names in lower case, and the payload
        ///   of `connection_init` or the `ping`. It returns the viewer; nil if it does not know the client, who then is
        ///   let in without a viewer, unless it has shown a token, and ``webTokens`` do not accept that. If it throws, the
        ///   client is refused.
        public mutating func authenticate(
            _ body:
                @escaping @Sendable (_ headers: [String: String], _ payload: VariableData?) throws
                -> Viewer?
        ) {
            authenticator = body
        }

        /// Adds a further document to the schema: types, or extensions such as
        /// `extend type Project @access(read: { viewer: true })`.
        /// - Parameters:
        ///   - schema: the document, in SDL.
        ///   - name: how people know it: its file's path.
        public mutating func add(schema: String, name: String) {
            furtherDocuments.append(Source(schema, name: name))
        }

        /// The schema's documents, in order.
        var documents: [Source] { [Source(schema, name: schemaName)] + furtherDocuments }

        /// Serves over TLS.
        /// - Parameters:
        ///   - certificateFile: the certificate chain, as PEM.
        ///   - keyFile: its private key, as PEM.
        public mutating func useTLS(certificateFile: String, keyFile: String) {
            tls = HTTPServer.TLSIdentity(certificateFile: certificateFile, keyFile: keyFile)
        }

        /// Serves these documents by their ids, as `documentId` or as the hash of an automatic persisted query.
        /// - Parameters:
        ///   - documents: texts of documents by their ids.
        ///   - isExclusive: refuse every other document.
        public mutating func usePersistedOperations(
            _ documents: [String: String], isExclusive: Bool = false
        ) {
            persisted = PersistedOperations(documents: documents, isExclusive: isExclusive)
        }

        /// Lets web pages of these origins use the server; `*` means all.
        /// - Parameter origins: as browsers send them, such as `https://example.com`.
        public mutating func allow(origins: [String]) {
            self.origins = OriginPolicy(allowing: origins)
        }
    }

    /// A token that says who shows it.
    public struct ViewerToken: Sendable {
        /// The viewer's id.
        public var viewer: String
        /// The secret.
        public var token: String

        /// - Parameters:
        ///   - viewer: the viewer's id.
        ///   - token: the secret.
        public init(viewer: String, token: String) {
            self.viewer = viewer
            self.token = token
        }
    }

    /// Where the log is kept.
    public struct Storage: Sendable {
        enum Place: Sendable {
            case memory
            case directory(String, EventStoreOptions)
            case cluster(ClusterPlace)
        }

        let place: Place

        /// In memory: it is gone with the process.
        public static let memory = Storage(place: .memory)

        /// In files of a directory, which is made if need be. One server at a time.
        public static func directory(_ path: String) -> Storage {
            .directory(path, EventStoreOptions())
        }

        package static func directory(_ path: String, _ options: EventStoreOptions) -> Storage {
            Storage(place: .directory(path, options))
        }
    }

    /// Where clients find it: `ws://HOST:PORT/graphql`, or `wss://…` with TLS.
    public let url: String
    /// The port that is listened on.
    public let port: Int
    /// Where the explorer is, for a browser; nil if it is not served.
    public let explorerURL: String?
    private let service: GraphQLService
    private let store: OpenStore
    /// Nil if it is alone.
    private let node: ClusterNode?
    /// About the history, and of the explorer: whatever waits for its turn or takes long.
    private let giveUpQuestions: @Sendable () -> Void
    private let fetchedKeys: KeyURL?
    private let loops: NetworkLoops
    private let http: HTTPServer
    private let stopDeadline: Duration
    let logger: Logger

    /// Opens the log, folds it, and listens. When it returns, clients can come.
    ///
    /// - Parameters:
    ///   - configuration: what is served, and how.
    ///   - logger: hears what an operator should know.
    /// - Throws: when the schema has mistakes or does not fit the records in the log, when the seed, the
    ///   log, the port or the keys cannot be used. The error's description is a whole message. Nothing is left open,
    ///   and the log is as it was.
    public static func start(
        _ configuration: Configuration, logger: Logger = Logger(label: "relay")
    ) async throws -> Server {
        try configuration.check()
        // Before the loops are made: each has room for as many descriptors as the process may have then.
        let descriptors = raiseDescriptorLimit()
        // Before the log is touched: without its port, or without keys, a server has nothing to do there. Of two that
        // start at the same moment both may bind; one of them then hears of it when it begins to listen.
        let sockets = try ListeningSockets(host: configuration.host, port: configuration.port)
        do {
            let configuration = configuration.completed(listeningOn: sockets.port)
            let loops = try await NetworkLoops.start(configuration.loops)
            do {
                let keys = try await configuration.webTokens?.makeKeys(on: loops, logger)
                do {
                    return try await open(
                        configuration, keys, loops, sockets, descriptors: descriptors, logger)
                } catch {
                    await (keys as? KeyURL)?.stop()
                    throw error
                }
            } catch {
                await loops.stop()
                throw error
            }
        } catch {
            sockets.close()
            throw error
        }
    }

    private static func open(
        _ configuration: Configuration, _ keys: (any KeySource)?, _ loops: NetworkLoops,
        _ sockets: ListeningSockets, descriptors: Int, _ logger: Logger
    ) async throws -> Server {
        let (store, folded) = try await OpenStore.open(configuration, logger: logger)
        var link: LeaderLink?
        do {
            link = try configuration.makeLink(for: store, logger)
            return try await listen(
                configuration, keys, store, folded, link, loops, sockets,
                descriptors: descriptors, logger)
        } catch {
            await (keys as? KeyURL)?.stop()
            await link?.stop()
            // They may still have something for the store.
            await loops.stop()
            await store.close()
            throw error
        }
    }

    private static func listen(
        _ configuration: Configuration, _ keys: (any KeySource)?, _ store: OpenStore,
        _ folded: OpenStore.Folded, _ link: LeaderLink?, _ loops: NetworkLoops,
        _ sockets: ListeningSockets, descriptors: Int, _ logger: Logger
    ) async throws -> Server {
        let authentication = configuration.makeAuthentication(keys, logger)
            .keeping(claims: store.schemaService.access.mentionedClaims)
        let fetchedKeys = keys as? KeyURL
        // The library warns of what no operator can do anything about: peers that go away, and
        // its own inner workings.
        LibraryLog.setReceiver { level, line in
            logger.log(level: level == .error ? .warning : .debug, "libwebsockets: \(line)")
        }
        let service = GraphQLService(
            store.schemaService, journal: store.journal, storeID: store.storeID,
            snapshot: folded.snapshot, tail: folded.tail,
            inputs: EngineInputs(now: WallClock.microseconds),
            limits: configuration.limits.engine, persisted: configuration.persisted,
            forwarder: link?.forwarder, logger: logger,
            onDurable: { store.noteDurable($0) },
            deliver: { loops.deliver($0) }, settle: { await loops.settle() })
        for (id, error) in service.persistedMistakes() {
            logger.warning(
                "The persisted operation \"\(id)\" cannot be executed: \(error.message)")
        }
        let desk = HistoryDesk(
            HistoryDesk.Limits(pastEvents: configuration.limits.pastEvents), logger: logger
        ) { () throws(EventStoreError) in try store.history() }
        let node = link.flatMap { configuration.makeNode(store, service, $0, logger) }
        let metrics = Metrics(
            service, journal: store.file, keys: fetchedKeys, history: desk, node: node)
        let history = HistoryPages(
            desk, authentication: configuration.makeAuthentication(keys, logger),
            claim: configuration.historyClaim)
        let explorer =
            configuration.servesExplorer
            ? Explorer(
                service, store.schemaService.executable.schema,
                limits: configuration.limits.engine.document,
                isExclusive: configuration.persisted.isExclusive) : nil
        let fronts = loops.loops.map { loop in
            Front(
                service, on: loop, authentication: authentication,
                hosts: HostPolicy(
                    for: authentication, listeningOn: configuration.host,
                    allowing: configuration.allowedHosts),
                origins: configuration.origins, metrics: metrics, history: history,
                explorer: explorer, node: node, limits: configuration.limits.socket, logger: logger)
        }
        for front in fronts { front.start() }
        var listening = configuration.listening
        let wanted = listening.limits.connections
        let limit = ConnectionLimit(wanted: wanted, descriptors: descriptors)
        listening.limits.connections = limit.connections
        listening.limits.refusals = limit.refusals
        let http = try await HTTPServer.start(
            listening, bound: sockets,
            on: zip(loops.loops, fronts).map { (loop: $0, handler: $1) })
        metrics.observe(http)
        // Not before: a server that cannot listen has one thing to say.
        if limit.connections < wanted {
            logger.warning(
                """
                The system allows this process \(descriptors) open files, so it accepts \
                \(limit.connections) connections, not \(wanted); "ulimit -n" or LimitNOFILE \
                raises that.
                """)
        }
        if let warning = configuration.warning(about: store.schemaService) {
            logger.warning("\(warning)")
        }
        let stopHelp: @Sendable () -> Void = {
            desk.stop()
            explorer?.stop()
        }
        node?.start()
        return Server(
            configuration, service, store, node, stopHelp, fetchedKeys, loops, http, logger)
    }

    private init(
        _ configuration: Configuration, _ service: GraphQLService, _ store: OpenStore,
        _ node: ClusterNode?, _ giveUpQuestions: @escaping @Sendable () -> Void,
        _ fetchedKeys: KeyURL?,
        _ loops: NetworkLoops, _ http: HTTPServer,
        _ logger: Logger
    ) {
        self.logger = logger
        self.service = service
        self.store = store
        self.node = node
        self.giveUpQuestions = giveUpQuestions
        self.fetchedKeys = fetchedKeys
        self.loops = loops
        self.http = http
        port = http.port
        stopDeadline = configuration.stopDeadline
        let host = configuration.host.contains(":") ? "[\(configuration.host)]" : configuration.host
        let authority = "://\(host):\(http.port)"
        let isSecure = configuration.tls != nil
        url = (isSecure ? "wss" : "ws") + authority + Front.path
        explorerURL =
            configuration.servesExplorer
            ? (isSecure ? "https" : "http") + authority + ExplorerPage.path : nil
    }

    /// Stops in order: finishes and answers the mutations in flight, accepts no new connections, closes open
    /// ones, syncs and closes the log, writes a checkpoint.
    public func stop() async {
        let deadline = ContinuousClock.now + stopDeadline
        giveUpQuestions()
        // The keys stay, for those who still come.
        await fetchedKeys?.stop()
        // Half of the time, so that what is left is enough to close connections in order.
        await service.finishMutations(within: stopDeadline / 2)
        await node?.stop()
        // Their answers are handed to the connections before those are closed.
        await loops.settle()
        await http.stop(within: max(deadline - .now, .zero))
        await loops.stop()
        await store.close(checkpointing: service.snapshotForNextStart)
    }
}

extension Server.Configuration {
    var isAuthenticated: Bool {
        !tokens.isEmpty || !viewerTokens.isEmpty || webTokens != nil || authenticator != nil
    }

    fileprivate var servesExplorer: Bool { explorer ?? HostPolicy.isLoopback(host) }

    fileprivate var listening: HTTPServer.Options {
        var options = HTTPServer.Options(
            host: host, port: port, tls: tls,
            subprotocols: [GraphQLSocket.subprotocol] + (echoes ? [EchoSocket.subprotocol] : []))
        options.limits = limits.connection
        return options
    }
}
