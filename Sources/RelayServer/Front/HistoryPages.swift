import EventStore
import GraphQLExecution
import HTTPMessages
import RelayJSON
import WebSocketIO

/// The pages about the history, `/log/…` and some of `/explorer/…`: who may ask, and what the answers look like
/// (docs/http.md).
struct HistoryPages: Sendable {
    private let desk: HistoryDesk
    private let authentication: Authentication
    private let claim: String?

    /// - Parameters:
    ///   - authentication: knows the claim, if there is one.
    ///   - claim: viewers who have it may see the whole history.
    init(_ desk: HistoryDesk, authentication: Authentication, claim: String?) {
        self.desk = desk
        self.authentication = claim.map { authentication.keeping(claims: [$0]) } ?? authentication
        self.claim = claim
    }

    static let methods = "GET, HEAD, OPTIONS"

    /// Whether there is such a page.
    static func has(_ path: String) -> Bool { HistoryRequest.parameters[path] != nil }

    /// The answer to a request that is not answered otherwise; nil if the client may ask.
    ///
    /// The history shows everything, whatever the rules of the schema say.
    /// - Parameter mayBeNobody: what ``HostPolicy`` says of those without a token.
    func refusal(of http: HTTPRequest, mayBeNobody: Bool) -> HTTPResponse? {
        let decision = authentication.orNobody(
            authentication.decide(headers: http.headers), mayBeNobody: mayBeNobody)
        let isForPeople = HistoryRequest.isForPeople(http)
        guard case .admitted(let identity, _) = decision, identity != .nobody else {
            return HTTPResponse(
                refusing: 401, Authentication.refusal, isForPeople: isForPeople)
        }
        if mayLook(identity) { return nil }
        return Self.notForThem(isForPeople)
    }

    /// The answer to those who are known, and may not look.
    static func notForThem(_ isForPeople: Bool = false) -> HTTPResponse {
        let text = """
            The history shows everything. It is for clients with an unnamed token, and for viewers with the claim \
            that --history-claim names.
            """
        return HTTPResponse(refusing: 403, text, isForPeople: isForPeople)
    }

    private func mayLook(_ identity: Identity) -> Bool {
        guard let viewer = identity.viewer else { return identity == .unrestricted }
        return claim.flatMap { viewer.claimValues[$0] }.map(Self.saysYes) ?? false
    }

    /// Providers write "no" in several ways.
    private static func saysYes(_ claim: JSONValue) -> Bool {
        switch claim {
        case .null, .bool(false), .int(0): false
        case .double(let number): number != 0
        case .string(let text): !["", "0", "false", "no"].contains(text.lowercased())
        case .array(let elements): elements.contains(where: saysYes)
        default: true
        }
    }

    /// Answers a request of somebody who may ask.
    func respond(
        to http: HTTPRequest, now: Int64, _ responder: HTTPResponder,
        _ answer: @escaping @Sendable (HTTPResponse) -> Void
    ) {
        do throws(HistoryRequest.Refusal) {
            let request = try HistoryRequest(http, now: now)
            let allowance = desk.ask(request) { answer(Self.response($0, request)) }
            responder.whenLeft { allowance.giveUp() }
        } catch {
            answer(Self.response(error, isForPeople: HistoryRequest.isForPeople(http)))
        }
    }

    private static func response(
        _ outcome: HistoryDesk.Outcome, _ request: HistoryRequest
    ) -> HTTPResponse {
        switch outcome {
        case .failure(let refusal):
            return response(refusal, isForPeople: request.limits.form == .text)
        case .success(let answer):
            let type = request.limits.form == .json ? HistoryRequest.mediaType : "text/plain"
            var response = HTTPResponse(
                status: 200, headers: ["content-type": "\(type); charset=utf-8"],
                body: answer.page.bytes)
            response.headers.append("relay-first-event", String(answer.first))
            response.headers.append("relay-last-event", String(answer.last))
            if let next = answer.page.next {
                // RFC 8288.
                response.headers.append("link", "<\(request.link(next))>; rel=\"next\"")
            }
            return response
        }
    }

    private static func response(
        _ refusal: HistoryRequest.Refusal, isForPeople: Bool
    ) -> HTTPResponse {
        HTTPResponse(refusing: refusal.status, refusal.message, isForPeople: isForPeople)
    }
}
