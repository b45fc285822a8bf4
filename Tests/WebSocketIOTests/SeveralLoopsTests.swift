import Testing
import WebSocketTesting

@testable import WebSocketIO

/// One server on several loops.
@Suite(.bounded, .timeLimit(.minutes(10)))
struct SeveralLoopsTests {
    private struct Running: Sendable {
        let server: HTTPServer
        let loops: [IOLoop]
        let handlers: [RecordingHandler]

        func connect() async throws -> WebSocketChannel {
            try await WebSocketChannel.connect(
                to: ServerAddress(host: "127.0.0.1", port: server.port, path: "/"),
                WebSocketClient.Options(subprotocols: ["echo"]), on: loops[0])
        }

        func connectionsByLoop() async throws -> [Int] {
            try await server.usageByLoop().map(\.connections)
        }
    }

    private func run(
        loops count: Int, _ change: (inout HTTPServer.Options) -> Void = { _ in },
        _ body: (Running) async throws -> Void
    ) async throws {
        var options = HTTPServer.Options(subprotocols: ["echo"])
        options.limits.handshakeTimeout = .seconds(60)
        options.limits.writeStuckTimeout = .seconds(60)
        change(&options)
        var loops: [IOLoop] = []
        for _ in 0..<count { loops.append(try IOLoop.start()) }
        do {
            let handlers = loops.map { loop in
                RecordingHandler(onOpen: { #expect($0.loop === loop && loop.isCurrent) })
            }
            let server = try await HTTPServer.start(
                options, on: zip(loops, handlers).map { (loop: $0, handler: $1) })
            try await body(Running(server: server, loops: loops, handlers: handlers))
        } catch {
            for loop in loops { await loop.stop() }
            throw error
        }
        for loop in loops { await loop.stop() }
    }

    @Test func theLoopWithTheFewestConnectionsGetsTheNext() {
        let load = ServerLoad(loops: 3, HTTPServer.Limits())
        #expect((0..<4).map { _ in load.take()?.loop } == [0, 1, 2, 0])
        load.leave(loop: 1)
        load.leave(loop: 0)
        // Now they have 1, 0 and 1.
        #expect((0..<4).map { _ in load.take()?.loop } == [1, 0, 1, 2])
    }

    @Test func theLimitsHoldForAllLoopsTogether() {
        var limits = HTTPServer.Limits()
        limits.connections = 3
        limits.refusals = 2
        limits.compressedConnections = 1
        let load = ServerLoad(loops: 2, limits)
        #expect((0..<5).map { _ in load.take()?.isRefused } == [false, false, false, true, true])
        load.leave(loop: 0)
        load.leave(loop: 0)
        load.leave(loop: 1)
        #expect(load.take() == ServerLoad.Place(loop: 0, isRefused: false))
        var places = 3
        while load.take() != nil { places += 1 }
        #expect(places == 3 + 2)
        #expect(load.takeCompression())
        #expect(!load.takeCompression())
        load.leaveCompression()
        #expect(load.takeCompression())
    }

    @Test func fewConnectionsAreSpreadEvenlyToo() async throws {
        try await run(loops: 3) { running in
            var channels: [WebSocketChannel] = []
            for count in 1...6 {
                let channel = try await running.connect()
                channels.append(channel)
                channel.connection.send(OutgoingMessage(text: "number \(count)"))
                var messages = channel.makeAsyncIterator()
                let echo = await messages.next()
                #expect(echo?.bytes == Array("number \(count)".utf8))
            }
            #expect(try await running.connectionsByLoop() == [2, 2, 2])
            #expect(running.handlers.map { $0.now.messages.count } == [2, 2, 2])
            for channel in channels { channel.connection.close() }
            try await eventually { try await running.connectionsByLoop() == [0, 0, 0] }
            #expect(running.handlers.map { $0.now.closes.count } == [2, 2, 2])
        }
    }

    @Test func whoComesWhenAllAreTakenIsToldByWhicheverLoop() async throws {
        try await run(loops: 2, { $0.limits.connections = 2 }) { running in
            let channels = [try await running.connect(), try await running.connect()]
            for _ in 0..<2 {
                let client = try RawClient(port: running.server.port)
                try await client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
                #expect(try await client.readToEnd().hasPrefix("HTTP/1.1 503 "))
            }
            for channel in channels { channel.connection.close() }
            try await eventually { try await running.connectionsByLoop() == [0, 0] }
            let channel = try await running.connect()
            channel.connection.close()
        }
    }

    @Test func aStopEndsTheConnectionsOfAllLoopsInOrder() async throws {
        try await run(loops: 3) { running in
            var channels: [WebSocketChannel] = []
            for _ in 0..<6 { channels.append(try await running.connect()) }
            await running.server.stop(within: .seconds(60))
            #expect(try await running.connectionsByLoop() == [0, 0, 0])
            for channel in channels {
                for await _ in channel {}
                #expect(channel.close?.code == 1_001)
            }
            await #expect(throws: (any Error).self) { _ = try await running.connect() }
            await running.server.stop(within: .seconds(60))
        }
    }

    @Test func aPortThatIsTakenIsAnErrorWithSeveralLoopsToo() async throws {
        try await run(loops: 2) { running in
            let error = await #expect(throws: IOError.self) {
                try await run(loops: 2, { $0.port = running.server.port }) { _ in }
            }
            guard case .cannotListen? = error?.code else {
                Issue.record("it was \(String(describing: error))")
                return
            }
        }
    }

    @Test func eachLoopServesTLS() async throws {
        let certificate = try TestCertificate()
        try await run(loops: 3, { $0.tls = certificate.identity }) { running in
            var options = WebSocketClient.Options(subprotocols: ["echo"])
            options.authorityFile = certificate.certificateFile
            var channels: [WebSocketChannel] = []
            for count in 0..<6 {
                let channel = try await WebSocketChannel.connect(
                    to: ServerAddress(isSecure: true, host: "localhost", port: running.server.port),
                    options, on: running.loops[0])
                channel.connection.send(OutgoingMessage(text: "\(count)"))
                var messages = channel.makeAsyncIterator()
                #expect(await messages.next()?.bytes == Array("\(count)".utf8))
                channels.append(channel)
            }
            #expect(try await running.connectionsByLoop() == [2, 2, 2])
            for channel in channels { channel.connection.close() }
        }
    }

    @Test func thereIsAtLeastOneProcessor() {
        #expect(IOLoop.usableProcessors >= 1)
    }
}
