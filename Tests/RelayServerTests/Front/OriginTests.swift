import RelayJSON
import Testing
import WebSocketTesting

@testable import HTTPMessages
@testable import RelayServer
@testable import WebSocketIO

@Suite(.bounded, .timeLimit(.minutes(10)))
struct OriginTests {
    private func request(_ headers: HTTPHeaders, method: String = "GET") -> HTTPRequest {
        HTTPRequest(
            method: method, path: "/graphql", query: [], headers: headers, body: [],
            peerAddress: "127.0.0.1", isSecure: false)
    }

    // MARK: The policy

    @Test(arguments: [
        ("https://a.example", true), ("HTTPS://A.Example", true), ("https://a.example:443", true),
        ("http://a.example", false), ("https://a.example:8443", false),
        ("https://a.example.evil", false), ("https://evil", false), ("null", false),
        ("http://localhost:8080", false),
    ])
    func aListIsExact(origin: String, isAllowed: Bool) {
        let policy = OriginPolicy(allowing: ["https://a.example", "http://b.example:3000"])
        let request = request(["origin": origin, "host": "localhost:8080"])
        #expect(policy.admits(upgrade: request) == isAllowed)
        let allowed = policy.headers(for: request)["access-control-allow-origin"]
        #expect(allowed == (isAllowed ? origin : nil))
        #expect(policy.headers(for: request)["vary"] == "Origin")
    }

    @Test(arguments: [
        ("http://127.0.0.1:8080", "127.0.0.1:8080", true),
        ("http://127.0.0.1:3000", "127.0.0.1:8080", true),
        ("http://Relay.Example", "relay.example:8080", true),
        ("http://[::1]:3000", "[::1]:8080", true),
        ("http://[::2]:3000", "[::1]:8080", false),
        ("https://evil.example", "127.0.0.1:8080", false),
        ("http://127.0.0.1.evil.example", "127.0.0.1:8080", false),
        ("null", "127.0.0.1:8080", false),
        ("", "127.0.0.1:8080", false),
    ])
    func withoutAListOnlyPagesOfTheSameHostConnect(origin: String, host: String, isAllowed: Bool) {
        let policy = OriginPolicy()
        let request = request(["origin": origin, "host": host])
        #expect(policy.admits(upgrade: request) == isAllowed)
        #expect(policy.headers(for: request).fields.isEmpty)
    }

    @Test func clientsThatAreNoBrowsersAreNotConcerned() {
        for policy in [OriginPolicy(), OriginPolicy(allowing: ["https://a.example"])] {
            #expect(policy.admits(upgrade: request(["host": "h"])))
        }
    }

    @Test func aPreflightSaysWhatMayBeSent() {
        let policy = OriginPolicy(allowing: ["https://a.example"])
        var asking: HTTPHeaders = [
            "origin": "https://a.example", "access-control-request-method": "POST",
            "access-control-request-headers": "authorization,content-type",
        ]
        let yes = policy.answer(toOptions: request(asking, method: "OPTIONS"), methods: "GET, POST")
        #expect(yes.status == 204)
        #expect(
            yes.headers == [
                "allow": "GET, POST", "access-control-allow-origin": "https://a.example",
                "vary": "Origin", "access-control-allow-methods": "GET, POST",
                "access-control-allow-headers": "authorization,content-type",
                "access-control-max-age": "7200",
            ])
        asking = ["origin": "https://evil.example", "access-control-request-method": "POST"]
        let no = policy.answer(toOptions: request(asking, method: "OPTIONS"), methods: "GET, POST")
        #expect(no.status == 403)
        #expect(no.headers == ["allow": "GET, POST", "vary": "Origin"])
    }

    @Test func anAsteriskIsEveryone() {
        let policy = OriginPolicy(allowing: ["*"])
        let request = request(["origin": "https://anywhere.example"])
        #expect(policy.admits(upgrade: request))
        #expect(policy.headers(for: request)["access-control-allow-origin"] == "*")
    }

    @Test(arguments: [
        ("https://a.example", true), ("http://localhost:3000", true), ("*", true),
        ("capacitor://localhost", true), ("a.example", false), ("https://", false),
        ("https://a.example/", false), ("https://a.example/path", false), ("://x", false),
        ("https://a, https://b", false),
    ])
    func originsAreToldFromOtherTexts(text: String, isOrigin: Bool) {
        #expect(OriginPolicy.isOrigin(text) == isOrigin)
    }

    // MARK: Over a connection

    @Test func aPreflightIsAnsweredWithoutAToken() async throws {
        let allow: (inout Server.Configuration) -> Void = {
            $0.origins = OriginPolicy(allowing: ["https://a.example"])
            $0.tokens = ["sesame"]
        }
        try await RunningServer.run(allow) { server in
            for (origin, status) in [("https://a.example", 204), ("https://evil.example", 403)] {
                let response = try await server.send(
                    "OPTIONS",
                    headers: ["origin": origin, "access-control-request-method": "POST"])
                #expect(response.status == status)
            }
        }
    }

    @Test func everyAnswerCarriesTheHeadersOfAnAllowedOrigin() async throws {
        let allow: (inout Server.Configuration) -> Void = {
            $0.origins = OriginPolicy(allowing: ["https://a.example"])
            $0.tokens = ["sesame"]
        }
        try await RunningServer.run(allow) { server in
            for token in ["sesame", "wrong"] {
                let response = try await server.post(
                    ["query": "{ __typename }"],
                    headers: ["origin": "https://a.example", "authorization": "Bearer \(token)"])
                #expect(response.status == (token == "sesame" ? 200 : 401))
                #expect(response.headers["access-control-allow-origin"] == "https://a.example")
            }
        }
    }

    @Test func webSocketsOfForeignPagesAreRefused() async throws {
        try await RunningServer.run { server in
            let error = await #expect(throws: IOError.self) {
                try await server.connect(headers: ["origin": "https://evil.example"])
            }
            #expect(error?.code == .handshakeRefused(status: 403))
            let channel = try await server.connect(headers: ["origin": "http://127.0.0.1:3000"])
            channel.connection.close()
        }
    }
}
