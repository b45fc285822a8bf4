import GraphQLTransportWS
import RelayJSON
import WebSocketIO

/// One connection to a server, over which operations run side by side.
actor GraphQLClient {
    /// What an operation's stream carries.
    enum Event: Sendable {
        /// A result, as it was sent.
        case next(JSONValue)
        /// The operation was not executed, or ended with errors.
        case failed([JSONValue])
    }

    private let loop: IOLoop
    private let channel: WebSocketChannel
    private var operations: [String: AsyncThrowingStream<Event, any Error>.Continuation] = [:]
    private var nextID = 1
    private var reader: Task<Void, Never>?

    private init(_ loop: IOLoop, _ channel: WebSocketChannel) {
        self.loop = loop
        self.channel = channel
    }

    /// Connects, and returns once the server has acknowledged.
    static func connect(_ server: ServerOptions, _ url: String) async throws -> GraphQLClient {
        let address = try ServerAddress(argument: url)
        let loop = try IOLoop.start()
        do {
            let options = WebSocketClient.Options(
                subprotocols: ["graphql-transport-ws"], authorityFile: server.ca)
            let channel = try await WebSocketChannel.connect(
                to: address, options, capacity: 1_024, on: loop)
            let client = GraphQLClient(loop, channel)
            try await client.initialise(server, address)
            return client
        } catch {
            await loop.stop()
            throw error
        }
    }

    private func initialise(_ server: ServerOptions, _ address: ServerAddress) async throws {
        let payload: JSONObject? = server.resolvedToken.map { ["token": .string($0)] }
        send(.connectionInit(payload: payload))
        for await message in channel where isAcknowledgement(message) {
            reader = Task { await self.read() }
            return
        }
        throw CommandFailure("\(address) closed the connection: \(closing).")
    }

    private func isAcknowledgement(_ message: WebSocketMessage) -> Bool {
        switch try? ServerMessage(message.bytes) {
        case .connectionAck?: return true
        case .ping(let payload)?: send(.pong(payload: payload))
        default: break
        }
        return false
    }

    private var closing: String { "\(channel.close ?? .abnormal)" }

    private func send(_ message: ClientMessage) {
        channel.connection.send(OutgoingMessage(.text, message.bytes))
    }

    /// Starts an operation. Its stream ends when the operation is over, and throws when the connection
    /// breaks off.
    func run(_ payload: JSONObject) -> AsyncThrowingStream<Event, any Error> {
        let id = String(nextID)
        nextID += 1
        let (stream, continuation) = AsyncThrowingStream.makeStream(of: Event.self)
        operations[id] = continuation
        continuation.onTermination = { reason in
            guard case .cancelled = reason else { return }
            Task { await self.cancel(id) }
        }
        send(.subscribe(id: id, payload: payload))
        return stream
    }

    private func cancel(_ id: String) {
        guard operations.removeValue(forKey: id) != nil else { return }
        send(.complete(id: id))
    }

    private func read() async {
        for await message in channel { take(message) }
        let failure = CommandFailure("The server closed the connection: \(closing).")
        for operation in operations.values { operation.finish(throwing: failure) }
        operations = [:]
    }

    private func take(_ message: WebSocketMessage) {
        switch try? ServerMessage(message.bytes) {
        case .next(let id, let payload)?: operations[id]?.yield(.next(.object(payload)))
        case .error(let id, let errors)?:
            operations[id]?.yield(.failed(errors))
            operations.removeValue(forKey: id)?.finish()
        case .complete(let id)?: operations.removeValue(forKey: id)?.finish()
        case .ping(let payload)?: send(.pong(payload: payload))
        case .connectionAck?, .pong?, nil: break
        }
    }

    /// Says goodbye and ends the connection.
    func close() async {
        channel.connection.close()
        await reader?.value
        await loop.stop()
    }
}
