import GraphQLExecution
import HTTPMessages
import Logging
import RelayJSON
import RelayRecords
import StoreEngine
import WebSocketIO

/// Where the clients of one loop arrive: routes HTTP requests and WebSocket handshakes to the service.
final class Front: HTTPServerHandler {
    static let path = "/graphql"

    let service: GraphQLService
    let loop: IOLoop
    let authentication: Authentication
    let hosts: HostPolicy
    let origins: OriginPolicy
    private let metrics: Metrics
    let history: HistoryPages
    /// Nil where it is not served.
    private let explorer: Explorer?
    /// Nil unless the server is one of a cluster.
    private let node: ClusterNode?
    let limits: SocketLimits
    let progress: ProgressNotices
    private let ended: EndedClients
    let logger: Logger

    init(
        _ service: GraphQLService, on loop: IOLoop, authentication: Authentication,
        hosts: HostPolicy, origins: OriginPolicy, metrics: Metrics, history: HistoryPages,
        explorer: Explorer? = nil, node: ClusterNode? = nil, limits: SocketLimits,
        logger: Logger
    ) {
        self.service = service
        self.loop = loop
        self.authentication = authentication
        self.hosts = hosts
        self.origins = origins
        self.metrics = metrics
        self.history = history
        self.explorer = explorer
        self.node = node
        self.limits = limits
        self.logger = logger
        progress = ProgressNotices(after: limits.progressInterval) { service.deliveredCursor }
        ended = EndedClients(logger) { loop.perform(after: $0, $1) }
    }

    /// Begins to tell clients of the progress of their streams.
    func start() { progress.start(on: loop) }

    // MARK: WebSocket

    func upgrade(_ request: HTTPRequest) -> UpgradeDecision {
        let decision = decide(on: request)
        switch decision {
        case .accept:
            logger.debug("A connection begins.", metadata: ["peer": "\(request.peerAddress)"])
        case .refuse(let response):
            logger.debug(
                "A WebSocket handshake was refused.",
                metadata: ["peer": "\(request.peerAddress)", "status": "\(response.status)"])
        }
        return decision
    }

    private func decide(on request: HTTPRequest) -> UpgradeDecision {
        if let node, request.path == Self.path, request.subprotocol == GraphQLSocket.subprotocol,
            node.key.isShown(in: request.headers)
        {
            return .accept(
                socket(for: request, .admitted(.unrestricted), greeting: node.greeting, .ofNodes),
                queuedBytes: SocketLimits.queuedBytesOfNodes)
        }
        guard hosts.admits(request) else { return .refuse(Self.foreignHost) }
        guard request.path == Self.path else {
            return .refuse(HTTPResponse(status: 404, text: Self.notFound(request)))
        }
        guard let subprotocol = request.subprotocol else {
            let text = """
                This endpoint speaks the WebSocket subprotocol \
                "\(GraphQLSocket.subprotocol)"; the handshake must offer it.
                """
            return .refuse(HTTPResponse(status: 400, text: text))
        }
        guard origins.admits(upgrade: request) else {
            let text = "Pages from this origin may not connect; --allow-origin allows origins."
            return .refuse(HTTPResponse(status: 403, text: text))
        }
        let decision = authentication.decide(headers: request.headers)
        if case .refused = decision {
            return .refuse(Authentication.refusalResponse)
        }
        if subprotocol == EchoSocket.subprotocol {
            // It has no connection_init in which a token could still come, and it would outlive a token that ends.
            guard case .admitted(_, nil) = decision else {
                return .refuse(Authentication.refusalResponse)
            }
            return .accept(EchoSocket())
        }
        return .accept(socket(for: request, decision, limits))
    }

    private func socket(
        for request: HTTPRequest, _ decision: Authentication.Decision,
        greeting: NodeGreeting? = nil,
        _ limits: SocketLimits
    ) -> GraphQLSocket {
        let peer = request.peerAddress
        let socket = GraphQLSocket(
            service, on: loop, authentication: authentication, decision: decision,
            greeting: greeting, handshake: request.headers,
            mayBeNobody: hosts.admitsWithoutToken(request), limits: limits
        ) { [progress, ended] socket, close in
            progress.remove(socket)
            if close.code == 1_013, !close.isFromPeer {
                ended.tooSlow(peer, "\(close)")
            } else {
                ended.byThemselves(peer, "\(close)")
            }
        }
        progress.add(socket)
        return socket
    }

    // MARK: HTTP

    func respond(to request: HTTPRequest, with responder: HTTPResponder) {
        if let refusal = refusal(byHeadOf: request) { return responder.respond(refusal) }
        switch place(of: request) {
        case .graphQL?: respondToGraphQL(request, responder)
        case .history?: respondToHistory(request, responder)
        case .page(let page)?: responder.respond(page.response(to: request))
        case .document(let explorer)?: respondToDocument(request, explorer, responder)
        case .groups(let explorer)?: respondToGroups(request, explorer, responder)
        case .operators?, nil: respondToOperator(request, responder)
        }
    }

    /// What there is at a path.
    private enum Place {
        case graphQL
        case history
        case page(ExplorerPage)
        case document(Explorer)
        case groups(Explorer)
        /// For those who run the server.
        case operators

        /// Nil: what is there says so itself.
        var methods: String? {
            switch self {
            case .graphQL: nil
            case .history: HistoryPages.methods
            case .document: Explorer.documentMethods
            case .groups: HistoryPages.methods
            case .page, .operators: "GET, HEAD"
            }
        }
    }

    /// Nil if there is nothing.
    private func place(of request: HTTPRequest) -> Place? {
        switch request.path {
        case Self.path:
            guard let explorer, ExplorerPage.isWanted(by: request) else { return .graphQL }
            return .page(explorer.page)
        case "/healthz", "/readyz", "/metrics": return .operators
        case let path where path.hasPrefix("/log/"): return HistoryPages.has(path) ? .history : nil
        case ExplorerPage.path: return explorer.map { .page($0.page) }
        case Explorer.documentPath: return explorer.map { .document($0) }
        case Explorer.groupsPath: return explorer.map { .groups($0) }
        case let path: return explorer != nil && HistoryPages.has(path) ? .history : nil
        }
    }

    func refusal(beforeBody request: HTTPRequest) -> HTTPResponse? {
        if let refusal = refusal(byHeadOf: request) { return refusal }
        switch place(of: request) {
        case .graphQL? where request.method != "OPTIONS": break
        case .document(let explorer)?:
            guard identity(of: request) != nil else { return Self.unauthenticated }
            return explorer.refusal(beforeBody: request)
        default: return HTTPResponse(status: 413, text: "This request has no body.")
        }
        do throws(GraphQLOverHTTP.Refusal) {
            let exchange = try GraphQLOverHTTP(request)
            _ = try viewer(of: request, exchange)
            try exchange.checkBodyType()
            return nil
        } catch {
            var response = error.response
            response.headers.append(origins.headers(for: request))
            return response
        }
    }

    func left(slowClient peerAddress: String, reason: String) {
        ended.tooSlow(peerAddress, reason)
    }

    /// The answer to a request for a page that there is not, or that can only be read.
    private func refusal(byHeadOf request: HTTPRequest) -> HTTPResponse? {
        guard hosts.admits(request) else { return Self.foreignHost }
        guard let place = place(of: request) else {
            return HTTPResponse(status: 404, text: Self.notFound(request))
        }
        guard let methods = place.methods,
            !methods.split(separator: ", ").contains(request.method[...])
        else { return nil }
        return HTTPResponse(status: 405, headers: ["allow": methods])
    }

    /// RFC 9110 §15.5.20: this server is not the one that was asked.
    private static var foreignHost: HTTPResponse {
        HTTPResponse(status: 421, text: HostPolicy.refusal)
    }

    private static func notFound(_ request: HTTPRequest) -> String {
        "There is nothing at \(request.path); GraphQL is at \(path)."
    }

    /// The pages for those who run the server.
    private func respondToOperator(_ request: HTTPRequest, _ responder: HTTPResponder) {
        switch request.path {
        case "/healthz":
            return responder.respond(HTTPResponse(status: 200, text: "ok"))
        case "/readyz":
            let (service, authentication, node) = (service, authentication, node)
            // The log is open and folded before the port is; what is left is whether it takes mutations.
            Task.detached(priority: .high) {
                let reason =
                    authentication.isWithoutKeys
                    ? "There are no keys for JSON Web Tokens."
                    : await service.unreadiness() ?? node?.unreadiness
                responder.respond(
                    HTTPResponse(status: reason == nil ? 200 : 503, text: reason ?? "ok"))
            }
            return
        default: break
        }
        // They tell of everybody's requests.
        switch authentication.decide(headers: request.headers) {
        case .admitted(.unrestricted, _): break
        case .admitted(let identity, _) where identity != .nobody:
            let text = "What others ask for is shown to clients with an unnamed token only."
            return responder.respond(HTTPResponse(status: 403, text: text))
        default: return responder.respond(Authentication.refusalResponse)
        }
        let metrics = metrics
        // Whoever looks after the server is not kept waiting by queries.
        Task.detached(priority: .high) { responder.respond(await metrics.response()) }
    }

}
