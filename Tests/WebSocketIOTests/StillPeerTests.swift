import CLibwebsockets
import Testing

@testable import WebSocketIO

/// Peers that take nothing, and peers of whom nothing is taken.
@Suite(.bounded, .timeLimit(.minutes(10)))
struct StillPeerTests {
    /// A client that has shaken hands, on a loop of its own.
    private func withClient(
        isEncrypted: Bool, handler: RecordingHandler,
        _ body: (StreamClient, TestServer) async throws -> Void
    ) async throws {
        let certificate = try TestCertificate()
        try await TestServer.run(
            {
                $0.maxQueuedBytes = 1 << 30
                $0.keepAlive = .seconds(1)
                if isEncrypted { $0.tls = certificate.identity }
            }, handler: handler
        ) { server in
            let loop = try IOLoop.start()
            let address = ServerAddress(
                isSecure: isEncrypted, host: "localhost", port: server.port)
            let client = try await StreamClient.connect(
                to: address, authorityFile: certificate.certificateFile, on: loop)
            _ = try await client.upgrade()
            try await body(client, server)
            try await client.close()
            await loop.stop()
        }
    }

    private func ping(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        FrameHeader.append(.ping, length: text.utf8.count, mask: FrameMask(word: 0), to: &bytes)
        return bytes + Array(text.utf8)
    }

    /// How often the loop has turned.
    private func turns(of loop: IOLoop) async throws -> UInt32 {
        try await loop.runOnCore { ev_iteration($0.eventLoop) }
    }

    @Test(arguments: [false, true])
    func aClientThatDoesNotReadLeavesTheLoopInPeaceAndGetsEverythingLater(
        _ isEncrypted: Bool
    ) async throws {
        let size = 20_000_000
        let handler = RecordingHandler()
        try await withClient(isEncrypted: isEncrypted, handler: handler) { client, server in
            try await client.setReading(false)
            let connection = try #require(handler.now.connections.first)
            connection.send(OutgoingMessage(.binary, [UInt8](repeating: 7, count: size)))
            // Part of it goes into the buffers of both ends.
            await eventually { connection.queuedBytes < size }
            // Something comes from the client, who still does not read.
            for index in 0..<20 { try await client.send(ping("\(index)")) }
            let before = try await turns(of: server.loop)
            let timers = 50
            for _ in 0..<timers {
                await withCheckedContinuation { next in
                    server.loop.perform(after: .milliseconds(10)) { next.resume() }
                }
            }
            // A timer makes a few turns; a loop that spins made 485,851 meanwhile.
            let made = try await turns(of: server.loop) - before
            #expect(made < 100 * UInt32(timers), "the loop turned \(made) times")
            try await client.setReading(true)
            await eventually { client.received.count >= size }
            #expect(connection.queuedBytes == 0)
            #expect(handler.now.closes.isEmpty)
        }
    }

    /// With bytes from it that have not been read, too.
    @Test(arguments: [false, true], [0, 100_000])
    func thatAPeerHasGoneIsSeenWhileNothingIsReadFromIt(
        _ isEncrypted: Bool, _ unread: Int
    ) async throws {
        let handler = RecordingHandler(onOpen: { $0.pauseReading() })
        try await withClient(isEncrypted: isEncrypted, handler: handler) { client, server in
            if unread > 0 { try await client.send([UInt8](repeating: 0, count: unread)) }
            try await client.close()
            await eventually { handler.now.closes == [.abnormal] }
            try await eventually { try await server.server.connectionCount() == 0 }
        }
    }

    /// What it takes for one: a message that is answered and the peer's close, in one read.
    @Test func aStreamDrainsOnce() async throws {
        let loop = try IOLoop.start()
        let stream = try await loop.runOnCore { core in
            let stream = SinkStream(core: core, isReading: true)
            let connection = WebSocketConnection(
                id: core.nextID(), peerAddress: "", subprotocol: nil, loop: loop)
            let session = WebSocketSession(
                stream: stream, role: .server, connection: connection, handler: RecordingHandler(),
                limits: HTTPServer.Options().sessionLimits, gone: {})
            session.begin(with: [0x81, 0x80, 0, 0, 0, 0, 0x88, 0x80, 0, 0, 0, 0])
            return LoopConfined(stream, on: loop)
        }
        // The frames have gone out when what is posted next runs.
        let finishes = try await loop.run { stream.value.finishes }
        #expect(finishes == 1)
        try await loop.run { stream.value.close() }
        await loop.stop()
    }

    /// Takes everything.
    private final class SinkStream: ByteStream {
        var finishes = 0

        override func writeSome(_ bytes: UnsafeRawBufferPointer) -> Int? { bytes.count }
        override func finish() { finishes += 1 }
    }
}
