import BoundedTesting
import HTTPMessages
import RelayJSON
import Threads
import WebSocketIO

@testable import RelayServer

/// An identity provider, which answers as a test wants it.
final class KeyProvider: HTTPServerHandler {
    enum Behaviour {
        case answer(HTTPResponse)
        /// No answer comes, until it behaves otherwise.
        case hang
    }

    private struct State {
        var behaviour: Behaviour
        var requests: [HTTPRequest] = []
        var hanging: [HTTPResponder] = []
    }

    private let state: Lock<State>

    private init(_ behaviour: Behaviour) { state = Lock(State(behaviour: behaviour)) }

    /// Serves while `body` runs.
    static func run(
        _ behaviour: Behaviour, tls: HTTPServer.TLSIdentity? = nil,
        _ body: (_ provider: KeyProvider, _ url: String, _ loop: IOLoop) async throws -> Void
    ) async throws {
        let provider = KeyProvider(behaviour)
        let loop = try IOLoop.start()
        do {
            let server = try await HTTPServer.start(
                HTTPServer.Options(tls: tls), on: loop, handler: provider)
            let scheme = tls == nil ? "http" : "https"
            try await body(provider, "\(scheme)://localhost:\(server.port)/jwks.json?x=1", loop)
        } catch {
            await loop.stop()
            throw error
        }
        await loop.stop()
    }

    /// The keys of these.
    static func keys(_ signers: TokenSigner..., headers: HTTPHeaders = [:]) -> Behaviour {
        let set = JSONValue.object(["keys": .array(signers.map(\.jwk))])
        return .answer(HTTPResponse(status: 200, headers: headers, body: set.bytes))
    }

    static func text(
        _ text: String, status: Int = 200, headers: HTTPHeaders = [:]
    ) -> Behaviour {
        .answer(HTTPResponse(status: status, headers: headers, body: Array(text.utf8)))
    }

    var requests: [HTTPRequest] { state.withLock { $0.requests } }

    func behave(_ behaviour: Behaviour) {
        let hanging = state.withLock { state in
            state.behaviour = behaviour
            defer { if case .answer = behaviour { state.hanging = [] } }
            return state.hanging
        }
        guard case .answer(let response) = behaviour else { return }
        for responder in hanging { responder.respond(response) }
    }

    func upgrade(_ request: HTTPRequest) -> UpgradeDecision {
        .refuse(HTTPResponse(status: 404))
    }

    func respond(to request: HTTPRequest, with responder: HTTPResponder) {
        let response = state.withLock { state -> HTTPResponse? in
            state.requests.append(request)
            if case .answer(let response) = state.behaviour { return response }
            state.hanging.append(responder)
            return nil
        }
        if let response { responder.respond(response) }
    }
}
