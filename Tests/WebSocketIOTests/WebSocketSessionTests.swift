import BoundedTesting
import Testing
import WebSocketIO
import WebSocketTesting

@Suite(.bounded, .timeLimit(.minutes(10)))
struct WebSocketSessionTests {
    private typealias Frame = RawClient.Frame

    /// Shakes hands with a server and gives the client to `body`.
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

    @Test func echoesTextAndBinaryMessagesOfAllSizes() async throws {
        try await withClient { client, _ in
            for size in [0, 1, 125, 126, 4_096, 65_535, 65_536, 65_537, 200_000, 1_000_000] {
                for opcode: UInt8 in [1, 2] {
                    let payload = (0..<size).map { UInt8(0x20 + $0 % 0x5F) }
                    try await client.send(frame: Frame(opcode: opcode, payload: payload))
                    let echo = try await client.readMessage()
                    #expect(echo.opcode == opcode)
                    #expect(echo.payload == payload, "\(size) bytes")
                }
            }
        }
    }

    @Test func putsFragmentsTogetherAndAnswersPingsBetweenThem() async throws {
        try await withClient { client, _ in
            try await client.send(
                frame: Frame(opcode: 1, isFinal: false, payload: Array("frag".utf8)))
            try await client.send(frame: Frame(opcode: 9, payload: Array("p".utf8)))
            try await client.send(
                frame: Frame(opcode: 0, isFinal: false, payload: Array("ment".utf8)))
            try await client.send(frame: Frame(opcode: 0, isFinal: true, payload: Array("ed".utf8)))
            let answers = [try await client.readFrame(), try await client.readFrame()]
            #expect(answers.contains(Frame(opcode: 10, payload: Array("p".utf8))))
            #expect(answers.contains { $0.text == "fragmented" })
        }
    }

    /// RFC 6455 §5.1; however the first frame comes.
    @Test(arguments: [[4], [1, 3], [0]])
    func closesOverUnmaskedFramesWith1002(_ pieces: [Int]) async throws {
        let frame: [UInt8] = [0x81, 0x02, 0x68, 0x69]
        try await TestServer.run { server in
            let client = try RawClient(port: server.port)
            if pieces == [0] {
                // Right behind the handshake, before it is answered.
                try await client.send(Array(RawClient.handshake().utf8) + frame)
                _ = try await client.read(through: "\r\n\r\n")
            } else {
                try await client.upgrade()
                var rest = frame[...]
                for piece in pieces {
                    try await client.send(Array(rest.prefix(piece)))
                    rest = rest.dropFirst(piece)
                    if rest.isEmpty { break }
                    // The first piece has been read when the server answers another client.
                    let other = try RawClient(port: server.port)
                    try await other.upgrade()
                }
            }
            #expect(try await client.readClose() == 1_002)
            await eventually { server.handler.now.closes.contains { $0.code == 1_002 } }
            #expect(server.handler.now.messages.isEmpty)
        }
    }

    @Test func closesOverLongMessagesWith1009() async throws {
        try await withClient({ $0.limits.messageBytes = 1_000 }) { client, server in
            try await client.send(
                frame: Frame(opcode: 1, payload: [UInt8](repeating: 0x61, count: 1_000)))
            #expect(try await client.readMessage().payload.count == 1_000)
            try await client.send(
                frame: Frame(opcode: 1, payload: [UInt8](repeating: 0x61, count: 1_001)))
            #expect(try await client.readClose() == 1_009)
            await eventually { server.handler.now.closes.map(\.code) == [1_009] }
        }
    }

    @Test func closesOverLongFragmentedMessagesWith1009() async throws {
        try await withClient({ $0.limits.messageBytes = 1_000 }) { client, _ in
            let piece = [UInt8](repeating: 0x61, count: 600)
            try await client.send(frame: Frame(opcode: 1, isFinal: false, payload: piece))
            try await client.send(frame: Frame(opcode: 0, isFinal: false, payload: piece))
            #expect(try await client.readFrame().closeCode == 1_009)
        }
    }

    @Test(arguments: [
        [0xFF], [0xC3, 0x28], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xC3],
    ])
    func closesBadUTF8With1007(_ bytes: [UInt8]) async throws {
        try await withClient { client, server in
            try await client.send(frame: Frame(opcode: 1, payload: bytes))
            #expect(try await client.readClose() == 1_007)
            await eventually { server.handler.now.closes.count == 1 }
            #expect(server.handler.now.closes.first?.code == 1_007)
            #expect(server.handler.now.messages.isEmpty)
        }
    }

    @Test func acceptsUTF8ThatIsSplitBetweenFragments() async throws {
        try await withClient { client, _ in
            let euro = Array("€".utf8)
            try await client.send(frame: Frame(opcode: 1, isFinal: false, payload: [euro[0]]))
            try await client.send(frame: Frame(opcode: 0, payload: Array(euro[1...])))
            #expect(try await client.readFrame().text == "€")
        }
    }

    @Test func protocolErrorsEndTheConnection() async throws {
        for frame in [
            Frame(opcode: 3, payload: []), Frame(opcode: 0, payload: [0x61]),
            Frame(opcode: 9, isFinal: false, payload: []),
        ] {
            try await withClient { client, server in
                try await client.send(frame: frame)
                #expect(try await client.readClose() == 1_002, "\(frame)")
                await eventually { server.handler.now.closes.count == 1 }
            }
        }
    }

    @Test func closesWithTheOwnersCodeAfterWhatIsQueued() async throws {
        let handler = RecordingHandler(onMessage: { _, connection in
            for index in 0..<3 { connection.send(text: "\(index)") }
            connection.close(code: 4_409, reason: "Subscriber for 1 already exists")
            connection.send(text: "never")
        })
        try await withClient(handler: handler) { client, server in
            try await client.send(text: "go")
            for index in 0..<3 { #expect(try await client.readFrame().text == "\(index)") }
            let close = try await client.readFrame()
            #expect(close.closeCode == 4_409)
            #expect(close.closeReason == "Subscriber for 1 already exists")
            try await client.send(frame: Frame(opcode: 8, payload: close.payload))
            #expect(try await client.readToEnd() == "")
            await eventually { server.handler.now.closes.count == 1 }
            #expect(
                server.handler.now.closes == [
                    WebSocketClose(code: 4_409, reason: "Subscriber for 1 already exists")
                ])
            #expect(server.handler.now.connections.first?.queuedBytes == 0)
        }
    }

    @Test func aLongReasonIsCutAtACharacter() async throws {
        let handler = RecordingHandler(onMessage: { _, connection in
            connection.close(code: 4_400, reason: "x" + String(repeating: "ä", count: 100))
        })
        try await withClient(handler: handler) { client, _ in
            try await client.send(text: "go")
            let close = try await client.readFrame()
            #expect(close.closeReason == "x" + String(repeating: "ä", count: 61))
        }
    }

    @Test func hearsThePeersCodeAndAnswersIt() async throws {
        try await withClient { client, server in
            try await client.send(
                frame: Frame(opcode: 8, payload: [0x0F, 0xA1] + Array("bye".utf8)))
            #expect(try await client.readFrame().closeCode == 4_001)
            await eventually { server.handler.now.closes.count == 1 }
            #expect(
                server.handler.now.closes
                    == [WebSocketClose(code: 4_001, reason: "bye", isFromPeer: true)])
        }
    }

    @Test func aPeerThatVanishesCountsAs1006() async throws {
        try await TestServer.run { server in
            var client: RawClient? = try RawClient(port: server.port)
            try await client?.upgrade()
            await eventually { server.handler.now.connections.count == 1 }
            client = nil
            await eventually { server.handler.now.closes == [.abnormal] }
            let connection = try #require(server.handler.now.connections.first)
            connection.send(text: "to nobody")
            connection.close()
            try await server.loop.run {}
            try await eventually { try await server.server.connectionCount() == 0 }
        }
    }

    @Test func keepAliveFindsDeadPeersAndKeepsLivingOnes() async throws {
        try await TestServer.run({ $0.limits.keepAlive = .seconds(3) }) { server in
            // It answers pings on a thread of its own, however busy the tests are.
            let clientLoop = try IOLoop.start()
            let living = try await WebSocketChannel.connect(
                to: ServerAddress(host: "127.0.0.1", port: server.port), on: clientLoop)
            let dead = try RawClient(port: server.port)
            try await dead.upgrade()
            await eventually { server.handler.now.closes == [.abnormal] }
            #expect(try await dead.readFrame().opcode == 9)
            living.connection.send(text: "still here")
            var messages = living.makeAsyncIterator()
            #expect(await messages.next()?.bytes == Array("still here".utf8))
            await clientLoop.stop()
        }
    }

    @Test func manySmallMessagesKeepTheirOrder() async throws {
        let handler = RecordingHandler(onMessage: { _, connection in
            for index in 0..<10_000 {
                connection.send(OutgoingMessage(text: "\(index)"), prefix: Array("m".utf8))
            }
        })
        try await withClient(handler: handler) { client, _ in
            try await client.send(text: "go")
            for index in 0..<10_000 {
                let message = try await client.readMessage()
                if message.text != "m\(index)" {
                    Issue.record("\(message.text) came as number \(index)")
                    return
                }
            }
        }
    }

    @Test func messagesOfAllSizesFromAnotherThreadKeepTheirOrder() async throws {
        try await withClient { client, server in
            await eventually { !server.handler.now.connections.isEmpty }
            let connection = try #require(server.handler.now.connections.first)
            let sizes = [0, 10, 70_000, 3, 65_536, 65_530, 40_000, 40_000, 200_000, 1]
            let sender = Task.detached {
                for (index, size) in sizes.enumerated() {
                    let payload = [UInt8](repeating: UInt8(0x61 + index), count: size)
                    connection.send(OutgoingMessage(.binary, payload), prefix: [0x30])
                }
            }
            for (index, size) in sizes.enumerated() {
                let message = try await client.readMessage()
                #expect(message.opcode == 2)
                #expect(
                    message.payload == [0x30] + [UInt8](repeating: UInt8(0x61 + index), count: size)
                )
            }
            await sender.value
            await eventually { connection.queuedBytes == 0 }
        }
    }

    @Test func aSlowReaderIsSeenInQueuedBytesAndDrains() async throws {
        try await TestServer.run({
            // However long the test may have to wait for its turn on a busy machine.
            $0.limits.writeStuckTimeout = .testDeadline
            $0.limits.keepAlive = .testDeadline
        }) { server in
            let client = try RawClient(port: server.port, receiveBufferBytes: 4_096)
            try await client.upgrade()
            await eventually { !server.handler.now.connections.isEmpty }
            let connection = try #require(server.handler.now.connections.first)
            let message = OutgoingMessage(.binary, [UInt8](repeating: 7, count: 200_000))
            var sent = 0
            await eventually {
                connection.send(message)
                sent += 1
                return connection.queuedBytes > 2_000_000
            }
            for _ in 0..<sent { #expect(try await client.readMessage().payload.count == 200_000) }
            await eventually { server.handler.now.drains > 0 && connection.queuedBytes == 0 }
        }
    }

    @Test func tooMuchQueuedClosesWith1013() async throws {
        try await TestServer.run({
            $0.limits.queuedBytes = 1_000_000
            // However long the test may have to wait for its turn on a busy machine.
            $0.limits.writeStuckTimeout = .testDeadline
            $0.limits.keepAlive = .testDeadline
            $0.limits.farewellTimeout = .testDeadline
        }) { server in
            let client = try RawClient(port: server.port)
            try await client.upgrade()
            await eventually { !server.handler.now.connections.isEmpty }
            let connection = try #require(server.handler.now.connections.first)
            let message = OutgoingMessage(.binary, [UInt8](repeating: 7, count: 10_000))
            // More than the system buffers for both sides. Then it reads, and hears why it is left.
            try await server.loop.run { for _ in 0..<2_000 { connection.send(message) } }
            var last = try await client.readFrame()
            while last.opcode != 8 { last = try await client.readFrame() }
            #expect(last.closeCode == 1_013)
            await eventually {
                server.handler.now.closes.map(\.code) == [1_013] && connection.queuedBytes == 0
            }
        }
    }

    /// One message may be larger than what may wait, and that much may wait besides.
    @Test(arguments: [false, true]) func oneLargeMessageWaitsForItsPeer(
        _ isTooMuch: Bool
    ) async throws {
        try await TestServer.run({
            $0.limits.queuedBytes = 1_000_000
            $0.limits.writeStuckTimeout = .testDeadline
            $0.limits.keepAlive = .testDeadline
            $0.limits.farewellTimeout = .testDeadline
        }) { server in
            let client = try RawClient(port: server.port)
            try await client.upgrade()
            await eventually { !server.handler.now.connections.isEmpty }
            let connection = try #require(server.handler.now.connections.first)
            let large = OutgoingMessage(.binary, [UInt8](repeating: 7, count: 20_000_000))
            let small = OutgoingMessage(.binary, [UInt8](repeating: 8, count: 60_000))
            try await server.loop.run {
                for _ in 0..<4 { connection.send(small) }
                connection.send(large)
                for _ in 0..<5 { connection.send(small) }
                if isTooMuch { connection.send(large) }
            }
            if isTooMuch {
                var last = try await client.readFrame()
                while last.opcode != 8 { last = try await client.readFrame() }
                #expect(last.closeCode == 1_013)
                await eventually { server.handler.now.closes.map(\.code) == [1_013] }
                return
            }
            func readBytes() async throws -> Int {
                var frame = try await client.readFrame()
                var count = frame.payload.count
                while !frame.isFinal {
                    frame = try await client.readFrame()
                    count += frame.payload.count
                }
                return count
            }
            for count in [Int](repeating: 60_000, count: 4) + [20_000_000] {
                #expect(try await readBytes() == count)
            }
            for _ in 0..<5 { #expect(try await readBytes() == 60_000) }
            // The next large one may wait again.
            try await server.loop.run { connection.send(large) }
            #expect(try await readBytes() == 20_000_000)
            #expect(server.handler.now.closes.isEmpty)
        }
    }

    /// More than may wait for it comes in one turn of the loop, and nobody has tried to send any of it.
    @Test func aBurstClosesNoConnectionWhosePeerTakesIt() async throws {
        try await TestServer.run({ $0.limits.queuedBytes = 20_000 }) { server in
            let client = try RawClient(port: server.port)
            try await client.upgrade()
            await eventually { !server.handler.now.connections.isEmpty }
            let connection = try #require(server.handler.now.connections.first)
            let message = OutgoingMessage(.binary, [UInt8](repeating: 7, count: 5_000))
            let count = 20
            try await server.loop.run {
                for _ in 0..<count { connection.send(message) }
            }
            for _ in 0..<count { #expect(try await client.readMessage().payload.count == 5_000) }
        }
    }

    @Test func aPeerThatTakesNothingIsLeftWith1013() async throws {
        try await TestServer.run({ $0.limits.writeStuckTimeout = .seconds(1) }) { server in
            let client = try RawClient(port: server.port, receiveBufferBytes: 4_096)
            try await client.upgrade()
            await eventually { !server.handler.now.connections.isEmpty }
            let connection = try #require(server.handler.now.connections.first)
            connection.send(OutgoingMessage(.binary, [UInt8](repeating: 7, count: 8_000_000)))
            await eventually {
                server.handler.now.closes.map(\.code) == [1_013] && connection.queuedBytes == 0
            }
            // It reads again, soon enough to hear why it was left.
            client.setReceiveBuffer(1 << 20)
            var last = try await client.readFrame()
            while last.opcode != 8 { last = try await client.readFrame() }
            #expect(last.closeCode == 1_013)
        }
    }

    /// RFC 6455 §5.5.1: also when its owner does not read.
    @Test func whatAPeerSaidBeforeItEndedIsTakenWhenReadingGoesOn() async throws {
        let handler = RecordingHandler(onOpen: { $0.pauseReading() })
        try await withClient(handler: handler) { client, server in
            try await client.send(text: "last words")
            try await client.send(frame: RawClient.Frame(opcode: 8, payload: [0x03, 0xE8]))
            client.finishSending()
            // Meanwhile it is looked after all connections.
            for _ in 0..<20 {
                await withCheckedContinuation { next in
                    server.loop.perform(after: .milliseconds(100)) { next.resume() }
                }
            }
            handler.now.connections.first?.resumeReading()
            await eventually { handler.now.closes.map(\.code) == [1_000] }
            #expect(handler.now.messages.map(\.bytes) == [Array("last words".utf8)])
        }
    }

    @Test func aPausedConnectionReadsOnLater() async throws {
        let handler = RecordingHandler(onOpen: { $0.pauseReading() })
        try await withClient(handler: handler) { client, server in
            for index in 0..<100 { try await client.send(text: "\(index)") }
            try await server.loop.run {}
            #expect(server.handler.now.messages.isEmpty)
            server.handler.now.connections.first?.resumeReading()
            for index in 0..<100 { #expect(try await client.readMessage().text == "\(index)") }
        }
    }
}
