import StoreEngine
import WebSocketIO

extension Server {
    /// How much clients may ask for, and what may wait. Each has the flag of `relay serve` with its default; docs/http.md and
    /// docs/websocket.md say what clients see at the limits.
    public struct Limits: Sendable {
        var engine = GraphQLService.Limits()
        var connection = HTTPServer.Limits()
        var socket = SocketLimits()

        /// The limits of `relay serve`.
        public init() {}

        /// The most that ``documentDepth`` may be: documents are read and carried out by functions that call themselves,
        /// and a thread's stack ends.
        public static let greatestDepth = 500
    }
}

/// A configuration that no server can be started with.
public struct ConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong, and with which property.
    public let description: String
}

extension Server.Configuration {
    func check() throws(ConfigurationError) {
        func refuse(_ what: String) -> ConfigurationError {
            ConfigurationError(description: "The server was not started: \(what).")
        }
        if tokens.contains("") || viewerTokens.contains(where: \.token.isEmpty) {
            throw refuse("a token is empty, which would let everyone in")
        }
        if viewerTokens.contains(where: \.viewer.isEmpty) {
            throw refuse("a token is for a viewer without a name")
        }
        if historyClaim == "" {
            throw refuse("historyClaim is empty; nil lets no viewer see the history")
        }
        let secrets = tokens + viewerTokens.map(\.token)
        guard Set(secrets).count == secrets.count else {
            throw refuse("a token is given twice, so it does not say who shows it")
        }
        if !isAuthenticated, !isOpen, let why = HostPolicy.objection(toListeningOn: host) {
            throw refuse(why)
        }
        if let webTokens {
            if case .url(let url) = webTokens.keys {
                do { _ = try KeyAddress(url) } catch {
                    throw refuse("webTokens.keys are not fetched: \(error)")
                }
            }
            guard webTokens.leeway >= .zero, webTokens.leeway <= .seconds(3_600) else {
                throw refuse(
                    "webTokens.leeway must be from 0 s to an hour, not \(webTokens.leeway)")
            }
            if webTokens.issuer == "" || webTokens.audience == "" {
                throw refuse("webTokens.issuer or audience is empty; nil does not look at it")
            }
            if webTokens.viewerClaim.isEmpty {
                throw refuse("webTokens.viewerClaim is empty: no claim says who it is")
            }
        }
        if case .cluster(let place) = storage.place, place.advertised == nil,
            ClusterPlace.isEverywhere(host)
        {
            throw refuse(
                "other servers of the cluster cannot connect to \(host); --advertise says where they can"
            )
        }
        guard 1...64 ~= loops else { throw refuse("loops must be from 1 to 64, not \(loops)") }
        for (name, limit) in limits.counts where limit < 0 {
            throw refuse("limits.\(name) must not be negative, but is \(limit)")
        }
        let greatest = Server.Limits.greatestDepth
        if limits.documentDepth > greatest {
            throw refuse(
                "limits.documentDepth must be at most \(greatest), not \(limits.documentDepth)")
        }
        for (name, limit) in limits.times where limit <= .zero {
            throw refuse("limits.\(name) must be longer than nothing, not \(limit)")
        }
    }
}

extension Server.Limits {
    fileprivate var counts: [(name: String, limit: Int)] {
        [
            ("documentBytes", documentBytes), ("documentTokens", documentTokens),
            ("documentDepth", documentDepth), ("documentAliases", documentAliases),
            ("documentDirectives", documentDirectives), ("rootFields", rootFields),
            ("selections", selections), ("resultFields", resultFields),
            ("assumedListSize", assumedListSize),
            ("resultBytes", resultBytes), ("visitedElements", visitedElements),
            ("mutationBytes", mutationBytes), ("subscriptionBytes", subscriptionBytes),
            ("waitingMutations", waitingMutations), ("waitingHandlers", waitingHandlers),
            ("pastEvents", pastEvents), ("recentCommits", recentCommits),
            ("resumeEvents", resumeEvents), ("connections", connections),
            ("messageBytes", messageBytes), ("bodyBytes", bodyBytes), ("queuedBytes", queuedBytes),
            ("streamQueueBytes", streamQueueBytes),
            ("compressedConnections", compressedConnections), ("operations", operations),
            ("operationBytes", operationBytes), ("requestsInProgress", requestsInProgress),
            ("requestsPerSecond", requestsPerSecond),
        ]
    }

    fileprivate var times: [(name: String, limit: Duration)] {
        [
            ("handshakeTimeout", handshakeTimeout), ("progressInterval", progressInterval),
            ("keepAlive", keepAlive), ("writeTimeout", writeTimeout),
        ]
    }
}

// MARK: What the document of a request may contain; one beyond a limit is refused with `LIMIT_EXCEEDED`

extension Server.Limits {
    /// Bytes in a document.
    public var documentBytes: Int {
        get { engine.document.bytes }
        set { engine.document.bytes = newValue }
    }

    /// Tokens in a document.
    public var documentTokens: Int {
        get { engine.document.tokens }
        set { engine.document.tokens = newValue }
    }

    /// Selection sets inside each other, fragments included; also lists and objects of values.
    public var documentDepth: Int {
        get { engine.document.depth }
        set { engine.document.depth = newValue }
    }

    /// Aliases in a document.
    public var documentAliases: Int {
        get { engine.document.aliases }
        set { engine.document.aliases = newValue }
    }

    /// Directives in a document.
    public var documentDirectives: Int {
        get { engine.document.directives }
        set { engine.document.directives = newValue }
    }

    /// Root fields of an operation, fragments included.
    public var rootFields: Int {
        get { engine.document.rootFields }
        set { engine.document.rootFields = newValue }
    }

    /// Selections of an operation, those of its fragments counted in each place where they come to something else.
    public var selections: Int {
        get { engine.document.selections }
        set { engine.document.selections = newValue }
    }

    /// Fields in a result, estimated from `first` and `last` before it is made.
    public var resultFields: Int {
        get { engine.document.complexity }
        set { engine.document.complexity = newValue }
    }

    /// How long ``resultFields`` takes a list without `first` or `last` to be.
    public var assumedListSize: Int {
        get { engine.document.assumedListSize }
        set { engine.document.assumedListSize = newValue }
    }
}

// MARK: What a request may come to; one beyond a limit ends with `LIMIT_EXCEEDED`

extension Server.Limits {
    /// Bytes in a result, including each one of a live query or subscription; a larger one is replaced by an error.
    public var resultBytes: Int {
        get { engine.document.resultBytes }
        set { engine.document.resultBytes = newValue }
    }

    /// Elements of lists that are looked at for a result, those that a filter leaves out included.
    public var visitedElements: Int {
        get { engine.document.visits }
        set { engine.document.visits = newValue }
    }

    /// Bytes that one mutation may write, including its arguments; one that would write more changes nothing.
    public var mutationBytes: Int {
        get { engine.mutationBytes }
        set { engine.mutationBytes = newValue }
    }
}

// MARK: What all clients together may keep waiting

extension Server.Limits {
    /// Mutations accepted and not yet answered; more get `OVERLOADED`.
    public var waitingMutations: Int {
        get { engine.waitingMutations }
        set { engine.waitingMutations = newValue }
    }

    /// Bytes that subscriptions and live queries may keep in memory, about; the one that would keep more ends with
    /// `OVERLOADED`.
    public var subscriptionBytes: Int {
        get { engine.subscriptionBytes }
        set { engine.subscriptionBytes = newValue }
    }

    /// Mutations whose handlers wait for something; more get `OVERLOADED`.
    public var waitingHandlers: Int {
        get { engine.waitingHandlers }
        set { engine.waitingHandlers = newValue }
    }

    /// Events that may be folded to answer one query from the past; beyond that it gets `LIMIT_EXCEEDED`.
    public var pastEvents: Int {
        get { engine.pastEvents }
        set { engine.pastEvents = newValue }
    }

    /// Commits that are kept in memory for subscriptions that are resumed, at most 16 MB of writes.
    public var recentCommits: Int {
        get { engine.recentCommits }
        set { engine.recentCommits = newValue }
    }

    /// Events that may be folded to resume a subscription; an older cursor gets `"recovered": false`.
    public var resumeEvents: Int {
        get { engine.resumeEvents }
        set { engine.resumeEvents = newValue }
    }
}

// MARK: Connections

extension Server.Limits {
    /// Connections of either kind; later clients get 503.
    public var connections: Int {
        get { connection.connections }
        set { connection.connections = newValue }
    }

    /// Bytes of a WebSocket message; a larger one closes its connection with 1009.
    public var messageBytes: Int {
        get { connection.messageBytes }
        set { connection.messageBytes = newValue }
    }

    /// Bytes of the body of an HTTP request; a larger one gets 413.
    public var bodyBytes: Int {
        get { connection.bodyBytes }
        set { connection.bodyBytes = newValue }
    }

    /// Bytes that may wait for one connection; beyond that it is closed, a WebSocket with 1013.
    public var queuedBytes: Int {
        get { connection.queuedBytes }
        set { connection.queuedBytes = newValue }
    }

    /// Bytes that may wait for a client before its live results are coalesced and its event streams end with
    /// `SLOW_CONSUMER`.
    public var streamQueueBytes: Int {
        get { socket.streamQueueBytes }
        set { socket.streamQueueBytes = newValue }
    }

    /// WebSocket connections that may use permessage-deflate, which costs up to 270 KB each while they are sent to.
    public var compressedConnections: Int {
        get { connection.compressedConnections }
        set { connection.compressedConnections = newValue }
    }

    /// Operations in progress on a connection, subscriptions included; more are refused.
    public var operations: Int {
        get { socket.operations }
        set { socket.operations = newValue }
    }

    /// Bytes of the messages that began the operations in progress on a connection, of one of them at least; more are
    /// refused.
    public var operationBytes: Int {
        get { socket.operationBytes }
        set { socket.operationBytes = newValue }
    }

    /// Queries and mutations in progress on a connection; nothing is read from one with more.
    public var requestsInProgress: Int {
        get { socket.requestsInProgress }
        set { socket.requestsInProgress = newValue }
    }

    /// Operations that a connection may begin in a second, 0 for any number; nothing is read from a faster one for a while.
    public var requestsPerSecond: Int {
        get { socket.requestsPerSecond }
        set { socket.requestsPerSecond = newValue }
    }
}

// MARK: Times

extension Server.Limits {
    /// How long a client may take for its handshake, to send `connection_init`, or to send a request whole.
    public var handshakeTimeout: Duration {
        get { connection.handshakeTimeout }
        set {
            connection.handshakeTimeout = newValue
            socket.initialisationTimeout = newValue
        }
    }

    /// Silence after which a client is told how far everything has been delivered.
    public var progressInterval: Duration {
        get { socket.progressInterval }
        set { socket.progressInterval = newValue }
    }

    /// After so much silence a client is pinged; after twice as much it is dead.
    public var keepAlive: Duration {
        get { connection.keepAlive }
        set { connection.keepAlive = newValue }
    }

    /// A client that takes nothing for so long is closed, a WebSocket with 1013.
    public var writeTimeout: Duration {
        get { connection.writeStuckTimeout }
        set { connection.writeStuckTimeout = newValue }
    }
}
