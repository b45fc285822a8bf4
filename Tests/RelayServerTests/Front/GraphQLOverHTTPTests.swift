import GraphQLExecution
import RelayJSON
import StoreEngine
import Testing

@testable import HTTPMessages
@testable import RelayServer
@testable import WebSocketIO

/// The GraphQL-over-HTTP specification, over a real connection.
@Suite(.bounded, .timeLimit(.minutes(10)))
struct GraphQLOverHTTPTests {
    private static let new = "application/graphql-response+json"
    private static let old = "application/json"

    /// A request body and the statuses it gets, as the new media type and as the old one.
    private static let statuses: [(body: String, new: Int, old: Int)] = [
        (#"{"query": "{ __typename }"}"#, 200, 200),
        (#"{"query": "{ __typename }", "operationName": null, "variables": null}"#, 200, 200),
        (#"{"query": "{ __typename }", "operationName": "", "extensions": null}"#, 200, 200),
        // Field errors: the request was executed.
        (#"{"query": "{ user { todos(first: -1) { edges { cursor } } } }"}"#, 200, 200),
        // No well-formed requests.
        ("NONSENSE", 400, 400),
        (#"{"query":"#, 400, 400),
        ("[]", 400, 400),
        ("", 400, 400),
        (#"{"qeury": "{ __typename }"}"#, 400, 400),
        (#"{"query": 7}"#, 400, 400),
        (#"{"query": "{ __typename }", "variables": [7]}"#, 400, 400),
        (#"{"query": "{ __typename }", "operationName": 1}"#, 400, 400),
        (#"{"query": "{ __typename }", "extensions": "x"}"#, 400, 400),
        // Well-formed ones that cannot be executed.
        (#"{"query": "{"}"#, 400, 200),
        (#"{"query": ""}"#, 400, 200),
        (#"{"query": "{ nothing }"}"#, 400, 200),
        (#"{"query": "query A { __typename }", "operationName": "B"}"#, 400, 200),
        (#"{"query": "query A { __typename } query B { __typename }"}"#, 400, 200),
        (#"{"query": "query ($i: ID!) { node(id: $i) { id } }"}"#, 400, 200),
        (#"{"query": "subscription { todoAdded { todo { id } } }"}"#, 400, 200),
    ]

    @Test func statusesFollowTheMediaType() async throws {
        try await RunningServer.run { server in
            for (body, new, old) in Self.statuses {
                for (type, status) in [(Self.new, new), (Self.old, old)] {
                    let response = try await server.send(
                        "POST", headers: ["content-type": Self.old, "accept": type],
                        body: Array(body.utf8))
                    #expect(response.status == status, "\(body) as \(type)")
                    #expect(response.headers["content-type"] == "\(type); charset=utf-8")
                    let json = try #require(response.json, "\(body)")
                    // GraphQL §7.1: errors without data, or data.
                    #expect((json["data"] == nil) == (response.status != 200 || new != 200))
                    #expect(json["data"] != nil || json["errors"]?.array?.isEmpty == false)
                }
            }
        }
    }

    @Test func aRequestThatNoTypeFitsIsNotExecuted() async throws {
        try await RunningServer.run { server in
            let response = try await server.post(
                ["query": .string(Self.addTodo)], accept: "text/html")
            #expect(response.status == 406)
            #expect(response.json?.firstErrorMessage?.contains("accept") == true)
            #expect(try await server.todoCount() == 2)
        }
    }

    private static let contentTypes: [(type: String, status: Int)] = [
        ("application/json", 200), ("application/json; charset=utf-8", 200),
        ("Application/JSON;charset=\"UTF-8\"", 200),
        ("application/json; charset=iso-8859-1", 415), ("text/plain", 415),
        ("application/x-www-form-urlencoded", 415), ("application/graphql", 415), ("", 415),
    ]

    @Test func onlyJSONInUTF8IsTaken() async throws {
        try await RunningServer.run { server in
            for (type, status) in Self.contentTypes {
                let response = try await server.send(
                    "POST", headers: ["content-type": type],
                    body: Array(#"{"query": "{ __typename }"}"#.utf8))
                #expect(response.status == status, "\(type)")
                #expect((response.json?["errors"] == nil) == (status == 200), "\(type)")
            }
        }
    }

    @Test func abnormalBodiesAreRefused() async throws {
        try await RunningServer.run({ $0.limits.connection.bodyBytes = 1_000 }) { server in
            let body = Array(#"{"query": "{ __typename }"}"#.utf8)
            let untyped = try await server.send("POST", body: body)
            #expect(untyped.status == 415)
            let packed = try await server.send(
                "POST", headers: ["content-type": Self.old, "content-encoding": "gzip"], body: body)
            #expect(packed.status == 415)
            let large = try await server.post([
                "query": .string(String(repeating: " ", count: 1_000))
            ])
            #expect(large.status == 413)
        }
    }

    /// RFC 9110 §10.1.1: who asks before sending a body is not told to send one that is refused then.
    @Test func aBodyThatIsNotTakenIsNotAskedFor() async throws {
        try await RunningServer.run { server in
            for fields in [
                "", "content-type: text/plain\r\n",
                "content-type: application/json\r\ncontent-encoding: gzip\r\n",
            ] {
                let client = try RawClient(port: server.server.port)
                try client.send(
                    """
                    POST /graphql HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\
                    \(fields)expect: 100-continue\r\n\r\n
                    """)
                let line = try await client.read(through: "\r\n")
                #expect(line.hasPrefix("HTTP/1.1 415"), "\(fields)")
            }
        }
    }

    // MARK: GET

    @Test func getAnswersQueries() async throws {
        try await RunningServer.run { server in
            let document =
                "query A { a: __typename } query B($n: Int) { user { todos(first: $n) { edges { node { text } } } } }"
            let response = try await server.get([
                ("query", document), ("operationName", "B"), ("variables", #"{"n": 1}"#),
                ("extensions", "{}"),
            ])
            #expect(response.status == 200)
            let edges = response.json?["data"]?["user"]?["todos"]?["edges"]?.array
            #expect(edges?.count == 1)
        }
    }

    /// The connection leaves the body out.
    @Test func headIsReadAsGet() throws {
        let http = HTTPRequest(
            method: "HEAD", path: "/graphql", query: [.init(name: "query", value: "{ a }")],
            headers: [:], body: [], peerAddress: "127.0.0.1", isSecure: false)
        #expect(
            try GraphQLOverHTTP(http).request(from: .nobody)
                == GraphQLRequest(query: "{ a }", identity: .nobody))
    }

    @Test(arguments: [Self.new, Self.old]) func getNeverMutates(type: String) async throws {
        try await RunningServer.run { server in
            let parameters = [
                ("query", "query Q { __typename } \(Self.addTodo)"), ("operationName", "Add"),
            ]
            let response = try await server.get(parameters, headers: ["accept": type])
            #expect(response.status == 405)
            #expect(response.headers["allow"] == "POST")
            #expect(try await server.todoCount() == 2)
        }
    }

    private static let illFormed: [[(String, String)]] = [
        [("variables", "{}")], [], [("query", "{ __typename }"), ("variables", "[7]")],
        [("query", "{ __typename }"), ("variables", "{")],
        [("query", "{ __typename }"), ("extensions", "x")],
    ]

    @Test func illFormedURLsAreRefused() async throws {
        try await RunningServer.run { server in
            for parameters in Self.illFormed {
                let response = try await server.get(parameters, headers: ["accept": Self.old])
                #expect(response.status == 400, "\(parameters)")
                #expect(response.json?.firstErrorMessage != nil, "\(parameters)")
            }
        }
    }

    @Test func otherMethodsAreNamedInTheRefusal() async throws {
        try await RunningServer.run { server in
            for method in ["PUT", "PATCH", "DELETE"] {
                let response = try await server.send(
                    method, headers: ["content-type": Self.old], body: Array("{}".utf8))
                #expect(response.status == 405)
                #expect(response.headers["allow"] == "GET, HEAD, POST, OPTIONS")
                #expect(response.json?.firstErrorMessage?.contains(method) == true)
            }
        }
    }

    // MARK: Who may come in

    /// Who may not is told so before the body is sent.
    @Test func aBodyIsNotAskedForWithoutAToken() async throws {
        try await RunningServer.run({ $0.tokens = ["sesame"] }) { server in
            func answer(_ authorization: String) async throws -> String {
                let client = try RawClient(port: server.server.port)
                try client.send(
                    """
                    POST /graphql HTTP/1.1\r
                    Host: localhost\r
                    Content-Type: application/json\r
                    \(authorization)Content-Length: 30\r
                    Expect: 100-continue\r
                    \r

                    """)
                return try await client.read(through: "\r\n\r\n")
            }
            let refusal = try await answer("")
            #expect(refusal.hasPrefix("HTTP/1.1 401 "), "\(refusal)")
            let asked = try await answer("Authorization: Bearer sesame\r\n")
            #expect(asked.hasPrefix("HTTP/1.1 100 "), "\(asked)")
        }
    }

    /// Many strangers could send much, slowly.
    @Test func aBodyIsNotWaitedForWithoutAToken() async throws {
        try await RunningServer.run({ $0.tokens = ["sesame"] }) { server in
            for framing in ["Content-Length: 4000000", "Transfer-Encoding: chunked"] {
                let client = try RawClient(port: server.server.port)
                try client.send(
                    """
                    POST /graphql HTTP/1.1\r
                    Host: localhost\r
                    Content-Type: application/json\r
                    \(framing)\r
                    \r
                    10\r
                    {"query": "{
                    """)
                let refusal = try await client.read(through: "\r\n\r\n")
                #expect(refusal.hasPrefix("HTTP/1.1 401 "), "\(refusal)")
            }
            for (line, status) in [
                ("POST /other", 404), ("POST /metrics", 405), ("GET /metrics", 413),
                ("OPTIONS /graphql", 413),
            ] {
                let client = try RawClient(port: server.server.port)
                try client.send(
                    "\(line) HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4000000\r\n\r\n{")
                let refusal = try await client.read(through: "\r\n\r\n")
                #expect(refusal.hasPrefix("HTTP/1.1 \(status) "), "\(line): \(refusal)")
            }
        }
    }

    @Test func aTokenIsNeededWhereThereAreTokens() async throws {
        try await RunningServer.run({ $0.tokens = ["sesame", "other"] }) { server in
            let query: JSONValue = ["query": "{ __typename }"]
            for wrong in [[:], ["authorization": "Bearer sesam"], ["authorization": "sesame"]]
                as [HTTPHeaders]
            {
                let response = try await server.post(query, headers: wrong)
                #expect(response.status == 401)
                #expect(response.headers["www-authenticate"] == "Bearer")
                #expect(response.errorCode == "UNAUTHENTICATED")
            }
            for right in ["Bearer sesame", "bearer other"] {
                let response = try await server.post(query, headers: ["authorization": right])
                #expect(response.status == 200)
            }
        }
    }

    fileprivate static let addTodo =
        #"mutation Add { addTodo(input: { text: "x" }) { todo { id } } }"#
}

extension RunningServer {
    func todoCount() async throws -> Int64? {
        let response = try await post(["query": "{ user { totalCount } }"])
        guard case .int(let count)? = response.json?["data"]?["user"]?["totalCount"] else {
            return nil
        }
        return count
    }
}
