import GraphQLTransportWS
import RelayJSON
import Testing
import WebSocketIO
import WebSocketTesting

/// One connection of graphql-transport-ws, for tests: what is said goes out, what comes is waited for.
final class GraphQLClient {
    let channel: WebSocketChannel
    private var messages: WebSocketChannel.Iterator

    /// Connects and waits for the acknowledgement.
    init(_ server: RunningServer) async throws {
        channel = try await server.connect()
        messages = channel.makeAsyncIterator()
        send(.connectionInit(payload: nil))
        guard case .connectionAck = try await next() else { throw ClosedEarly() }
    }

    deinit { channel.connection.close() }

    func send(_ message: ClientMessage) {
        channel.connection.send(OutgoingMessage(.text, message.bytes))
    }

    func subscribe(_ id: String, _ query: String, relay: JSONObject = [:]) {
        send(
            .subscribe(
                id: id,
                payload: [
                    "query": .string(query), "extensions": ["relay": .object(relay)],
                ]))
    }

    /// The next message, whatever it is.
    func next() async throws -> ServerMessage {
        guard let message = await messages.next() else { throw ClosedEarly() }
        return try ServerMessage(message.bytes)
    }

    /// The next result of any operation.
    func result() async throws -> JSONValue {
        while true {
            switch try await next() {
            case .next(_, let payload): return .object(payload)
            case .error(_, let errors): return ["errors": .array(errors)]
            default: continue
            }
        }
    }

    /// Runs an operation that has one result.
    func run(_ query: String) async throws -> JSONValue {
        subscribe("run", query)
        var result: JSONValue = .null
        while true {
            switch try await next() {
            case .next("run", let payload): result = .object(payload)
            case .error("run", let errors): return ["errors": .array(errors)]
            case .complete("run"): return result
            default: continue
            }
        }
    }

    func addTodo(_ text: String) async throws {
        let result = try await run(
            "mutation { addTodo(input: {text: \"\(text)\"}) { todo { id } } }")
        #expect(result["errors"] == nil)
    }
}
