import GraphQLExecution
import GraphQLLanguage
import HTTPMessages
import RelayJSON
import StoreEngine
import WebSocketIO

/// One exchange of GraphQL over HTTP, by its specification: a request out of an HTTP request, and the HTTP
/// response to what became of it.
struct GraphQLOverHTTP {
    /// Why an HTTP request is not a GraphQL request, as the response to it.
    struct Refusal: Error {
        let response: HTTPResponse
    }

    private let http: HTTPRequest
    private let mediaType: ResponseMediaType

    /// - Throws: 405, 406.
    init(_ http: HTTPRequest) throws(Refusal) {
        self.http = http
        guard ["GET", "HEAD", "POST"].contains(http.method) else {
            throw Self.refusal(
                405, "Method \(http.method) is not allowed here: use POST, or GET for queries.",
                as: .negotiated(http.headers) ?? .json,
                headers: ["allow": "GET, HEAD, POST, OPTIONS"])
        }
        guard let mediaType = ResponseMediaType.negotiated(http.headers) else {
            let types = ResponseMediaType.allCases.map(\.rawValue).joined(separator: ", ")
            throw Self.refusal(
                406, "Responses are \(types), in UTF-8; the header \"accept\" allows none.",
                as: .json)
        }
        self.mediaType = mediaType
    }

    /// The client wants results as server-sent events.
    var wantsEventStream: Bool { mediaType == .eventStream }

    /// A safe method: it may ask, and change nothing.
    private var isSafe: Bool { http.method != "POST" }

    // MARK: The request

    /// Reads the GraphQL request.
    /// - Throws: 400, 415.
    func request(from identity: Identity) throws(Refusal) -> GraphQLRequest {
        let parameters = isSafe ? try parametersOfURL() : try parametersOfBody()
        do throws(ExecutionError) {
            var request = try GraphQLRequest(parameters, from: identity)
            // A browser that has lost an event stream says how far it has come (HTML §9.2.4).
            if wantsEventStream, let cursor = http.headers["last-event-id"],
                request.resumeCursor == nil
            {
                request.resume(behind: cursor)
            }
            return request
        } catch {
            throw refusal(400, error)
        }
    }

    /// Checks what the head says of the body, so that a client can be answered before it sends one (RFC 9110
    /// §10.1.1).
    /// - Throws: 415.
    func checkBodyType() throws(Refusal) {
        if isSafe { return }
        if let mistake = http.jsonTypeMistake { throw refusal(415, mistake) }
    }

    private func parametersOfBody() throws(Refusal) -> JSONObject {
        try checkBodyType()
        let body: JSONValue
        do throws(JSONError) {
            body = try JSONValue(parsing: http.body)
        } catch {
            throw refusal(400, "The body is not JSON. \(error)")
        }
        guard case .object(let parameters) = body else {
            throw refusal(400, "The body must be a JSON object, not \(body.kindName).")
        }
        return parameters
    }

    private func parametersOfURL() throws(Refusal) -> JSONObject {
        var parameters = JSONObject()
        for name in ["query", "documentId", "operationName"] {
            if let value = http.queryValue(name) { parameters[name] = .string(value) }
        }
        for name in ["variables", "extensions"] {
            guard let text = http.queryValue(name), !text.isEmpty else { continue }
            do throws(JSONError) {
                parameters[name] = try JSONValue(parsing: text)
            } catch {
                throw refusal(400, "The parameter \"\(name)\" is not JSON. \(error)")
            }
        }
        return parameters
    }

    /// Checks that the method may do what the operation does.
    /// - Throws: 405 (§GET).
    func check(_ operation: PreparedOperation) throws(Refusal) {
        guard isSafe, operation.kind == .mutation else { return }
        throw refusal(
            405, "A mutation cannot be sent with \(http.method); use POST.",
            headers: ["allow": "POST"])
    }

    // MARK: The response

    /// The answer with an outcome: §Status Codes.
    func response(_ outcome: Outcome) -> HTTPResponse {
        let status =
            switch outcome {
            case .executed: 200
            case .refused(let errors): errors.httpStatus
            case .stopping: Outcome.stoppingErrors.httpStatus
            case .overtaken: Outcome.overtakenErrors.httpStatus
            }
        // A client that asks for the older type relies on 200 for every well-formed request.
        var answer = Self.answer(mediaType == .json ? 200 : status, outcome.response, as: mediaType)
        if answer.status == 401 { answer.headers.append(Authentication.challenge) }
        return answer
    }

    func refusal(_ status: Int, _ message: String, headers: HTTPHeaders = [:]) -> Refusal {
        Self.refusal(status, message, as: mediaType, headers: headers)
    }

    func refusal(_ status: Int, _ error: ExecutionError, headers: HTTPHeaders = [:]) -> Refusal {
        Self.refusal(status, error, as: mediaType, headers: headers)
    }

    private static func refusal(
        _ status: Int, _ message: String, as mediaType: ResponseMediaType,
        headers: HTTPHeaders = [:]
    ) -> Refusal {
        refusal(
            status, ExecutionError(message, code: .badUserInput), as: mediaType, headers: headers)
    }

    private static func refusal(
        _ status: Int, _ error: ExecutionError, as mediaType: ResponseMediaType,
        headers: HTTPHeaders
    ) -> Refusal {
        var response = answer(status, Response(refused: [error]), as: mediaType)
        response.headers.append(headers)
        return Refusal(response: response)
    }

    private static func answer(
        _ status: Int, _ response: Response, as mediaType: ResponseMediaType
    ) -> HTTPResponse {
        // Everything but an event stream is a single response.
        let mediaType = mediaType == .eventStream ? .graphQLResponse : mediaType
        return HTTPResponse(
            status: status, headers: ["content-type": "\(mediaType.rawValue); charset=utf-8"],
            body: response.bytes)
    }
}

extension [ExecutionError] {
    /// The status of a response without data.
    fileprivate var httpStatus: Int {
        switch first?.code {
        case .unauthenticated?: 401
        case .forbidden?: 403
        case .storageFull?, .overloaded?, .outcomeUnknown?: 503
        default: 400
        }
    }
}

extension HTTPRequest {
    /// Why the body cannot be read as JSON, by what the head says; nil if it can.
    var jsonTypeMistake: String? {
        let type = headers["content-type"].map(MediaType.init)
        guard let type, type.name == "application/json", type.isUTF8 else {
            return "A POST needs the header \"content-type: application/json\", in UTF-8."
        }
        let encodings = headers.list(in: "content-encoding")
        return encodings.first { $0.lowercased() != "identity" }
            .map { "The body must not be encoded; it is \"\($0)\"." }
    }
}

extension HTTPHeaders {
    mutating func append(_ other: HTTPHeaders) {
        for field in other.fields { append(field.name, field.value) }
    }
}
