import GraphQLTransportWS
import RelayJSON
@_spi(Rooms) import RelayRecords
import Synchronization
import Testing
import WebSocketTesting

@testable import HTTPMessages
@testable import RelayServer
@testable import WebSocketIO

/// Who clients are, by the tokens that they show.
@Suite(.bounded, .timeLimit(.minutes(10)))
struct AuthenticationTests {
    /// Says who asks.
    private static func run(
        _ change: (inout Server.Configuration) -> Void,
        _ body: (RunningServer) async throws -> Void
    ) async throws {
        try await RunningServer.run(
            { configuration in
                configuration.schema = "type Query { me: String! }"
                configuration.seed = nil
                configuration.handlers.resolve("Query.me") { $0.viewer ?? "nobody" }
                change(&configuration)
            }, body)
    }

    private static func withViewers(_ body: (RunningServer) async throws -> Void) async throws {
        try await run(
            {
                $0.tokens = ["root"]
                $0.viewerTokens = [
                    Server.ViewerToken(viewer: "ada", token: "a"),
                    Server.ViewerToken(viewer: "ada", token: "a2"),
                    Server.ViewerToken(viewer: "bob", token: "b=c"),
                ]
            }, body)
    }

    @Test func aTokenSaysWhoAsksOverHTTP() async throws {
        try await Self.withViewers { server in
            func me(_ headers: HTTPHeaders) async throws -> String? {
                let response = try await server.post(["query": "{ me }"], headers: headers)
                return response.json?["data"]?["me"]?.string ?? "\(response.status)"
            }
            for (token, expected) in [
                ("Bearer a", "ada"), ("bearer a2", "ada"), ("Bearer b=c", "bob"),
                ("Bearer root", "nobody"), ("Bearer A", "401"), ("Bearer", "401"),
                ("Bearer ", "401"), ("Basic a", "401"), ("a", "401"), ("Bearer ada=a", "401"),
                ("", "401"),
            ] {
                let viewer = try await me(["authorization": token])
                #expect(viewer == expected, "\(token)")
            }
            // Whoever shows nothing is let in, and is nobody.
            let viewer = try await me([:])
            #expect(viewer == "nobody")
        }
    }

    /// A cache between must not give one viewer's answer to another.
    @Test func answersThatDependOnWhoAsksAreNotKept() async throws {
        try await Self.withViewers { server in
            for (token, status) in [("Bearer a", 200), ("Bearer wrong", 401), (nil, 200)] {
                let headers: HTTPHeaders = token.map { ["authorization": $0] } ?? [:]
                let response = try await server.get([("query", "{ me }")], headers: headers)
                #expect(response.status == status)
                #expect(response.headers["cache-control"] == "no-store")
                #expect(response.headers.list(in: "vary").contains("authorization"))
                #expect(response.headers.list(in: "vary").contains("cookie"))
            }
        }
        try await Self.run({ _ in }) { server in
            let response = try await server.get([("query", "{ me }")])
            #expect(response.status == 200)
            #expect(response.headers["cache-control"] == nil)
        }
    }

    /// They tell of the requests of all viewers.
    @Test func metricsAreForTokensWithoutAName() async throws {
        try await Self.withViewers { server in
            for (token, status) in [("root", 200), ("a", 403), ("wrong", 401)] {
                let response = try await server.send(
                    "GET", "/metrics", headers: ["authorization": "Bearer \(token)"])
                #expect(response.status == status, "\(token)")
            }
            #expect(try await server.send("GET", "/metrics").status == 401)
        }
    }

    // MARK: WebSocket

    /// A client that asks who it is.
    private struct Client {
        let channel: WebSocketChannel

        init(_ server: RunningServer, headers: HTTPHeaders = [:], _ payload: JSONObject?)
            async throws
        {
            channel = try await server.connect(headers: headers)
            send(.connectionInit(payload: payload))
        }

        func send(_ message: ClientMessage) {
            channel.connection.send(OutgoingMessage(.text, message.bytes))
        }

        /// Who it is for the server; the code with which the connection was closed if it is nobody to talk to.
        func me(_ id: String = "1") async throws -> String? {
            send(.subscribe(id: id, payload: ["query": "{ me }"]))
            for await message in channel {
                if case .next(id, let result) = try ServerMessage(message.bytes) {
                    return result["data"]?["me"]?.string
                }
            }
            return channel.close.map { "\($0.code)" }
        }

        func ping(_ payload: JSONObject) { send(.ping(payload: payload)) }
    }

    /// A session of the program's own: by a cookie, or in connection_init.
    @Test func aProgramMaySayWhoAsks() async throws {
        try await Self.run({ configuration in
            configuration.viewerTokens = [Server.ViewerToken(viewer: "ada", token: "a")]
            configuration.authenticate { headers, payload in
                if headers["cookie"] == "broken" { throw HandlerError("no", code: "NO") }
                if let session = payload?["session"]?.stringValue { return Viewer(id: session) }
                return headers["cookie"].map { Viewer(id: $0) }
            }
        }) { server in
            for (headers, expected) in [
                (["cookie": "bob"], "bob"), ([:], "nobody"), (["cookie": "broken"], "401"),
                (["authorization": "Bearer a", "cookie": "bob"], "ada"),
                (["authorization": "Bearer x"], "401"), (["cookie": ""], "401"),
            ] as [(HTTPHeaders, String)] {
                let response = try await server.post(["query": "{ me }"], headers: headers)
                let viewer = response.json?["data"]?["me"]?.string ?? "\(response.status)"
                #expect(viewer == expected, "\(headers)")
            }
            for (headers, payload, expected) in [
                (["cookie": "bob"], nil, "bob"), ([:], ["session": "cid"], "cid"),
                (["cookie": "bob"], ["session": "cid"], "bob"), ([:], ["token": "a"], "ada"),
                ([:], ["token": "x"], "4403"), ([:], [:], "nobody"),
            ] as [(HTTPHeaders, JSONObject?, String)] {
                let client = try await Client(server, headers: headers, payload)
                let viewer = try await client.me()
                #expect(viewer == expected, "\(headers) \(String(describing: payload))")
                client.channel.connection.close()
            }
            // A ping of another session is another viewer's.
            let client = try await Client(server, headers: [:], ["session": "cid"])
            client.ping(["session": "cid"])
            let same = try await client.me()
            #expect(same == "cid")
            client.ping(["session": "bob"])
            let other = try await client.me("2")
            #expect(other == "4403")
        }
    }

    /// A program's session ends as a token does; a ping may renew it.
    @Test func whatAProgramSaysMayEnd() async throws {
        let end = Atomic<Int64>(0)
        try await Self.run({ configuration in
            configuration.authenticate { headers, _ in
                switch headers["cookie"] {
                case "over": Viewer(id: "bob", expiresAt: WallClock.microseconds())
                case "bob": Viewer(id: "bob", expiresAt: end.load(ordering: .relaxed))
                default: nil
                }
            }
        }) { server in
            let later = WallClock.microseconds() + 3_600_000_000
            end.store(later, ordering: .relaxed)
            let client = try await Client(server, headers: ["cookie": "bob"], nil)
            #expect(try await client.me("1") == "bob")
            // The same viewer, until another time.
            end.store(later + 1, ordering: .relaxed)
            client.ping(["session": "renewed"])
            #expect(try await client.me("2") == "bob")
            end.store(WallClock.microseconds() + 100_000, ordering: .relaxed)
            client.ping(["session": "soon"])
            for await _ in client.channel {}
            #expect(client.channel.close?.code == 4403)

            let response = try await server.post(["query": "{ me }"], headers: ["cookie": "over"])
            #expect(response.status == 401)
            await #expect(throws: (any Error).self) {
                try await Client(server, headers: ["cookie": "over"], nil).me()
            }
        }
    }

    @Test func aTokenSaysWhoAsksOverWebSocket() async throws {
        try await Self.withViewers { server in
            func me(_ headers: HTTPHeaders, _ payload: JSONObject?) async throws -> String? {
                let client = try await Client(server, headers: headers, payload)
                defer { client.channel.connection.close() }
                return try await client.me()
            }
            for (headers, payload, expected) in [
                ([:], nil, "nobody"), ([:], ["token": "a"], "ada"),
                ([:], ["authorization": "Bearer b=c"], "bob"), ([:], ["token": "wrong"], "4403"),
                (["authorization": "Bearer b=c"], nil, "bob"),
                // What the handshake said counts.
                (["authorization": "Bearer b=c"], ["token": "a"], "bob"),
            ] as [(HTTPHeaders, JSONObject?, String)] {
                let viewer = try await me(headers, payload)
                #expect(viewer == expected, "\(headers) \(String(describing: payload))")
            }
            await #expect(throws: (any Error).self) {
                try await me(["authorization": "Bearer wrong"], ["token": "a"])
            }
        }
    }

    @Test func aPingMayBringANewTokenOfTheSameViewer() async throws {
        try await Self.withViewers { server in
            for (payload, expected) in [
                (["token": "a2"], "ada"), (["authorization": "Bearer a"], "ada"),
                (["relay": ["cursor": "x"]], "ada"), (["token": 7], "ada"), ([:], "ada"),
                (["token": "b=c"], "4403"), (["token": "wrong"], "4403"),
                (["authorization": "Basic a"], "4403"), (["token": "root"], "4403"),
            ] as [(JSONObject, String)] {
                let client = try await Client(server, ["token": "a"])
                #expect(try await client.me("1") == "ada")
                client.ping(payload)
                #expect(try await client.me("2") == expected, "\(payload)")
                client.channel.connection.close()
            }
            // Streams have begun as those of somebody who may do everything.
            let client = try await Client(server, ["token": "root"])
            #expect(try await client.me("1") == "nobody")
            client.ping(["token": "a"])
            #expect(try await client.me("2") == "4403")
        }
    }

    @Test func withoutAuthenticationTokensAreNotLookedAt() async throws {
        try await Self.run({ _ in }) { server in
            let client = try await Client(server, ["token": "whatever"])
            #expect(try await client.me("1") == "nobody")
            client.ping(["token": "something else"])
            #expect(try await client.me("2") == "nobody")
            client.channel.connection.close()
        }
    }

    // MARK: Open servers

    @Test(arguments: ["0.0.0.0", "::", "192.0.2.1", "relay.example"])
    func whatOthersCanReachIsOpenOnlyIfThatIsSaid(_ host: String) throws {
        var configuration = Server.Configuration(schema: "", storage: .memory)
        configuration.host = host
        let error = #expect(throws: ConfigurationError.self) { try configuration.check() }
        #expect(error?.description.contains("everybody who reaches \(host)") == true)
        configuration.isOpen = true
        try configuration.check()
        configuration.isOpen = false
        configuration.viewerTokens = [Server.ViewerToken(viewer: "ada", token: "a")]
        try configuration.check()
    }

    @Test(arguments: ["127.0.0.1", "localhost", "::1", "127.8.9.255"])
    func aMachineIsOpenToItself(_ host: String) throws {
        var configuration = Server.Configuration(schema: "", storage: .memory)
        configuration.host = host
        try configuration.check()
    }

    @Test(
        arguments: [
            ([""], []), (["a", "a"], []), ([], [("ada", "")]), ([], [("", "a")]),
            (["a"], [("ada", "a")]), ([], [("ada", "a"), ("bob", "a")]),
        ] as [([String], [(String, String)])])
    func tokensSayWhoShowsThem(tokens: [String], viewers: [(String, String)]) {
        var configuration = Server.Configuration(schema: "", storage: .memory)
        configuration.tokens = tokens
        configuration.viewerTokens = viewers.map { Server.ViewerToken(viewer: $0, token: $1) }
        #expect(throws: ConfigurationError.self) { try configuration.check() }
    }

    @Test(arguments: [
        ("127.0.0.1:8080", true), ("localhost", true), ("LocalHost:80", true),
        ("[::1]:8080", true), ("127.1.2.3", true), ("dev.example:99", true),
        ("evil.example", false), ("127.0.0.1.evil.example", false), ("127.0.0", false),
        ("127.0.0.256", false), ("127.0.0.+1", false), ("localhost.evil.example", false),
        ("[::2]", false), ("dev.example.evil", false), ("", false),
    ])
    func anOpenServerKnowsItsNames(_ host: String, isAdmitted: Bool) {
        let request = HTTPRequest(
            method: "GET", path: "/graphql", query: [], headers: ["host": host], body: [],
            peerAddress: "127.0.0.1", isSecure: false)
        let open = Authentication(tokens: [])
        func admits(
            _ authentication: Authentication, _ address: String, _ names: [String]
        ) -> Bool {
            HostPolicy(for: authentication, listeningOn: address, allowing: names)
                .admits(request)
        }
        #expect(admits(open, "127.0.0.1", ["Dev.Example"]) == isAdmitted)
        #expect(admits(open, "127.0.0.1", ["*"]))
        // Whoever shows no token is let in by such a name only.
        let viewers = Authentication(
            tokens: [], viewers: [Server.ViewerToken(viewer: "ada", token: "a")])
        let policy = HostPolicy(
            for: viewers, listeningOn: "127.0.0.1", allowing: ["Dev.Example"])
        #expect(policy.admits(request))
        #expect(policy.admitsWithoutToken(request) == isAdmitted)
        // Names do not matter where tokens are needed.
        #expect(admits(Authentication(tokens: ["root"]), "127.0.0.1", ["Dev.Example"]))
    }

    /// A container listens on 0.0.0.0, and its port may be published to one machine only.
    @Test(arguments: [
        ("127.0.0.1:8080", true), ("localhost", true), ("[::1]:8080", true),
        ("192.168.1.5:8080", true), ("[fe80::1]:8080", true), ("server:8080", true),
        ("host.docker.internal", true), ("relay.default.svc.cluster.local", true),
        ("dev.example", true), ("evil.example", false), ("127.0.0.1.evil.example", false),
        ("1.2.3.256", false), ("server.evil", false), ("local.evil", false), ("", false),
    ])
    func anOpenServerOfANetworkKnowsTheNamesOfPrivateUse(_ host: String, isAdmitted: Bool) {
        let request = HTTPRequest(
            method: "GET", path: "/graphql", query: [], headers: ["host": host], body: [],
            peerAddress: "127.0.0.1", isSecure: false)
        let policy = HostPolicy(
            for: Authentication(tokens: []), listeningOn: "0.0.0.0", allowing: ["dev.example"])
        #expect(policy.admits(request) == isAdmitted)
    }

    /// A page can give its own name this address, and then asks as if it were the server's own (DNS rebinding).
    @Test func whoeverCallsAnOpenServerByAnotherNameGetsNothing() async throws {
        try await Self.run({ _ in }) { server in
            for request in [
                "GET /graphql?query=%7Bme%7D", "GET /healthz", "GET /metrics", "GET /nothing",
                "POST /graphql", "OPTIONS /graphql",
            ] {
                let client = try RawClient(port: server.server.port)
                try client.send(
                    """
                    \(request) HTTP/1.1\r\nhost: evil.example\r\ncontent-type: application/json\r\n\
                    content-length: 14\r\n\r\n{"query":"{me}"}
                    """)
                let line = try await client.read(through: "\r\n")
                #expect(line == "HTTP/1.1 421 Misdirected Request\r\n", "\(request)")
            }
            let client = try RawClient(port: server.server.port)
            try client.send(
                """
                GET /graphql HTTP/1.1\r\nhost: evil.example\r\nupgrade: websocket\r\nconnection: upgrade\r\n\
                sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
                sec-websocket-protocol: graphql-transport-ws\r\n\r\n
                """)
            let line = try await client.read(through: "\r\n")
            #expect(line.hasPrefix("HTTP/1.1 421"))
        }
    }
}
