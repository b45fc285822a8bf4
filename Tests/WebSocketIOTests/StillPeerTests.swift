import CLibwebsockets
import HTTPMessages
import Synchronization
import Testing
import WebSocketTesting

@testable import WebSocketIO

/// Peers that take nothing, and peers of whom nothing is taken.
@Suite(.bounded, .timeLimit(.minutes(10)))
struct StillPeerTests {
    /// A client that has shaken hands, on a loop of its own.
    private func withClient(
        isEncrypted: Bool, keepAlive: Duration, handler: RecordingHandler,
        _ body: (StreamClient, TestServer) async throws -> Void
    ) async throws {
        let certificate = try TestCertificate()
        try await TestServer.run(
            {
                $0.limits.queuedBytes = 1 << 30
                $0.limits.keepAlive = keepAlive
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
        // The client answers no pings: it must not be taken for one that has gone while a busy machine brings it everything.
        try await withClient(isEncrypted: isEncrypted, keepAlive: .seconds(600), handler: handler) {
            client, server in
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
        }
    }

    /// Long before the system calls its socket writable: that takes a third of a buffer of megabytes.
    @Test func thatAPeerTakesALittleIsSeen() async throws {
        let handler = RecordingHandler()
        try await TestServer.run(handler: handler) { server in
            let client = try RawClient(port: server.port, receiveBufferBytes: 4_096)
            try await client.upgrade()
            await eventually { !handler.now.connections.isEmpty }
            let connection = try #require(handler.now.connections.first)
            connection.send(OutgoingMessage(.binary, [UInt8](repeating: 7, count: 12_000_000)))
            let time = Atomic<Int64>(monotonicMilliseconds())
            // Looks a second later each time.
            func isStuck() async throws -> Bool {
                try await server.loop.run {
                    guard let stream = connection.session.value?.stream else { return false }
                    let now = time.add(1_000, ordering: .relaxed).newValue
                    stream.look(now: now)
                    return stream.isStuck(now: now, milliseconds: 5_000)
                }
            }
            try await eventually { try await isStuck() }
            client.setReceiveBuffer(65_536)
            _ = try await client.read(count: 200_000)
            try await eventually { try await !isStuck() }
        }
    }

    /// Twelve times as many bytes are sent then as were handed over: so many wait that the peer seems to have taken
    /// none. Of a server, and of a client.
    @Test(arguments: [true, false])
    func thatAPeerTakesIsSeenOfSmallEncryptedRecords(_ isServer: Bool) async throws {
        let certificate = try TestCertificate()
        let handler = RecordingHandler(onOpen: { $0.pauseReading() })
        try await TestServer.run({ $0.tls = certificate.identity }, handler: handler) { server in
            let loop = try IOLoop.start()
            let address = ServerAddress(isSecure: true, host: "localhost", port: server.port)
            let client = try await StreamClient.connect(
                to: address, authorityFile: certificate.certificateFile, on: loop)
            _ = try await client.upgrade()
            try await client.setReading(false)
            let connection = try #require(handler.now.connections.first)
            /// Sends until the other end takes no more, and returns what it has taken.
            @Sendable func fill(_ stream: ByteStream) -> Int {
                if let socket = stream.descriptor { setSendBuffer(of: socket, 65_536) }
                while !stream.isBlocked, stream.write([0x89, 0]) {}
                stream.look(now: monotonicMilliseconds())
                return stream.takenBytes
            }
            let taken =
                if isServer {
                    try await server.loop.run {
                        connection.session.value.map { fill($0.stream) } ?? 0
                    }
                } else {
                    try await client.withStream(fill)
                }
            #expect(taken > 0)
            try await client.close()
            await loop.stop()
        }
    }

    /// A stream may be lost by the write itself.
    @Test func whatALostStreamLeavesIsCountedOnce() async throws {
        let loop = try IOLoop.start()
        let handler = RecordingHandler()
        try await loop.runOnCore { core in
            let session = self.session(
                on: BrokenStream(core: core, isReading: true), core, handler, HTTPServer.Options())
            let connection = handler.now.connections[0]
            for _ in 0..<2 {
                let message = OutgoingMessage(.binary, [UInt8](repeating: 7, count: 100_000))
                connection.count(unsent: message.payloadBytes)
                session.enqueue(message, prefix: [])
            }
            session.flush()
            #expect(handler.now.closes == [.abnormal])
            #expect(connection.queuedBytes == 0)
        }
        await loop.stop()
    }

    /// Finds out while it is written to that the connection is broken, and says so at once.
    private final class BrokenStream: ByteStream {
        override func writeSome(_ bytes: UnsafeRawBufferPointer) -> Int? {
            lose("it is broken")
            return nil
        }
    }

    @Test func aWebSocketPeerIsLeftWhenItTakesNothingAndNotWhenItTakesLittle() async throws {
        let handler = RecordingHandler()
        var options = HTTPServer.Options()
        options.limits.keepAlive = .seconds(1_000_000)
        try await withSlowStream(taking: 1_000_000) { [options] stream, core in
            let session = self.session(on: stream, core, handler, options)
            session.enqueue(
                OutgoingMessage(.binary, [UInt8](repeating: 7, count: 4_000_000)), prefix: [])
            session.sendWaiting(downTo: 0)
            var now = monotonicMilliseconds()
            func sweep(_ count: Int, taking bytes: Int) {
                for _ in 0..<count {
                    now += 1_000
                    stream.unacknowledged -= bytes
                    session.sweep(now: now)
                    session.flush()
                }
            }
            #expect(stream.isBlocked)
            sweep(60, taking: 1)
            #expect(handler.now.closes == [])
            sweep(11, taking: 0)
            #expect(handler.now.closes.map(\.code) == [1_013])
        }
    }

    /// It lies behind megabytes that it has to take first.
    @Test func aPeerIsNotDeadBeforeItHasComeToThePing() async throws {
        let handler = RecordingHandler()
        try await withSlowStream(taking: .max) { stream, core in
            let session = self.session(on: stream, core, handler, HTTPServer.Options())
            session.enqueue(
                OutgoingMessage(.binary, [UInt8](repeating: 7, count: 200_000)), prefix: [])
            session.flush()
            var now = monotonicMilliseconds()
            func sweep(_ count: Int, taking bytes: Int) {
                for _ in 0..<count {
                    now += 1_000
                    stream.unacknowledged -= bytes
                    session.sweep(now: now)
                    session.flush()
                }
            }
            stream.unacknowledged = stream.handedBytes
            sweep(200, taking: 1_000)
            #expect(handler.now.closes == [])
            sweep(61, taking: 0)
            #expect(handler.now.closes == [.abnormal])
        }
    }

    /// docs/websocket.md says twice the keep-alive interval, here 30 s.
    @Test func aPeerThatIsGoneIsFoundWithTheFirstPing() async throws {
        let handler = RecordingHandler()
        try await withSlowStream(taking: .max) { stream, core in
            let session = self.session(on: stream, core, handler, HTTPServer.Options())
            session.enqueue(
                OutgoingMessage(.binary, [UInt8](repeating: 7, count: 1_000)), prefix: [])
            session.flush()
            // It has taken all of that, which nobody has looked at, and takes nothing more.
            let taken = stream.handedBytes
            var now = monotonicMilliseconds()
            for _ in 0..<61 {
                now += 1_000
                stream.unacknowledged = stream.handedBytes - taken
                session.sweep(now: now)
                session.flush()
            }
            #expect(stream.handedBytes > taken)
            #expect(handler.now.closes == [.abnormal])
        }
    }

    @Test func anHTTPPeerIsLeftWhenItTakesNothingAndNotWhenItTakesLittle() async throws {
        let handler = RecordingHandler(onRequest: { _, responder in
            responder.respond(
                HTTPResponse(status: 200, body: [UInt8](repeating: 7, count: 4_000_000)))
        })
        try await withSlowStream(taking: 1_000_000) { stream, core in
            let options = HTTPServer.Options()
            let server = try ServerState(
                core: core, options: options, handler: handler,
                load: ServerLoad(loops: 1, HTTPServer.Limits()), index: 0)
            let connection = HTTPConnection(
                server: server, stream: stream, peerAddress: "", isRefused: false)
            Array("GET / HTTP/1.1\r\nHost: x\r\n\r\n".utf8).withUnsafeBytes {
                connection.streamReceived($0)
            }
            var now = monotonicMilliseconds()
            func sweep(_ count: Int, taking bytes: Int) {
                for _ in 0..<count {
                    now += 1_000
                    stream.unacknowledged -= bytes
                    connection.sweep(now: now)
                }
            }
            sweep(60, taking: 1)
            #expect(stream.isBlocked)
            sweep(11, taking: 0)
            #expect(stream.isClosed)
            #expect(handler.now.slowClients == ["Too slow: nothing was taken for a while"])
        }
    }

    /// docs/http.md says 10 s and 500 bytes a second.
    @Test func aBodyThatGoesOnComingIsReadAndAnotherIsRefused() async throws {
        try await withSlowStream(taking: .max) { stream, core in
            let server = try ServerState(
                core: core, options: HTTPServer.Options(), handler: RecordingHandler(),
                load: ServerLoad(loops: 1, HTTPServer.Limits()), index: 0)
            let connection = HTTPConnection(
                server: server, stream: stream, peerAddress: "", isRefused: false)
            func receive(_ bytes: [UInt8]) {
                bytes.withUnsafeBytes { connection.streamReceived($0) }
            }
            receive(Array("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n".utf8))
            var now = monotonicMilliseconds()
            for _ in 0..<100 {
                now += 1_000
                receive([UInt8](repeating: 7, count: 500))
                connection.sweep(now: now)
            }
            #expect(stream.written == [])
            // What came has won it 100 s beyond the first ten.
            connection.sweep(now: now + 11_000)
            #expect(String(decoding: stream.written, as: UTF8.self).hasPrefix("HTTP/1.1 408 "))
        }
    }

    @Test(arguments: [("POST", false, "408"), ("HEAD", false, "408"), ("HEAD", true, "503")])
    func aBodyThatDoesNotComeIsRefusedAsItsRequestWants(
        _ method: String, _ isRefused: Bool, _ status: String
    ) async throws {
        try await withSlowStream(taking: .max) { stream, core in
            let server = try ServerState(
                core: core, options: HTTPServer.Options(), handler: RecordingHandler(),
                load: ServerLoad(loops: 1, HTTPServer.Limits()), index: 0)
            let connection = HTTPConnection(
                server: server, stream: stream, peerAddress: "", isRefused: isRefused)
            Array("\(method) / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n".utf8)
                .withUnsafeBytes { connection.streamReceived($0) }
            connection.sweep(now: monotonicMilliseconds() + 11_000)
            let answer = String(decoding: stream.written, as: UTF8.self)
            #expect(answer.hasPrefix("HTTP/1.1 \(status) "))
            // RFC 9110 §9.3.2.
            #expect(answer.hasSuffix("\r\n\r\n") == (method == "HEAD"))
        }
    }

    /// One that takes a byte now and then is never stuck.
    @Test func aPeerThatIsClosedMayNotTakeForEver() async throws {
        let handler = RecordingHandler()
        try await withSlowStream(taking: 1_000_000) { stream, core in
            let session = self.session(on: stream, core, handler, HTTPServer.Options())
            session.enqueue(
                OutgoingMessage(.binary, [UInt8](repeating: 7, count: 4_000_000)), prefix: [])
            session.sendWaiting(downTo: 0)
            let start = monotonicMilliseconds()
            session.close(code: 4_400, reason: "")
            for second in 1..<30 {
                stream.unacknowledged -= 1
                session.sweep(now: start + Int64(second) * 1_000)
            }
            #expect(!stream.isClosed)
            stream.unacknowledged -= 1
            session.sweep(now: monotonicMilliseconds() + 30_000)
            #expect(stream.isClosed)
            #expect(handler.now.closes.count == 1)
        }
    }

    /// docs/websocket.md says five seconds.
    @Test func aPeerThatDoesNotAnswerACloseHasFiveSeconds() async throws {
        let handler = RecordingHandler()
        try await withSlowStream(taking: .max) { stream, core in
            let session = self.session(on: stream, core, handler, HTTPServer.Options())
            let start = monotonicMilliseconds()
            session.close(code: 4_400, reason: "")
            session.flush()
            session.sweep(now: start + 4_999)
            #expect(!stream.isClosed)
            session.sweep(now: monotonicMilliseconds() + 5_000)
            #expect(handler.now.closes.map(\.code) == [4_400])
            #expect(stream.isClosed)
        }
    }

    private func session(
        on stream: ByteStream, _ core: LoopCore, _ handler: RecordingHandler,
        _ options: HTTPServer.Options
    ) -> WebSocketSession {
        let connection = WebSocketConnection(
            id: core.nextID(), peerAddress: "", subprotocol: nil, loop: core.loop)
        let session = WebSocketSession(
            stream: stream, role: .server, connection: connection, handler: handler,
            limits: options.limits.session, gone: {})
        session.begin(with: [])
        return session
    }

    private func withSlowStream(
        taking bytes: Int,
        _ body: @escaping @Sendable (SlowStream, LoopCore) throws -> Void
    ) async throws {
        let loop = try IOLoop.start()
        try await loop.runOnCore { core in
            let stream = SlowStream(core: core, taking: bytes)
            defer { stream.close() }
            try body(stream, core)
        }
        await loop.stop()
    }

    /// Hands over so many bytes, of which the peer's side takes what a test says.
    private final class SlowStream: ByteStream {
        var room: Int
        var unacknowledged = 1_000_000
        /// The beginning of what was handed over.
        var written: [UInt8] = []

        init(core: LoopCore, taking bytes: Int) {
            room = bytes
            super.init(core: core, isReading: true)
        }

        override func writeSome(_ bytes: UnsafeRawBufferPointer) -> Int? {
            let count = min(bytes.count, room)
            room -= count
            written += bytes.prefix(min(count, 1_000))
            return count
        }

        override var unacknowledgedBytes: Int? { unacknowledged }
    }

    /// With bytes from it that have not been read, too.
    @Test(arguments: [false, true], [0, 100_000])
    func thatAPeerHasGoneIsSeenWhileNothingIsReadFromIt(
        _ isEncrypted: Bool, _ unread: Int
    ) async throws {
        let handler = RecordingHandler(onOpen: { $0.pauseReading() })
        try await withClient(isEncrypted: isEncrypted, keepAlive: .seconds(1), handler: handler) {
            client, server in
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
                limits: HTTPServer.Limits().session, gone: {})
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
