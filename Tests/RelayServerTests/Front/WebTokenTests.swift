import CCrypto
import Foundation
import GraphQLTransportWS
import Logging
import RelayJSON
@_spi(Rooms) import RelayRecords
import Testing
import WebSocketTesting

@testable import HTTPMessages
@testable import RelayServer
@testable import WebSocketIO

/// JSON Web Tokens at the front; which of them pass is in JSONWebTokensTests.
@Suite(.bounded, .timeLimit(.minutes(10)))
struct WebTokenTests {
    private static let secret = String(repeating: "k", count: 32)

    /// A token signed with HS256.
    private static func token(
        _ viewer: String, after seconds: Double, secret: String = secret
    ) -> String {
        let time = Double(WallClock.microseconds()) / 1e6 + seconds
        let claims: JSONValue = ["sub": .string(viewer), "exp": .double(time), "iss": "tests"]
        let signed = base64(#"{"alg":"HS256"}"#.utf8) + "." + base64(claims.text.utf8)
        var mac = [UInt8](repeating: 0, count: 32)
        var count = 0
        _ = EVP_Q_mac(
            nil, "HMAC", nil, "SHA256", nil, secret, secret.utf8.count, Array(signed.utf8),
            signed.utf8.count, &mac, mac.count, &count)
        return signed + "." + base64(mac)
    }

    private static func base64(_ bytes: some Sequence<UInt8>) -> String {
        Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            .replacing("=", with: "")
    }

    private static func keys(_ secret: String = secret) -> Data {
        Data(#"{"keys":[{"kty":"oct","alg":"HS256","k":"\#(base64(secret.utf8))"}]}"#.utf8)
    }

    private static func run(
        _ body: (_ server: RunningServer, _ file: URL) async throws -> Void
    ) async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).json")
        try keys().write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        try await RunningServer.run({ configuration in
            configuration.schema = """
                type Query { me: String! }
                type Subscription { numbers: Int! }
                """
            configuration.seed = nil
            configuration.handlers.resolve("Query.me") { $0.viewer ?? "nobody" }
            configuration.handlers.subscription("numbers") { _ in AsyncStream<Int> { $0.yield(7) } }
            configuration.tokens = ["root"]
            var options = Server.WebTokenOptions(keysFile: file.path)
            options.issuer = "tests"
            options.leeway = .zero
            configuration.webTokens = options
        }) { try await body($0, file) }
    }

    private static func me(_ server: RunningServer, _ token: String?) async throws -> String {
        let headers: HTTPHeaders = token.map { ["authorization": "Bearer \($0)"] } ?? [:]
        let response = try await server.post(["query": "{ me }"], headers: headers)
        return response.json?["data"]?["me"]?.string ?? "\(response.status)"
    }

    @Test func aTokenNamesItsViewer() async throws {
        try await Self.run { server, file in
            for (token, expected) in [
                (nil, "nobody"), ("root", "nobody"), ("x", "401"),
                (Self.token("ada", after: 600), "ada"), (Self.token("ada", after: -1), "401"),
                (Self.token("ada", after: 600, secret: String(repeating: "x", count: 32)), "401"),
            ] {
                let viewer = try await Self.me(server, token)
                #expect(viewer == expected)
            }
            // The keys change.
            let other = String(repeating: "o", count: 40)
            let token = Self.token("bob", after: 600, secret: other)
            let before = try await Self.me(server, token)
            #expect(before == "401")
            try Self.keys(other).write(to: file)
            let after = try await eventually("the new keys") {
                let viewer = try await Self.me(server, token)
                return viewer == "401" ? nil : viewer
            }
            #expect(after == "bob")
        }
    }

    private static func connect(
        _ server: RunningServer, _ token: String
    ) async throws -> (channel: WebSocketChannel, send: @Sendable (ClientMessage) -> Void) {
        let channel = try await server.connect()
        let connection = channel.connection
        let send: @Sendable (ClientMessage) -> Void = {
            connection.send(OutgoingMessage(.text, $0.bytes))
        }
        send(.connectionInit(payload: ["token": .string(token)]))
        return (channel, send)
    }

    @Test func aConnectionEndsWithItsToken() async throws {
        try await Self.run { server, _ in
            let (channel, _) = try await Self.connect(server, Self.token("ada", after: 0.3))
            for await _ in channel {}
            #expect(channel.close?.code == 4403)
        }
    }

    @Test func aPingRenewsTheToken() async throws {
        try await Self.run { server, _ in
            let (channel, send) = try await Self.connect(server, Self.token("ada", after: 0.5))
            send(.ping(payload: ["token": .string(Self.token("ada", after: 600))]))
            // A second connection shows that the first token's time is over.
            let (other, _) = try await Self.connect(server, Self.token("ada", after: 1))
            for await _ in other {}
            #expect(other.close?.code == 4403)
            send(.subscribe(id: "1", payload: ["query": "{ me }"]))
            var viewer: String?
            for await message in channel {
                if case .next(_, let result) = try ServerMessage(message.bytes) {
                    viewer = result["data"]?["me"]?.string
                    break
                }
            }
            #expect(viewer == "ada")
            // Not for longer than the new one says.
            send(.ping(payload: ["token": .string(Self.token("ada", after: 0.2))]))
            for await _ in channel {}
            #expect(channel.close?.code == 4403)
        }
    }

    /// Also when those before it last longer.
    @Test func theNewestTokenCounts() async throws {
        try await Self.run { server, _ in
            let (channel, send) = try await Self.connect(server, Self.token("ada", after: 600))
            let tokens = [Self.token("ada", after: 500), Self.token("ada", after: 700)]
            for number in 0..<200 { send(.ping(payload: ["token": .string(tokens[number % 2])])) }
            send(.ping(payload: ["token": .string(Self.token("ada", after: 0.3))]))
            send(.ping(payload: ["token": .string(Self.token("ada", after: 0.6))]))
            for await _ in channel {}
            #expect(channel.close?.code == 4403)
        }
    }

    @Test func aTokenThatEndsBeforeItIsShownIsRefused() async throws {
        try await Self.run { server, _ in
            let channel = try await server.connect(
                headers: ["authorization": "Bearer \(Self.token("ada", after: 0.3))"])
            // Another connection shows that its time is over.
            let (other, _) = try await Self.connect(server, Self.token("ada", after: 0.5))
            for await _ in other {}
            channel.connection.send(
                OutgoingMessage(.text, ClientMessage.connectionInit(payload: nil).bytes))
            for await _ in channel { Issue.record("It is let in.") }
            #expect(channel.close?.code == 4403)
        }
    }

    @Test func anotherViewersTokenEndsTheConnection() async throws {
        try await Self.run { server, _ in
            for token in [Self.token("bob", after: 600), Self.token("ada", after: -1), "root"] {
                let (channel, send) = try await Self.connect(server, Self.token("ada", after: 600))
                var isReady = false
                for await message in channel {
                    if case .connectionAck = try ServerMessage(message.bytes), !isReady {
                        isReady = true
                        send(.ping(payload: ["token": .string(token)]))
                    }
                }
                #expect(isReady)
                #expect(channel.close?.code == 4403)
            }
        }
    }

    /// It is not complete: a client goes on with a new token.
    @Test func anEventStreamEndsWithItsToken() async throws {
        try await Self.run { server, _ in
            let response = try await server.get(
                [("query", "subscription { numbers }")],
                headers: [
                    "accept": "text/event-stream",
                    "authorization": "Bearer \(Self.token("ada", after: 1))",
                ])
            let body = String(decoding: response.body, as: UTF8.self)
            #expect(response.status == 200)
            #expect(body.contains("event: next") && !body.contains("event: complete"))
        }
    }

    @Test func withoutKeysNothingStarts() async throws {
        var configuration = Server.Configuration(
            schema: "type Query { a: Int }", storage: .memory)
        configuration.port = 0
        configuration.webTokens = Server.WebTokenOptions(keysFile: "/nowhere/keys.json")
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let error = await #expect(throws: (any Error).self) {
            _ = try await Server.start(configuration, logger: logger)
        }
        #expect(error.map { "\($0)" }?.contains("/nowhere/keys.json") == true)
    }
}
