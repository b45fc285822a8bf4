import HTTPMessages
import Logging
import RelayJSON
import Testing

@testable import RelayServer

/// Keys at a URL, and a server that lets in whoever has a token that they have signed.
@Suite(.bounded, .timeLimit(.minutes(10)))
struct FetchedKeyTests {
    private static let one = TokenSigner("one")
    private static let two = TokenSigner("two")

    private static func run(
        _ behaviour: KeyProvider.Behaviour,
        _ body: (_ server: RunningServer, _ provider: KeyProvider) async throws -> Void
    ) async throws {
        try await KeyProvider.run(behaviour) { provider, url, _ in
            try await RunningServer.run({ configuration in
                configuration.schema = "type Query { me: String! }"
                configuration.seed = nil
                configuration.handlers.resolve("Query.me") { $0.viewer ?? "nobody" }
                configuration.tokens = ["root"]
                configuration.webTokens = Server.WebTokenOptions(keysURL: url)
            }) { try await body($0, provider) }
        }
    }

    private static func me(_ server: RunningServer, _ token: String) async throws -> String {
        let response = try await server.post(
            ["query": "{ me }"], headers: ["authorization": "Bearer \(token)"])
        return response.json?["data"]?["me"]?.string ?? "\(response.status)"
    }

    private static func metrics(_ server: RunningServer) async throws -> [String] {
        let response = try await server.send(
            "GET", "/metrics", headers: ["authorization": "Bearer root"])
        return String(decoding: response.body, as: UTF8.self).split(separator: "\n")
            .filter { $0.hasPrefix("relay_jwt_") }.map(String.init)
    }

    @Test func aNewKeyIsKnownSoonAfterItsFirstToken() async throws {
        try await Self.run(KeyProvider.keys(Self.one)) { server, provider in
            #expect(try await Self.me(server, Self.one.token("ada")) == "ada")
            #expect(try await Self.me(server, "root") == "nobody")
            provider.behave(KeyProvider.keys(Self.one, Self.two))
            let token = Self.two.token("bob")
            #expect(try await Self.me(server, token) == "401")
            let viewer = try await eventually("the new key") {
                let viewer = try await Self.me(server, token)
                return viewer == "401" ? nil : viewer
            }
            #expect(viewer == "bob")
            #expect(try await Self.me(server, Self.one.token("ada")) == "ada")
            #expect(
                try await Self.metrics(server) == [
                    #"relay_jwt_key_fetches_total{outcome="changed"} 2"#,
                    #"relay_jwt_key_fetches_total{outcome="unchanged"} 0"#,
                    #"relay_jwt_key_fetches_total{outcome="failed"} 0"#, "relay_jwt_keys 2",
                ])
        }
    }

    /// Only a name that is unknown asks for new keys; a wrong signature or a text does not.
    @Test func strangersCannotMakeItFetchOften() async throws {
        try await Self.run(KeyProvider.keys(Self.one)) { server, provider in
            for number in 0..<20 {
                for token in [
                    Self.two.token("eve", keyID: "one"), Self.one.token("ada") + "A", "x.y.z",
                ] {
                    let answer = try await Self.me(server, token)
                    #expect(answer == "401", "\(number)")
                }
            }
            #expect(provider.requests.count == 1)
            for number in 0..<60 {
                let token = Self.two.token("eve", keyID: "\(number)")
                let answer = try await Self.me(server, token)
                #expect(answer == "401")
            }
            // Unless this took half a minute, which a busy machine may need.
            #expect(provider.requests.count <= 3)
        }
    }

    @Test func withoutKeysTokensAreRefusedUntilTheyCome() async throws {
        try await Self.run(KeyProvider.text("", status: 503)) { server, provider in
            let token = Self.one.token("ada")
            #expect(try await Self.me(server, token) == "401")
            #expect(try await Self.me(server, "root") == "nobody")
            let ready = try await server.send("GET", "/readyz")
            #expect(ready.status == 503)
            #expect(String(decoding: ready.body, as: UTF8.self).contains("keys"))
            #expect(try await server.send("GET", "/healthz").status == 200)
            provider.behave(KeyProvider.keys(Self.one))
            let viewer = try await eventually("the keys") {
                let viewer = try await Self.me(server, token)
                return viewer == "401" ? nil : viewer
            }
            #expect(viewer == "ada")
            #expect(try await server.send("GET", "/readyz").status == 200)
        }
    }

    @Test func aServerStopsWhileItFetches() async throws {
        try await Self.run(KeyProvider.keys(Self.one)) { server, provider in
            provider.behave(.hang)
            #expect(try await Self.me(server, Self.two.token("bob")) == "401")
            try await eventually("the request") { provider.requests.count == 2 ? true : nil }
            await server.server.stop()
        }
    }

    @Test func whatIsNoKeysEndsTheStart() async throws {
        try await KeyProvider.run(KeyProvider.text("", status: 404)) { _, url, _ in
            for (url, expected) in [
                (url, "Could not fetch the keys from \(url): it answered with HTTP status 404."),
                (
                    "http://example.com/jwks.json",
                    "The server was not started: webTokens.keys are not fetched: over http://"
                ),
            ] {
                var configuration = Server.Configuration(
                    schema: "type Query { a: Int }", storage: .memory)
                configuration.port = 0
                configuration.webTokens = Server.WebTokenOptions(keysURL: url)
                let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
                let error = await #expect(throws: (any Error).self) {
                    _ = try await Server.start(configuration, logger: logger)
                }
                #expect(error.map { "\($0)" }?.hasPrefix(expected) == true)
            }
        }
    }
}
