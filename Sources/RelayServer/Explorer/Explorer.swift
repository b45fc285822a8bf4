import EventStore
import GraphQLLanguage
import HTTPMessages
import RelayJSON
import StoreEngine
import WebSocketIO

/// What a server with the explorer answers beside the history: the page, help with a document that somebody is writing,
/// and what its live groups cost. docs/http.md.
///
/// The loop's thread only hands questions over: a few are answered at a time, on threads of their own.
struct Explorer: Sendable {
    static let documentPath = "/explorer/document"
    static let groupsPath = "/explorer/groups"

    static let documentMethods = "POST, OPTIONS"

    let page = ExplorerPage()
    private let service: GraphQLService
    private let help: DocumentHelp?
    private let documents = HistoryLine(threads: 2, waitingLimit: 64)
    /// Apart, because they wait until live queries have been executed.
    private let groups = HistoryLine(threads: 1, waitingLimit: 16)

    /// Bytes in the body of a question about a document: each byte of the text may be an escape of six.
    private static let bodyLimit = 6 * DocumentHelp.lengthLimit + 4_096
    /// Of a document's text, in the list of groups.
    private static let shownCharacters = 2_000

    /// - Parameters:
    ///   - limits: on documents.
    ///   - isExclusive: only persisted operations are run, and no other document is even parsed.
    init(
        _ service: GraphQLService, _ schema: Schema, limits: DocumentLimits, isExclusive: Bool
    ) {
        self.service = service
        help = isExclusive ? nil : DocumentHelp(schema, limits: limits)
    }

    /// Gives all questions up: the server stops.
    func stop() {
        documents.giveUp()
        groups.giveUp()
    }

    // MARK: Documents

    /// Why a question about a document is not answered, as far as the head tells; nil if it is.
    func refusal(beforeBody http: HTTPRequest) -> HTTPResponse? {
        guard help != nil else {
            return HTTPResponse(
                refusing: 403, "This server runs persisted operations only, and looks at no others."
            )
        }
        if let mistake = http.jsonTypeMistake { return HTTPResponse(refusing: 415, mistake) }
        let length = http.headers["content-length"].flatMap { Int($0) } ?? 0
        return length > Self.bodyLimit ? Self.tooLong : nil
    }

    /// Answers a question about a document, of somebody who may ask.
    func respondToDocument(
        _ http: HTTPRequest, _ responder: HTTPResponder,
        _ answer: @escaping @Sendable (HTTPResponse) -> Void
    ) {
        if let refusal = refusal(beforeBody: http) { return answer(refusal) }
        guard http.body.count <= Self.bodyLimit else { return answer(Self.tooLong) }
        documents.post(responder, answer) { [self] in response(to: http) }
    }

    private func response(to http: HTTPRequest) -> HTTPResponse {
        let question: JSONValue
        do throws(JSONError) {
            question = try JSONValue(parsing: http.body)
        } catch {
            return HTTPResponse(refusing: 400, "The body is not JSON. \(error)")
        }
        if let text = question["text"]?.string, text.utf8.count > DocumentHelp.lengthLimit {
            return Self.tooLong
        }
        guard let answer = help?.answer(question) else {
            let message = """
                The body must be an object with "text", and may have "offset", a whole number, and "format", \
                true or false.
                """
            return HTTPResponse(refusing: 400, message)
        }
        return HTTPResponse(
            status: 200, headers: ["content-type": "application/json; charset=utf-8"],
            body: Array(JSONValue.object(answer).text.utf8))
    }

    private static var tooLong: HTTPResponse {
        HTTPResponse(
            refusing: 413, "The document has more than \(DocumentHelp.lengthLimit) bytes.")
    }

    // MARK: Groups

    /// Answers what the live groups cost, to somebody who may know.
    func respondToGroups(
        _ http: HTTPRequest, _ responder: HTTPResponder,
        _ answer: @escaping @Sendable (HTTPResponse) -> Void
    ) {
        do throws(HistoryRequest.Refusal) {
            let limit = try QueryValues(http, known: ["limit"]).lines()
            groups.post(responder, answer) { [service] in
                HTTPResponse(
                    status: 200,
                    headers: ["content-type": "\(HistoryRequest.mediaType); charset=utf-8"],
                    body: Self.lines(service.subscriptionGroups(limit: limit), limit))
            }
        } catch {
            answer(HTTPResponse(refusing: error.status, error.message))
        }
    }

    private static func lines(_ groups: [GroupFigures], _ limit: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        let bound = HistoryPage.Limits(lines: limit).bytes
        for group in groups where bytes.count < bound {
            let line: JSONValue = [
                "operation": .string(group.name),
                "document": .string(group.document(upTo: shownCharacters)),
                "subscribers": .int(Int64(group.subscribers)), "runs": .int(Int64(group.runs)),
                "milliseconds": .double(group.time.milliseconds),
            ]
            bytes += Array((line.text + "\n").utf8)
        }
        return bytes
    }
}

extension HistoryLine {
    /// Answers when it is its turn; not at all if nobody waits by then.
    fileprivate func post(
        _ responder: HTTPResponder, _ answer: @escaping @Sendable (HTTPResponse) -> Void,
        _ response: @escaping @Sendable () -> HTTPResponse
    ) {
        let allowance = HistoryAllowance(events: 0)
        let job = Job(allowance: allowance) {
            // Whoever has left hears nothing; a server that stops says so.
            answer(
                allowance.isGivenUp
                    ? HTTPResponse(refusing: 503, "The server is stopping.") : response())
        }
        guard post(job) else {
            let message = "Too many such questions are waiting; try again later."
            return answer(HTTPResponse(refusing: 503, message))
        }
        responder.whenLeft { allowance.giveUp() }
    }
}

extension Duration {
    fileprivate var milliseconds: Double {
        let (seconds, attoseconds) = components
        // Microseconds are precise enough for people.
        return Double(seconds * 1_000_000 + attoseconds / 1_000_000_000_000) / 1_000
    }
}
