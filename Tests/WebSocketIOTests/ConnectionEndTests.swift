import Testing
import Threads

@testable import WebSocketIO

/// Control frames and ends, as a peer on a socket sees them.
@Suite(.bounded, .timeLimit(.minutes(10)))
struct ConnectionEndTests {
    private typealias Frame = RawClient.Frame

    private func withClient(
        _ change: (inout HTTPServer.Options) -> Void = { _ in },
        handler: RecordingHandler = RecordingHandler(),
        _ body: (RawClient, TestServer) async throws -> Void
    ) async throws {
        try await TestServer.run(change, handler: handler) { server in
            let client = try RawClient(port: server.port)
            try await client.upgrade()
            try await body(client, server)
        }
    }

    /// The bytes of a masked frame.
    private func bytes(_ opcode: FrameHeader.Opcode, _ payload: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        FrameHeader.append(opcode, length: payload.count, mask: FrameMask(word: 0), to: &bytes)
        return bytes + payload
    }

    /// RFC 6455 §5.5.2.
    @Test func tenPingsInOneWriteGetTenPongsInOrder() async throws {
        try await withClient { client, _ in
            let pings = (0..<10).map { bytes(.ping, Array("ping \($0)".utf8)) }
            try await client.send(Array(pings.joined()))
            for index in 0..<10 {
                let pong = try await client.readFrame()
                #expect(pong == Frame(opcode: 10, payload: Array("ping \(index)".utf8)))
            }
        }
    }

    /// RFC 6455 §5.5.3. Answers to pings do not pile up for a client that does not read them.
    @Test func whereAnswersWaitTheNewestPingIsAnswered() async throws {
        try await TestServer.run { server in
            let client = try RawClient(port: server.port, receiveBufferBytes: 4_096)
            try await client.upgrade()
            await eventually { !server.handler.now.connections.isEmpty }
            let connection = try #require(server.handler.now.connections.first)
            let large = OutgoingMessage(.binary, [UInt8](repeating: 7, count: 200_000))
            // More than the system may come to take by itself, which is about 4 MB.
            await eventually {
                connection.send(large)
                return connection.queuedBytes > 8_000_000
            }
            for index in 0..<1_000 { try await client.send(bytes(.ping, Array("\(index)".utf8))) }
            try await client.send(text: "heard")
            await eventually { server.handler.now.messages.count == 1 }
            connection.close()
            var pongs: [String] = []
            while true {
                let frame = try await client.readFrame()
                if frame.opcode == 8 { break }
                if frame.opcode == 10 { pongs.append(frame.text) }
            }
            #expect(pongs == ["999"])
        }
    }

    /// Closing a socket with unread bytes resets the connection, and the close frame goes with it.
    @Test func aClientThatIsStillSendingHears1009() async throws {
        try await withClient({ $0.limits.messageBytes = 10_000 }) { client, server in
            // Far more than the buffers of both ends hold.
            let piece = [UInt8](repeating: 0x61, count: 100_000)
            var head: [UInt8] = []
            FrameHeader.append(.binary, length: 20_000_000, mask: FrameMask(word: 0), to: &head)
            try await client.send(head)
            for _ in 0..<200 { try await client.send(piece) }
            let close = try await client.readFrame()
            #expect(close.closeCode == 1_009)
            #expect(close.closeReason == "Message is larger than 10000 bytes")
            #expect(try await client.readToEnd() == "")
            #expect(server.handler.now.closes.map(\.code) == [1_009])
        }
    }

    /// RFC 6455 §7.1.7: the connection ends without the client's doing anything for it.
    @Test(
        arguments: [
            [0xC1, 0x80, 0, 0, 0, 0], [0x83, 0x80, 0, 0, 0, 0], [0x88, 0x81, 0, 0, 0, 0, 3],
            [0x88, 0x82, 0, 0, 0, 0, 0x13, 0x88], [0x88, 0x82, 0, 0, 0, 0, 0xFF, 0xFF],
            [0x81, 0xFE, 0, 1, 0, 0, 0, 0, 0x61],
        ] as [[UInt8]])
    func aMistakeEnds1002AndTheConnectionAtOnce(_ bytes: [UInt8]) async throws {
        try await withClient { client, server in
            try await client.send(bytes)
            #expect(try await client.readFrame().closeCode == 1_002)
            #expect(try await client.readToEnd() == "")
            #expect(server.handler.now.closes.map(\.code) == [1_002])
        }
    }

    /// In one read, an answer that is ready and then the end.
    @Test(arguments: [[0x83, 0x80, 0, 0, 0, 0], [0x88, 0x80, 0, 0, 0, 0]] as [[UInt8]])
    func whatCameBeforeTheEndIsAnswered(_ end: [UInt8]) async throws {
        try await withClient { client, _ in
            try await client.send(bytes(.text, Array("hello".utf8)) + end)
            #expect(try await client.readFrame().text == "hello")
            #expect(try await client.readFrame().opcode == 8)
            #expect(try await client.readToEnd() == "")
        }
    }

    @Test(arguments: [1_012, 1_013, 1_014, 3_000, 4_999] as [UInt16])
    func codesThatMayTravelAreAnsweredAndTold(_ code: UInt16) async throws {
        try await withClient { client, server in
            try await client.send(
                bytes(.close, [UInt8(code >> 8), UInt8(code & 0xFF)] + Array("bye".utf8)))
            #expect(try await client.readFrame().closeCode == Int(code))
            // RFC 6455 §7.1.1: the server ends the connection first.
            #expect(try await client.readToEnd() == "")
            #expect(
                server.handler.now.closes
                    == [WebSocketClose(code: code, reason: "bye", isFromPeer: true)])
        }
    }

    @Test func aClientThatNeverAnswersACloseIsLeftAtTheStop() async throws {
        let handler = RecordingHandler(onOpen: { $0.close(code: 4_400, reason: "no") })
        try await withClient(handler: handler) { client, server in
            let close = try await client.readFrame()
            #expect(close.closeCode == 4_400)
            await server.server.stop(within: .milliseconds(100))
            #expect(handler.now.closes == [WebSocketClose(code: 4_400, reason: "no")])
            #expect(try await client.readToEnd() == "")
        }
    }

    /// The library that did this before ended the process. RFC 7692 §7.2.3.6.
    @Test func anEmptyCompressedMessageIsAMessage() async throws {
        try await TestServer.run({ $0.limits.compressedConnections = 1 }) { server in
            let client = try RawClient(port: server.port)
            try await client.upgrade(extra: ["Sec-WebSocket-Extensions: permessage-deflate"])
            try await client.send([0xC1, 0x81, 0, 0, 0, 0, 0x00])
            #expect(try await client.readMessage() == Frame(opcode: 1, payload: []))
            #expect(server.handler.now.messages == [WebSocketMessage(.text, [])])
        }
    }

    /// A client's frames that come in one read wait, as those do that have not been read.
    @Test func aPauseHoldsBackWhatHasBeenReadAlready() async throws {
        let handler = RecordingHandler(onMessage: { _, connection in connection.pauseReading() })
        try await withClient(handler: handler) { client, server in
            try await client.send((0..<5).flatMap { bytes(.text, Array("\($0)".utf8)) })
            for count in 1...5 {
                await eventually { handler.now.messages.count == count }
                try await server.loop.run {}
                #expect(handler.now.messages.count == count)
                server.handler.now.connections.first?.resumeReading()
            }
            #expect(handler.now.messages.map(\.bytes) == (0..<5).map { Array("\($0)".utf8) })
        }
    }

    /// A large fan-out is cut into slices, and timers run between them.
    @Test func aTimerRunsInTheMiddleOfALargeFanOut() async throws {
        try await TestServer.run { server in
            let clients = try (0..<300).map { _ in try RawClient(port: server.port) }
            for client in clients { try await client.send(RawClient.handshake()) }
            for client in clients { _ = try await client.read(through: "\r\n\r\n") }
            await eventually { server.handler.now.connections.count == clients.count }
            let connections = server.handler.now.connections
            let message = OutgoingMessage(.binary, [UInt8](repeating: 1, count: 60_000))
            let unsentAtTimer = Lock<Int?>(nil)
            try await server.loop.runOnCore { core in
                core.schedule(at: monotonicMilliseconds()) {
                    let unsent = connections.count { $0.queuedBytes > 0 }
                    unsentAtTimer.withLock { $0 = unsent }
                }
                SlowFlush.fillSlice(of: core)
                for connection in connections { connection.send(message) }
            }
            for client in clients {
                #expect(try await client.readMessage().payload.count == 60_000)
            }
            let unsent = try #require(unsentAtTimer.withLock { $0 })
            #expect(unsent > 0)
        }
    }
}
