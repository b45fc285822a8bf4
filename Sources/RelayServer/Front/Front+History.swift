import HTTPMessages
import Logging
import RelayRecords
import StoreEngine
import WebSocketIO

/// The history, and what else the explorer asks for.
extension Front {
    func respondToHistory(_ http: HTTPRequest, _ responder: HTTPResponder) {
        if http.method == "OPTIONS" {
            responder.respond(origins.answer(toOptions: http, methods: HistoryPages.methods))
            return
        }
        var headers = origins.headers(for: http)
        if !headers.fields.isEmpty {
            headers.append(
                "access-control-expose-headers", "link, relay-first-event, relay-last-event")
        }
        let answer = answer(withoutStoring: responder, headers)
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

    // MARK: The explorer

    func respondToDocument(
        _ http: HTTPRequest, _ explorer: Explorer, _ responder: HTTPResponder
    ) {
        if http.method == "OPTIONS" {
            responder.respond(
                origins.answer(toOptions: http, methods: Explorer.documentMethods))
            return
        }
        let answer = answer(withoutStoring: responder, origins.headers(for: http))
        guard identity(of: http) != nil else { return answer(Self.unauthenticated) }
        explorer.respondToDocument(http, responder, answer)
    }

    func respondToGroups(
        _ http: HTTPRequest, _ explorer: Explorer, _ responder: HTTPResponder
    ) {
        if http.method == "OPTIONS" {
            responder.respond(origins.answer(toOptions: http, methods: HistoryPages.methods))
            return
        }
        let answer = answer(withoutStoring: responder, origins.headers(for: http))
        switch authentication.decide(headers: http.headers) {
        // As with metrics.
        case .admitted(.unrestricted, _): break
        case .admitted(let identity, _) where identity != .nobody:
            let text = "What others ask for is shown to clients with an unnamed token only."
            return answer(HTTPResponse(refusing: 403, text))
        default: return answer(Self.unauthenticated)
        }
        explorer.respondToGroups(http, responder, answer)
    }

    /// Answers what depends on who asks, and may be another answer tomorrow.
    private func answer(
        withoutStoring responder: HTTPResponder, _ headers: HTTPHeaders = [:]
    ) -> @Sendable (HTTPResponse) -> Void {
        var headers = headers
        headers.append("cache-control", "no-store")
        headers.append("x-content-type-options", "nosniff")
        return { [service, headers] response in
            var response = response
            response.headers.append(headers)
            response.endsConnection = service.isStopping
            responder.respond(response)
        }
    }

    static var unauthenticated: HTTPResponse {
        HTTPResponse(refusing: 401, Authentication.refusal)
    }
}
