import Dispatch
import HTTPMessages
import Testing
import Threads
import WebSocketIO

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

@Suite(.bounded, .timeLimit(.minutes(10)))
struct ServerLifeTests {
    @Test func aBusyPortIsNamedInTheError() async throws {
        try await TestServer.run { server in
            let error = await #expect(throws: IOError.self) {
                try await HTTPServer.start(
                    HTTPServer.Options(port: server.port), on: server.loop,
                    handler: RecordingHandler())
            }
            let code = try #require(error?.code)
            guard case .cannotListen(let number) = code else {
                Issue.record("\(code)")
                return
            }
            #expect(
                error?.message
                    == "Could not listen on 127.0.0.1, port \(server.port): "
                    + "Address already in use (errno \(number)). Nothing is listening.")
        }
    }

    @Test(arguments: [("256.0.0.1", 0), ("no such host", 0), ("127.0.0.1", 70_000)])
    func anAddressThatIsNotOursIsAnError(_ host: String, _ port: Int) async throws {
        let loop = try IOLoop.start()
        let error = await #expect(throws: IOError.self) {
            try await HTTPServer.start(
                HTTPServer.Options(host: host, port: port), on: loop, handler: RecordingHandler())
        }
        #expect(error?.message.contains(host) == true)
        await loop.stop()
    }

    @Test func aNameListensOnAllItsAddresses() async throws {
        try await TestServer.run({ $0.host = "localhost" }) { server in
            let client = try RawClient(port: server.port)
            try await client.upgrade()
        }
    }

    @Test func stoppingClosesWith1001AfterWhatIsQueued() async throws {
        try await TestServer.run { server in
            let clients = try (0..<10).map { _ in try RawClient(port: server.port) }
            for client in clients { try await client.upgrade() }
            await eventually { server.handler.now.connections.count == 10 }
            let message = OutgoingMessage(.binary, [UInt8](repeating: 1, count: 1_000_000))
            for connection in server.handler.now.connections { connection.send(message) }
            async let stopped: Void = server.server.stop(within: .seconds(120))
            for client in clients {
                #expect(try await client.readMessage().payload.count == 1_000_000)
                #expect(try await client.readClose() == 1_001)
                #expect(try await client.readToEnd() == "")
            }
            await stopped
            #expect(server.handler.now.closes.map(\.code) == Array(repeating: 1_001, count: 10))
            #expect(throws: RawClient.Failure.self) { try RawClient(port: server.port) }
        }
    }

    @Test func stoppingAnswersWhatHasBeenAsked() async throws {
        let waiting = Lock<HTTPResponder?>(nil)
        let handler = RecordingHandler(onRequest: { _, responder in
            waiting.withLock { $0 = responder }
        })
        try await TestServer.run(handler: handler) { server in
            let idle = try RawClient(port: server.port)
            let client = try RawClient(port: server.port)
            try await client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            await eventually { waiting.withLock { $0 != nil } }
            async let stopped: Void = server.server.stop(within: .seconds(120))
            #expect(try await idle.readToEnd() == "")
            waiting.withLock { $0?.respond(HTTPResponse(status: 200, text: "at last")) }
            let answer = try await client.readToEnd()
            #expect(answer.hasSuffix("\r\n\r\nat last\n"))
            #expect(answer.contains("\r\nconnection: close\r\n"))
            await stopped
        }
    }

    /// It comes when the stop has begun and the loop does something else.
    @Test func stoppingAnswersWhatHasArrivedAndWasNotRead() async throws {
        let gate = DispatchSemaphore(value: 0)
        let isStopping = Lock(false)
        let handler = RecordingHandler(onRequest: { request, responder in
            guard request.path == "/stream" else {
                return responder.respond(HTTPResponse(status: 200, text: request.path))
            }
            _ = responder.startStream(headers: [:]) {
                isStopping.withLock { $0 = true }
                // Holds up the loop, as nobody may.
                gate.wait()
            }
        })
        try await TestServer.run(handler: handler) { server in
            var clients = try (0..<10).map { _ in try RawClient(port: server.port) }
            for client in clients {
                try await client.send("GET /first HTTP/1.1\r\nHost: x\r\n\r\n")
                _ = try await client.read(through: "/first\n")
            }
            clients.append(try RawClient(port: server.port))
            try await clients[10].send("GET /stream HTTP/1.1\r\nHost: x\r\n\r\n")
            _ = try await clients[10].read(through: "\r\n\r\n")
            async let stopped: Void = server.server.stop(within: .seconds(120))
            await eventually { isStopping.withLock { $0 } }
            for client in clients[..<10] {
                try await client.send("GET /late HTTP/1.1\r\nHost: x\r\n\r\n")
            }
            gate.signal()
            for client in clients[..<10] {
                let answer = try await client.readToEnd()
                #expect(answer.contains("\r\nconnection: close\r\n"))
                #expect(answer.hasSuffix("\r\n\r\n/late\n"))
            }
            clients = []
            await stopped
        }
    }

    @Test func stoppingReadsTheBodyOfARequestThatHasBegun() async throws {
        try await TestServer.run { server in
            let idle = try RawClient(port: server.port)
            let client = try await uploading(to: server)
            async let stopped: Void = server.server.stop(within: .seconds(120))
            #expect(try await idle.readToEnd() == "")
            try await client.send("body")
            let answer = try await client.readToEnd()
            #expect(answer.hasPrefix("HTTP/1.1 200 "))
            #expect(answer.contains("\r\nconnection: close\r\n"))
            await stopped
        }
    }

    @Test func stoppingWaitsForABodyNoLongerThanItHasTime() async throws {
        try await TestServer.run { server in
            let client = try await uploading(to: server)
            // The rest of the body does not come: that this returns at all is the deadline's doing.
            await server.server.stop(within: .milliseconds(300))
            #expect(try await client.readToEnd() == "")
            #expect(server.handler.now.requests.isEmpty)
        }
    }

    /// A client whose request's head has been read, and whose body of four bytes is waited for.
    private func uploading(to server: TestServer) async throws -> RawClient {
        let client = try RawClient(port: server.port)
        try await client.send(
            "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n")
        _ = try await client.read(through: "100 Continue\r\n\r\n")
        return client
    }

    @Test func whoDoesNotEndByTheDeadlineIsCutOff() async throws {
        try await TestServer.run { server in
            let client = try RawClient(port: server.port, receiveBufferBytes: 4_096)
            try await client.upgrade()
            await eventually { server.handler.now.connections.count == 1 }
            server.handler.now.connections[0].send(
                OutgoingMessage(.binary, [UInt8](repeating: 1, count: 8_000_000)))
            // The client takes nothing and stays: that this returns at all is the deadline's doing.
            await server.server.stop(within: .milliseconds(300))
            #expect(server.handler.now.closes.count == 1)
            withExtendedLifetime(client) {}
        }
    }

    @Test func stoppingTheLoopTellsEveryHandler() async throws {
        let handler = RecordingHandler()
        var clients: [RawClient] = []
        try await TestServer.run(handler: handler) { server in
            clients = try (0..<10).map { _ in try RawClient(port: server.port) }
            for client in clients { try await client.upgrade() }
            await eventually { handler.now.connections.count == 10 }
        }
        #expect(handler.now.closes == Array(repeating: .abnormal, count: 10))
        for client in clients { _ = try await client.readToEnd() }
    }

    /// A program that is being started has, until it runs, copies of all descriptors of whoever starts it.
    @Test func nobodyListensAfterTheStopThoughAChildHasTheSocketForAMoment() async throws {
        let loop = try IOLoop.start()
        let server = try await HTTPServer.start(
            HTTPServer.Options(), on: loop, handler: RecordingHandler())
        let copy = try #require(Self.copyOfListeningSocket(on: server.port))
        defer { close(copy) }
        await server.stop(within: .seconds(120))
        let error = await #expect(throws: IOError.self) {
            try await HTTPClient.send(
                to: ServerAddress(host: "127.0.0.1", port: server.port), on: loop)
        }
        #expect(error?.code == .cannotConnect)
        let again = try await HTTPServer.start(
            HTTPServer.Options(port: server.port), on: loop, handler: RecordingHandler())
        await again.stop(within: .seconds(120))
        await loop.stop()
    }

    private static func copyOfListeningSocket(on port: Int) -> Int32? {
        (0..<4_096).first { descriptor in
            var address = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let result = withUnsafeMutablePointer(to: &address) { address in
                address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    getsockname(descriptor, $0, &length)
                }
            }
            var isListening: Int32 = 0
            var size = socklen_t(MemoryLayout<Int32>.size)
            getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &size)
            return result == 0 && address.sin_family == sa_family_t(AF_INET)
                && Int(in_port_t(bigEndian: address.sin_port)) == port && isListening != 0
        }.map { dup($0) }
    }

    @Test func aThousandConnectionsGetEveryBroadcast() async throws {
        try await TestServer.run { server in
            let clients = try (0..<1_000).map { _ in try RawClient(port: server.port) }
            for client in clients { try await client.send(RawClient.handshake()) }
            for client in clients { _ = try await client.read(through: "\r\n\r\n") }
            await eventually { server.handler.now.connections.count == 1_000 }
            let connections = server.handler.now.connections
            for index in 0..<3 {
                let shared = OutgoingMessage(text: "shared \(index)")
                for connection in connections { connection.send(shared) }
                let own = OutgoingMessage(text: "\(index)}")
                for connection in connections {
                    connection.send(own, prefix: Array("{\(connection.id):".utf8))
                }
            }
            var ids: Set<String> = []
            for client in clients {
                for index in 0..<3 {
                    // On a busy machine a ping may come first.
                    let shared = try await client.readMessage().text
                    let own = try await client.readMessage().text
                    guard shared == "shared \(index)", own.hasSuffix(":\(index)}") else {
                        Issue.record("got \(shared) and \(own) in round \(index)")
                        return
                    }
                    if index == 0 { ids.insert(own) }
                }
            }
            #expect(ids.count == 1_000)
            #expect(connections.allSatisfy { $0.queuedBytes == 0 })
        }
    }
}
