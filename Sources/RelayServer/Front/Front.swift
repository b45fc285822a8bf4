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

    private let service: GraphQLService
    private let loop: IOLoop
    private let authentication: Authentication
    private let hosts: HostPolicy
    private let origins: OriginPolicy
    private let metrics: Metrics
    private let history: HistoryPages
    private let limits: SocketLimits
    private let progress: ProgressNotices
    private let ended: EndedClients
    private let logger: Logger

    init(
        _ service: GraphQLService, on loop: IOLoop, authentication: Authentication,
        hosts: HostPolicy, origins: OriginPolicy, metrics: Metrics, history: HistoryPages,
        limits: SocketLimits, logger: Logger
    ) {
        self.service = service
        self.loop = loop
        self.authentication = authentication
        self.hosts = hosts
        self.origins = origins
        self.metrics = metrics
        self.history = history
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
        let peer = request.peerAddress
        let socket = GraphQLSocket(
            service, on: loop, authentication: authentication, decision: decision,
            handshake: request.headers, mayBeNobody: hosts.admitsWithoutToken(request),
            limits: limits
        ) { [progress, ended] socket, close in
            progress.remove(socket)
            if close.code == 1_013, !close.isFromPeer {
                ended.tooSlow(peer, "\(close)")
            } else {
                ended.byThemselves(peer, "\(close)")
            }
        }
        progress.add(socket)
        return .accept(socket)
    }

    // MARK: HTTP

    func respond(to request: HTTPRequest, with responder: HTTPResponder) {
        if let refusal = refusal(byHeadOf: request) { return responder.respond(refusal) }
        if request.path == Self.path {
            respondToGraphQL(request, responder)
        } else if HistoryPages.has(request.path) {
            respondToHistory(request, responder)
        } else {
            respondToOperator(request, responder)
        }
    }

    func refusal(beforeBody request: HTTPRequest) -> HTTPResponse? {
        if let refusal = refusal(byHeadOf: request) { return refusal }
        guard request.path == Self.path, request.method != "OPTIONS" else {
            return HTTPResponse(status: 413, text: "This request has no body.")
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

    private static let operatorPaths: Set = ["/healthz", "/readyz", "/metrics"]

    /// The answer to a request for a page that there is not, or that can only be read.
    private func refusal(byHeadOf request: HTTPRequest) -> HTTPResponse? {
        guard hosts.admits(request) else { return Self.foreignHost }
        if request.path == Self.path { return nil }
        if HistoryPages.has(request.path) {
            if ["GET", "HEAD", "OPTIONS"].contains(request.method) { return nil }
            return HTTPResponse(status: 405, headers: ["allow": HistoryPages.methods])
        }
        guard Self.operatorPaths.contains(request.path) else {
            return HTTPResponse(status: 404, text: Self.notFound(request))
        }
        if ["GET", "HEAD"].contains(request.method) { return nil }
        return HTTPResponse(status: 405, headers: ["allow": "GET, HEAD"])
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
            let (service, authentication) = (service, authentication)
            // The log is open and folded before the port is; what is left is whether it takes mutations.
            Task.detached(priority: .high) {
                let reason =
                    authentication.isWithoutKeys
                    ? "There are no keys for JSON Web Tokens."
                    : await service.unreadiness()
                responder.respond(
                    HTTPResponse(status: reason == nil ? 200 : 503, text: reason ?? "ok"))
            }
            return
        default: break
        }
        // They tell of everybody's requests.
        guard authentication.decide(headers: request.headers) == .admitted(.unrestricted) else {
            responder.respond(Authentication.refusalResponse)
            return
        }
        let metrics = metrics
        // Whoever looks after the server is not kept waiting by queries.
        Task.detached(priority: .high) { responder.respond(await metrics.response()) }
    }

    // MARK: The history

    private func respondToHistory(_ http: HTTPRequest, _ responder: HTTPResponder) {
        if http.method == "OPTIONS" {
            responder.respond(origins.answer(toOptions: http, methods: HistoryPages.methods))
            return
        }
        var headers = origins.headers(for: http)
        if !headers.fields.isEmpty {
            headers.append(
                "access-control-expose-headers", "link, relay-first-event, relay-last-event")
        }
        // It depends on who asks, and tomorrow's answer may be another one.
        headers.append("cache-control", "no-store")
        headers.append("x-content-type-options", "nosniff")
        let answer: @Sendable (HTTPResponse) -> Void = { [service, headers] response in
            var response = response
            response.headers.append(headers)
            response.endsConnection = service.isStopping
            responder.respond(response)
        }
        if let refusal = history.refusal(of: http, mayBeNobody: hosts.admitsWithoutToken(http)) {
            logger.debug(
                "A request for the history was refused.",
                metadata: ["peer": "\(http.peerAddress)", "status": "\(refusal.status)"])
            return answer(refusal)
        }
        let history = history
        Task.detached {
            history.respond(to: http, now: WallClock.microseconds(), responder, answer)
        }
    }

    // MARK: GraphQL over HTTP

    private func respondToGraphQL(_ http: HTTPRequest, _ responder: HTTPResponder) {
        if http.method == "OPTIONS" {
            // Before anything else: a browser's preflight request carries no token.
            responder.respond(
                origins.answer(toOptions: http, methods: "GET, HEAD, POST, OPTIONS"))
            return
        }
        let headers = origins.headers(for: http)
        var ofAnswers = headers
        if !authentication.isOpen, http.method != "POST" {
            // It depends on who asks, and no cache may give it to somebody else.
            ofAnswers.append("cache-control", "no-store")
            ofAnswers.append("vary", "authorization, cookie")
        }
        let answer: @Sendable (HTTPResponse) -> Void = { [service, ofAnswers] response in
            var response = response
            response.headers.append(ofAnswers)
            // A client that retries should reach another server, or none.
            response.endsConnection = service.isStopping
            responder.respond(response)
        }
        do throws(GraphQLOverHTTP.Refusal) {
            let exchange = try GraphQLOverHTTP(http)
            let (identity, until) = try viewer(of: http, exchange)
            // Parsing and executing take their time elsewhere; the loop's thread only moves bytes.
            Task.detached {
                if exchange.wantsEventStream {
                    self.stream(exchange, identity, until, responder, headers, answer)
                } else {
                    self.execute(exchange, identity, answer)
                }
            }
        } catch {
            answer(error.response)
        }
    }

    private func viewer(
        of http: HTTPRequest, _ exchange: GraphQLOverHTTP
    ) throws(GraphQLOverHTTP.Refusal) -> (Identity, until: Int64?) {
        let decision = authentication.orNobody(
            authentication.decide(headers: http.headers),
            mayBeNobody: hosts.admitsWithoutToken(http))
        if case .admitted(let identity, let until) = decision {
            return (identity, until)
        }
        logger.debug("A request has no valid token.", metadata: ["peer": "\(http.peerAddress)"])
        let error = ExecutionError(Authentication.refusal, code: .unauthenticated)
        throw exchange.refusal(401, error, headers: Authentication.challenge)
    }

    private func execute(
        _ exchange: GraphQLOverHTTP, _ identity: Identity,
        _ answer: @escaping @Sendable (HTTPResponse) -> Void
    ) {
        do throws(GraphQLOverHTTP.Refusal) {
            let request = try exchange.request(from: identity)
            let operation: PreparedOperation
            do throws(ExecutionErrors) {
                operation = try service.prepare(request)
            } catch {
                return answer(exchange.response(.refused(error.errors)))
            }
            try exchange.check(operation)
            service.execute(operation, request) { answer(exchange.response($0)) }
        } catch {
            answer(error.response)
        }
    }

    // MARK: Server-sent events

    /// Errors in the operation itself are sent in the stream: a browser that gets another status shows its
    /// page nothing (graphql-sse §Distinct connections mode).
    private func stream(
        _ exchange: GraphQLOverHTTP, _ identity: Identity, _ until: Int64?,
        _ responder: HTTPResponder,
        _ headers: HTTPHeaders, _ refuse: @escaping @Sendable (HTTPResponse) -> Void
    ) {
        do throws(GraphQLOverHTTP.Refusal) {
            let request = try exchange.request(from: identity)
            let prepared: Result<PreparedOperation, ExecutionErrors> = Result {
                () throws(ExecutionErrors) in try service.prepare(request)
            }
            if case .success(let operation) = prepared { try exchange.check(operation) }
            let stream = EventStream(
                on: loop, resumeCursor: request.resumeCursor, limit: limits.streamQueueBytes
            ) { [service, progress] stream in
                service.unsubscribe(stream)
                progress.remove(stream)
            }
            progress.add(stream)
            guard stream.start(responder, headers: headers) else { return progress.remove(stream) }
            if let until, case .success(let operation) = prepared, operation.isStream {
                stream.endWithToken(at: until)
            }
            do throws(ExecutionErrors) {
                let operation = try prepared.get()
                if operation.isStream {
                    try service.subscribe(operation, request, sink: stream)
                } else {
                    service.execute(operation, request) { stream.finish($0) }
                }
            } catch {
                stream.finish(.refused(error.errors))
            }
        } catch {
            refuse(error.response)
        }
    }
}
