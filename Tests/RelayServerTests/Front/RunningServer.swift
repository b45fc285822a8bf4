import BoundedTesting
import GraphQLTransportWS
import HTTPMessages
import Logging
import RelayJSON
import Testing
import WebSocketIO
import WebSocketTesting

@testable import RelayServer

/// The todo example, served from memory on a port of its own.
struct RunningServer: Sendable {
    let server: Server
    /// The clients'.
    let loop: IOLoop

    /// Serves while `body` runs, and stops after it, whatever happens.
    static func run(
        _ change: (inout Server.Configuration) -> Void = { _ in },
        _ body: (RunningServer) async throws -> Void
    ) async throws {
        var configuration = Server.Configuration(
            schema: try Example.text("todo.graphql"), schemaName: "todo.graphql", storage: .memory)
        configuration.seed = Array(try Example.text("todo.seed.ndjson").utf8)
        configuration.port = 0
        // A machine that is busy with other tests must not look like a slow client.
        configuration.limits.connection.handshakeTimeout = .testDeadline
        configuration.limits.connection.writeStuckTimeout = .testDeadline
        configuration.limits.socket.initialisationTimeout = .testDeadline
        change(&configuration)
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let server = try await Server.start(configuration, logger: logger)
        do {
            try await body(RunningServer(server: server, loop: try clientLoop.get()))
        } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }

    /// One for the clients of all tests; it ends with the process.
    private static let clientLoop = Result { try IOLoop.start() }

    // MARK: HTTP

    func send(
        _ method: String, _ path: String = "/graphql", headers: HTTPHeaders = [:],
        body: [UInt8]? = nil
    ) async throws -> HTTPResponse {
        var options = HTTPClient.Options()
        options.timeout = .testDeadline
        return try await HTTPClient.send(
            method, to: ServerAddress(host: "127.0.0.1", port: server.port, path: path),
            headers: headers, body: body, options, on: loop)
    }

    func get(
        _ parameters: [(String, String)], headers: HTTPHeaders = [:]
    ) async throws -> HTTPResponse {
        let query = parameters.map { "\($0)=\(Self.percentEncoded($1))" }.joined(separator: "&")
        return try await send("GET", "/graphql?\(query)", headers: headers)
    }

    func post(
        _ body: JSONValue, accept: String? = nil, headers: HTTPHeaders = [:]
    ) async throws -> HTTPResponse {
        var all: HTTPHeaders = ["content-type": "application/json"]
        if let accept { all.append("accept", accept) }
        for field in headers.fields { all.append(field.name, field.value) }
        return try await send("POST", headers: all, body: Array(body.text.utf8))
    }

    private static func percentEncoded(_ text: String) -> String {
        text.utf8.map { byte in
            let digits = String(byte, radix: 16)
            return byte < 16 ? "%0\(digits)" : "%\(digits)"
        }.joined()
    }

    // MARK: WebSocket

    func connect(
        headers: HTTPHeaders = [:], subprotocols: [String] = ["graphql-transport-ws"]
    ) async throws -> WebSocketChannel {
        try await WebSocketChannel.connect(
            to: ServerAddress(host: "127.0.0.1", port: server.port, path: "/graphql"),
            WebSocketClient.Options(subprotocols: subprotocols, headers: headers), on: loop)
    }

    /// The first result of a request over WebSocket, or the errors it is refused with.
    func request(
        _ payload: JSONObject, headers: HTTPHeaders = [:]
    ) async throws -> JSONValue {
        let channel = try await connect(headers: headers)
        defer { channel.connection.close() }
        func send(_ message: ClientMessage) {
            channel.connection.send(OutgoingMessage(.text, message.bytes))
        }
        send(.connectionInit(payload: nil))
        for await message in channel {
            switch try ServerMessage(message.bytes) {
            case .connectionAck: send(.subscribe(id: "1", payload: payload))
            case .next(_, let result): return .object(result)
            case .error(_, let errors): return ["errors": .array(errors)]
            default: continue
            }
        }
        throw ClosedEarly()
    }
}

struct ClosedEarly: Error {}

extension HTTPResponse {
    var json: JSONValue? { try? JSONValue(parsing: body) }
    /// `extensions.code` of the first error.
    var errorCode: String? { json?.firstErrorCode }
    var mediaType: String? { headers["content-type"].map { String($0.prefix { $0 != ";" }) } }
}

extension JSONValue {
    var firstErrorCode: String? { self["errors"]?.array?.first?["extensions"]?["code"]?.string }
    var firstErrorMessage: String? { self["errors"]?.array?.first?["message"]?.string }
}
