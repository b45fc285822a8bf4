import HTTPMessages
import Synchronization
import Testing
import Threads

@testable import WebSocketIO

@Suite(.bounded, .timeLimit(.minutes(10)))
struct HTTPStreamTests {
    /// Starts a stream for each request and keeps it where a test finds it.
    private final class Streams: Sendable {
        let all = Lock<[HTTPResponseStream]>([])
        let closes = Atomic<Int>(0)

        var first: HTTPResponseStream? { all.withLock { $0.first } }

        /// The first stream; a client may have read its head before the handler has it.
        func started() async throws -> HTTPResponseStream {
            await eventually { first != nil }
            return try #require(first)
        }

        var handler: RecordingHandler {
            RecordingHandler(onRequest: { _, responder in
                let stream = responder.startStream(
                    headers: ["content-type": "text/event-stream"],
                    onClose: { self.closes.wrappingAdd(1, ordering: .relaxed) })
                if let stream { self.all.withLock { $0.append(stream) } }
            })
        }
    }

    private let request = "GET /events HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n"

    @Test func sendsPiecesAsChunksAndKeepsTheConnection() async throws {
        let streams = Streams()
        try await TestServer.run(handler: streams.handler) { server in
            let client = try RawClient(port: server.port)
            try await client.send(request)
            let head = try await client.read(through: "\r\n\r\n")
            #expect(head.contains("\r\ntransfer-encoding: chunked\r\n"))
            #expect(head.contains("\r\ncontent-type: text/event-stream\r\n"))
            let stream = try await streams.started()
            stream.write(Array("data: 1\n\n".utf8))
            #expect(try await client.read(through: "\n\n\r\n") == "9\r\ndata: 1\n\n\r\n")
            stream.write(Array("data: 22\n\n".utf8))
            #expect(try await client.read(through: "\n\n\r\n") == "a\r\ndata: 22\n\n\r\n")
            stream.finish()
            #expect(try await client.read(through: "0\r\n\r\n") == "0\r\n\r\n")

            try await client.send(request)
            _ = try await client.read(through: "\r\n\r\n")
            #expect(streams.closes.load(ordering: .relaxed) == 0)
        }
    }

    /// Of a request whose answer is taken as a whole. One that is cancelled before it is sent is not sent.
    @Test func cancellingTheTaskClosesTheConnection() async throws {
        let streams = Streams()
        try await TestServer.run(handler: streams.handler) { server in
            let address = ServerAddress(host: "localhost", port: server.port)
            let request = Task { try await HTTPClient.send(to: address, on: server.loop) }
            _ = try await streams.started()
            request.cancel()
            let never = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await HTTPClient.send(to: address, on: server.loop)
            }
            for task in [request, never] {
                await #expect {
                    try await task.value
                } throws: {
                    ($0 as? IOError)?.code == .stopped
                }
            }
            await eventually { streams.closes.load(ordering: .relaxed) == 1 }
            #expect(server.handler.now.requests.count == 1)
        }
    }

    /// Whether a client is slow is judged by what it takes, not by what one turn of the loop brings.
    @Test func whatComesInOneTurnGoesOutAsFarAsTheClientTakesIt() async throws {
        let streams = Streams()
        try await TestServer.run({ $0.limits.queuedBytes = 10_000 }, handler: streams.handler) {
            server in
            let client = try RawClient(port: server.port)
            try await client.send(request)
            _ = try await client.read(through: "\r\n\r\n")
            let stream = try await streams.started()
            let piece = [UInt8](repeating: 0x61, count: 4_000)
            let count = 20
            let waiting = try await server.loop.run {
                for _ in 0..<count { stream.write(piece) }
                stream.sendWaiting(downTo: 0)
                return stream.queuedBytes
            }
            #expect(waiting == 0)
            for _ in 0..<count {
                _ = try await client.read(through: "\r\n")
                #expect(try await client.read(count: piece.count) == piece)
                _ = try await client.read(through: "\r\n")
            }
        }
    }

    @Test func aTimerRunsInTheMiddleOfAMessageToManyStreams() async throws {
        let streams = Streams()
        try await TestServer.run(handler: streams.handler) { server in
            let clients = try (0..<300).map { _ in try RawClient(port: server.port) }
            for client in clients { try await client.send(request) }
            for client in clients { _ = try await client.read(through: "\r\n\r\n") }
            await eventually { streams.all.withLock { $0.count } == clients.count }
            let all = streams.all.withLock { $0 }
            let piece = [UInt8](repeating: 0x61, count: 60_000)
            let untouchedAtTimer = Lock<Int?>(nil)
            try await server.loop.runOnCore { core in
                core.schedule(at: monotonicMilliseconds()) {
                    let untouched = all.count { $0.queuedBytes >= piece.count }
                    untouchedAtTimer.withLock { $0 = untouched }
                }
                SlowFlush.fillSlice(of: core)
                for stream in all { stream.write(piece) }
            }
            for client in clients {
                _ = try await client.read(through: "\r\n")
                #expect(try await client.read(count: piece.count).count == piece.count)
            }
            let untouched = try #require(untouchedAtTimer.withLock { $0 })
            #expect(untouched > 0)
        }
    }

    @Test func hearsThatTheClientWentAway() async throws {
        let streams = Streams()
        try await TestServer.run(handler: streams.handler) { server in
            var client: RawClient? = try RawClient(port: server.port)
            try await client?.send(request)
            _ = try await client?.read(through: "\r\n\r\n")
            client = nil
            await eventually { streams.closes.load(ordering: .relaxed) == 1 }
            // Harmless from now on.
            streams.first?.write(Array("late".utf8))
            streams.first?.finish()
            try await eventually { try await server.server.connectionCount() == 0 }
        }
    }

    @Test func stoppingTheServerEndsStreamsInOrder() async throws {
        let streams = Streams()
        try await TestServer.run(handler: streams.handler) { server in
            let client = try RawClient(port: server.port)
            try await client.send(request)
            _ = try await client.read(through: "\r\n\r\n")
            await server.server.stop(within: .seconds(120))
            #expect(try await client.readToEnd() == "0\r\n\r\n")
            #expect(streams.closes.load(ordering: .relaxed) == 1)
        }
    }

    @Test func anHTTP10StreamEndsWithTheConnection() async throws {
        let streams = Streams()
        try await TestServer.run(handler: streams.handler) { server in
            let client = try RawClient(port: server.port)
            try await client.send("GET /events HTTP/1.0\r\n\r\n")
            let head = try await client.read(through: "\r\n\r\n")
            #expect(!head.contains("chunked"))
            streams.first?.write(Array("data: 1\n\n".utf8))
            streams.first?.finish()
            #expect(try await client.readToEnd() == "data: 1\n\n")
        }
    }

    @Test func aClientThatDoesNotReadIsCutOff() async throws {
        let streams = Streams()
        try await TestServer.run({ $0.limits.queuedBytes = 1 << 20 }, handler: streams.handler) {
            server in
            let client = try RawClient(port: server.port, receiveBufferBytes: 4_096)
            try await client.send(request)
            _ = try await client.read(through: "\r\n\r\n")
            let stream = try await streams.started()
            let piece = [UInt8](repeating: 0x61, count: 65_536)
            await eventually {
                stream.write(piece)
                return streams.closes.load(ordering: .relaxed) == 1
            }
            #expect(server.handler.now.slowClients == ["Too much is waiting to be sent"])
        }
    }

    /// That it has gone would look the same. Before its stream begins, or after.
    @Test(arguments: [false, true])
    func aClientThatEndsItsDirectionEndsItsStream(_ isBegun: Bool) async throws {
        let streams = Streams()
        let held = Lock<[HTTPResponder]>([])
        let handler = RecordingHandler(onRequest: { request, responder in
            if isBegun {
                streams.handler.respond(to: request, with: responder)
            } else {
                held.withLock { $0.append(responder) }
            }
        })
        try await TestServer.run(handler: handler) { server in
            let client = try RawClient(port: server.port)
            try await client.send(request)
            if isBegun { _ = try await client.read(through: "\r\n\r\n") }
            client.finishSending()
            if !isBegun {
                // A later client's request is taken after this one's end.
                await eventually { !handler.now.requests.isEmpty }
                let other = try RawClient(port: server.port)
                try await other.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
                await eventually { handler.now.requests.count == 2 }
                let responder = try #require(held.withLock { $0.first })
                streams.handler.respond(to: handler.now.requests[0], with: responder)
                held.withLock { $0 = [] }
            }
            #expect(try await client.readToEnd() == "")
            await eventually { streams.closes.load(ordering: .relaxed) == 1 }
        }
    }
}
