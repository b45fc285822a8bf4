import Testing
import Threads

@testable import WebSocketIO

/// A client that says exactly what a test tells it to, on an encrypted connection or a plain one.
final class StreamClient: ByteStreamOwner, @unchecked Sendable {
    // Unchecked: `stream` is used on the loop's thread only.
    private let loop: IOLoop
    private var stream: ByteStream?
    private let state = Lock(State())

    private struct State {
        var received: [UInt8] = []
        var openings = 0
        var isOver = false
    }

    /// Connects, and returns when the connection is there.
    static func connect(
        to address: ServerAddress, authorityFile: String?, on loop: IOLoop
    ) async throws -> StreamClient {
        let client = StreamClient(loop)
        try await loop.runOnCore { core in
            client.stream = try ByteStream.connect(
                to: address, authorityFile: authorityFile, owner: client, core: core)
        }
        await eventually { client.state.withLock { $0.openings > 0 || $0.isOver } }
        return client
    }

    private init(_ loop: IOLoop) { self.loop = loop }

    var received: [UInt8] { state.withLock { $0.received } }
    /// How often it was told that the connection is there.
    var openings: Int { state.withLock { $0.openings } }
    /// Whether the other side has ended the connection.
    var isOver: Bool { state.withLock { $0.isOver } }

    /// Sends as much as there is room for; tests send little.
    func send(_ bytes: [UInt8]) async throws {
        try await loop.run { [self] in
            if let stream, !stream.isClosed, !stream.isBlocked { _ = stream.write(bytes) }
        }
    }

    /// Reads nothing more for now, or reads on.
    func setReading(_ isReading: Bool) async throws {
        try await loop.run { [self] in stream?.isReading = isReading }
    }

    /// Gives what `body` makes of the stream, on its loop; 0 when there is none.
    func withStream(_ body: @escaping @Sendable (ByteStream) -> Int) async throws -> Int {
        try await loop.run { [self] in stream.map(body) ?? 0 }
    }

    func close() async throws {
        try await loop.run { [self] in stream?.close() }
    }

    /// Shakes hands, and takes the answer's head off what has come.
    func upgrade(extra: [String] = []) async throws -> String {
        try await send(Array(RawClient.handshake(extra: extra).utf8))
        let end = Array("\r\n\r\n".utf8)
        await eventually { received.firstRange(of: end) != nil || isOver }
        return state.withLock { state in
            guard let range = state.received.firstRange(of: end) else { return "" }
            let answer = String(decoding: state.received[..<range.upperBound], as: UTF8.self)
            state.received.removeFirst(range.upperBound)
            return answer
        }
    }

    func streamOpened() { state.withLock { $0.openings += 1 } }
    func streamReceived(_ bytes: UnsafeRawBufferPointer) {
        state.withLock { $0.received.append(contentsOf: bytes) }
    }
    func streamInputEnded() { state.withLock { $0.isOver = true } }
    func streamLost(_ cause: String) { state.withLock { $0.isOver = true } }
}
