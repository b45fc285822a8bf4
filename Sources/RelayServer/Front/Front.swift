import GraphQLExecution
import GraphQLLanguage
import RelayJSON
import WebSocketIO

/// Where clients arrive: routes HTTP requests and WebSocket handshakes to the service.
final class Front: HTTPServerHandler {
    static let path = "/graphql"

    private let service: GraphQLService
    private let authentication: Authentication

    init(_ service: GraphQLService, authentication: Authentication) {
        self.service = service
        self.authentication = authentication
    }

    // MARK: WebSocket

    func upgrade(_ request: HTTPRequest) -> UpgradeDecision {
        guard request.path == Self.path else {
            return .refuse(HTTPResponse(status: 404, text: Self.notFound(request)))
        }
        guard request.subprotocol != nil else {
            let text = """
                This endpoint speaks the WebSocket subprotocol \
                "\(GraphQLSocket.subprotocol)"; the handshake must offer it.
                """
            return .refuse(HTTPResponse(status: 400, text: text))
        }
        let viewer = authentication.viewer(headers: request.headers)
        if case .refused = viewer {
            return .refuse(HTTPResponse(status: 401, text: Self.unauthorized))
        }
        return .accept(GraphQLSocket(service, authentication: authentication, viewer: viewer))
    }

    // MARK: HTTP

    func respond(to request: HTTPRequest, with responder: HTTPResponder) {
        switch request.path {
        case Self.path:
            respondToGraphQL(request, responder)
        case "/healthz", "/readyz":
            // The log is open and folded before the port is.
            responder.respond(HTTPResponse(status: 200, text: "ok"))
        default:
            responder.respond(HTTPResponse(status: 404, text: Self.notFound(request)))
        }
    }

    private func respondToGraphQL(_ http: HTTPRequest, _ responder: HTTPResponder) {
        let viewer: String?
        switch authentication.viewer(headers: http.headers) {
        case .known(let name): viewer = name
        case .undecided where authentication.isOpen: viewer = nil
        case .undecided, .refused:
            let error = ExecutionError(Self.unauthorized, code: .unauthenticated)
            responder.respond(
                HTTPResponse(
                    status: 401,
                    headers: [
                        "content-type": "application/json; charset=utf-8",
                        "www-authenticate": "Bearer",
                    ], body: Response(refused: [error]).bytes))
            return
        }
        let service = service
        // Parsing and executing take their time elsewhere; the loop's thread only moves bytes.
        Task.detached {
            do throws(GraphQLOverHTTP.Refusal) {
                var request = try GraphQLOverHTTP.request(http)
                request.viewer = viewer
                Self.execute(request, http, service, responder)
            } catch {
                responder.respond(error.response)
            }
        }
    }

    private static func execute(
        _ request: GraphQLRequest, _ http: HTTPRequest, _ service: GraphQLService,
        _ responder: HTTPResponder
    ) {
        let operation: PreparedOperation
        do throws(ExecutionErrors) {
            operation = try service.prepare(request)
        } catch {
            responder.respond(GraphQLOverHTTP.response(.refused(error.errors), to: http))
            return
        }
        if http.method == "GET", operation.kind != .query {
            let refusal = GraphQLOverHTTP.refusal(
                405, "A \(operation.kind.rawValue) cannot be sent with GET; use POST.", http,
                headers: ["allow": "POST"])
            responder.respond(refusal.response)
            return
        }
        service.execute(operation, request) { outcome in
            responder.respond(GraphQLOverHTTP.response(outcome, to: http))
        }
    }

    private static let unauthorized = "A valid token is needed: \"authorization: Bearer TOKEN\"."

    private static func notFound(_ request: HTTPRequest) -> String {
        "There is nothing at \(request.path); GraphQL is at \(path)."
    }
}
