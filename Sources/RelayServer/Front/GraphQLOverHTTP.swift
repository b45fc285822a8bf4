package import GraphQLExecution
package import RelayJSON
import WebSocketIO

/// GraphQL over HTTP (the GraphQL-over-HTTP specification): requests out of HTTP requests, and HTTP
/// responses out of outcomes.
enum GraphQLOverHTTP {
    static let responseMediaType = "application/graphql-response+json"
    static let legacyMediaType = "application/json"

    /// Why an HTTP request is no GraphQL request, as the answer to it.
    struct Refusal: Error {
        let response: HTTPResponse
    }

    /// Reads the request of a POST or a GET.
    static func request(_ http: HTTPRequest) throws(Refusal) -> GraphQLRequest {
        switch http.method {
        case "POST": try post(http)
        case "GET": try get(http)
        default:
            throw refusal(
                405, "Method \(http.method) is not allowed here: use POST, or GET for queries.",
                http, headers: ["allow": "GET, POST"])
        }
    }

    private static func post(_ http: HTTPRequest) throws(Refusal) -> GraphQLRequest {
        let mediaType = (http.headers["content-type"] ?? "").split(separator: ";").first ?? ""
        guard mediaType.lowercased().filter({ $0 != " " }) == legacyMediaType else {
            throw refusal(
                415, "A POST needs the header \"content-type: application/json\".", http)
        }
        let body: JSONValue
        do throws(JSONError) {
            body = try JSONValue(parsing: http.body)
        } catch {
            throw refusal(400, "The body is not JSON. \(error)", http)
        }
        guard case .object(let parameters) = body else {
            throw refusal(400, "The body must be a JSON object, not \(body.kindName).", http)
        }
        return try request(parameters, http)
    }

    private static func get(_ http: HTTPRequest) throws(Refusal) -> GraphQLRequest {
        var parameters = JSONObject()
        for name in ["query", "operationName"] {
            if let value = http.queryValue(name) { parameters[name] = .string(value) }
        }
        for name in ["variables", "extensions"] {
            guard let text = http.queryValue(name) else { continue }
            do throws(JSONError) {
                parameters[name] = try JSONValue(parsing: text)
            } catch {
                throw refusal(400, "The parameter \"\(name)\" is not JSON. \(error)", http)
            }
        }
        return try request(parameters, http)
    }

    private static func request(
        _ parameters: JSONObject, _ http: HTTPRequest
    ) throws(Refusal) -> GraphQLRequest {
        do throws(ExecutionError) {
            return try GraphQLRequest(parameters)
        } catch {
            throw refusal(400, error.message, http)
        }
    }

    // MARK: Answers

    /// The answer with an outcome: §Status codes.
    static func response(_ outcome: Outcome, to http: HTTPRequest) -> HTTPResponse {
        switch outcome {
        case .executed(let response):
            return answer(200, response.bytes, to: http)
        case .refused(let errors):
            // A client that asks for the old media type expects 200 for a well-formed request.
            let status = mediaType(for: http) == legacyMediaType ? 200 : 400
            return answer(status, Response(refused: errors).bytes, to: http)
        }
    }

    static func refusal(
        _ status: Int, _ message: String, _ http: HTTPRequest, headers: HTTPHeaders = [:]
    ) -> Refusal {
        let error = ExecutionError(message, code: .badUserInput)
        var response = answer(status, Response(refused: [error]).bytes, to: http)
        for field in headers.fields { response.headers.append(field.name, field.value) }
        return Refusal(response: response)
    }

    private static func answer(
        _ status: Int, _ bytes: [UInt8], to http: HTTPRequest
    ) -> HTTPResponse {
        HTTPResponse(
            status: status, headers: ["content-type": "\(mediaType(for: http)); charset=utf-8"],
            body: bytes)
    }

    /// What the client accepts; clients that say nothing get the old type (§Legacy watershed).
    private static func mediaType(for http: HTTPRequest) -> String {
        let accepted = http.headers.list(in: "accept").map {
            $0.split(separator: ";").first.map(String.init) ?? ""
        }
        for type in accepted {
            switch type.trimmed {
            case responseMediaType: return responseMediaType
            case legacyMediaType, "*/*", "application/*": return legacyMediaType
            default: continue
            }
        }
        return legacyMediaType
    }
}

extension GraphQLRequest {
    /// Reads the parameters of a request, as a POST's body or a `subscribe` payload has them.
    package init(_ parameters: JSONObject) throws(ExecutionError) {
        guard let query = parameters["query"]?.string else {
            throw ExecutionError("A request needs a \"query\" that is a string.", code: .badUserInput)
        }
        self.init(query: query)
        switch parameters["operationName"] {
        case nil, .null?: break
        case .string(let name)?: operationName = name.isEmpty ? nil : name
        case let other?: throw Self.wrong("operationName", "a string", other)
        }
        variables = try Self.object("variables", parameters)
        extensions = try Self.object("extensions", parameters)
    }

    private static func object(
        _ name: String, _ parameters: JSONObject
    ) throws(ExecutionError) -> JSONObject {
        switch parameters[name] {
        case nil, .null?: return [:]
        case .object(let object)?: return object
        case let other?: throw wrong(name, "an object", other)
        }
    }

    private static func wrong(
        _ name: String, _ expected: String, _ found: JSONValue
    ) -> ExecutionError {
        ExecutionError(
            "\"\(name)\" of a request must be \(expected), not \(found.kindName).",
            code: .badUserInput)
    }
}

extension JSONValue {
    /// What the value is, for messages.
    var kindName: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .int, .double: "a number"
        case .string: "a string"
        case .array: "a list"
        case .object: "an object"
        }
    }
}

extension String {
    fileprivate var trimmed: String {
        String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
