import GraphQLTransportWS
import RelayJSON
import WebSocketIO

/// One connection to a server, over which operations run side by side: does what its
/// ``ClientConnection`` says.
actor GraphQLClient {
    typealias Results = AsyncThrowingStream<JSONValue, any Error>

    private let address: ServerAddress
    private let loop: IOLoop
    private let channel: WebSocketChannel
    private var machine = ClientConnection()
    private var operations: [ClientConnection.Operation: Results.Continuation] = [:]
    private var acknowledgement: CheckedContinuation<Bool, Never>?
    private var reader: Task<Void, Never>?

    private init(_ address: ServerAddress, _ loop: IOLoop, _ channel: WebSocketChannel) {
        self.address = address
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
            let client = GraphQLClient(address, loop, channel)
            try await client.open(token: server.resolvedToken)
            return client
        } catch {
            await loop.stop()
            throw error
        }
    }

    private func open(token: String?) async throws {
        reader = Task { await self.read() }
        let isAcknowledged = await withCheckedContinuation { continuation in
            acknowledgement = continuation
            perform(machine.socketOpened(payload: token.map { ["token": .string($0)] }))
        }
        guard isAcknowledged else { throw failure }
    }

    private func read() async {
        for await message in channel {
            switch message.kind {
            case .text: perform(machine.receive(message.bytes))
            case .binary: perform(machine.receiveBinary())
            }
        }
        perform(machine.socketClosed())
        acknowledge(false)
    }

    private var failure: CommandFailure {
        CommandFailure("\(address) closed the connection: \(channel.close ?? .abnormal).")
    }

    private func perform(_ actions: [ClientConnection.Action]) {
        for action in actions {
            switch action {
            case .send(let bytes):
                channel.connection.send(OutgoingMessage(.text, bytes))
            case .close(let close):
                channel.connection.close(code: close.code, reason: close.reason)
            case .acknowledged:
                acknowledge(true)
            case .next(let operation, let payload, _):
                operations[operation]?.yield((try? JSONValue(parsing: payload)) ?? .null)
            case .failed(let operation, let errors):
                // What was refused has errors and no data.
                operations[operation]?.yield(["errors": .array(errors)])
                operations.removeValue(forKey: operation)?.finish()
            case .completed(let operation):
                operations.removeValue(forKey: operation)?.finish()
            case .interrupted(let operation):
                operations.removeValue(forKey: operation)?.finish(throwing: failure)
            case .pinged, .ponged:
                break
            }
        }
    }

    private func acknowledge(_ isAcknowledged: Bool) {
        acknowledgement?.resume(returning: isAcknowledged)
        acknowledgement = nil
    }

    /// Starts an operation. Its results end when it is over, and throw when the connection breaks off.
    func run(_ payload: JSONObject) -> Results {
        let (operation, actions) = machine.subscribe(payload)
        let (results, continuation) = Results.makeStream()
        operations[operation] = continuation
        continuation.onTermination = { reason in
            guard case .cancelled = reason else { return }
            Task { await self.stop(operation) }
        }
        perform(actions)
        return results
    }

    private func stop(_ operation: ClientConnection.Operation) {
        operations[operation] = nil
        perform(machine.stop(operation))
    }

    /// Waits until the connection has ended, and says why.
    func ended() async -> CommandFailure {
        await reader?.value
        return failure
    }

    /// Says goodbye and ends the connection.
    func close() async {
        perform(machine.close())
        await reader?.value
        await loop.stop()
    }
}
