import HTTPMessages
import Testing
import Threads
import WebSocketTesting

@testable import WebSocketIO

@Suite(.bounded, .timeLimit(.minutes(10)))
struct ClientTests {
    private func address(_ server: TestServer, path: String = "/") -> ServerAddress {
        ServerAddress(host: "127.0.0.1", port: server.port, path: path)
    }

    // MARK: - WebSocket

    @Test func connectsSendsHeadersAndExchangesMessages() async throws {
        try await TestServer.run { server in
            let channel = try await WebSocketChannel.connect(
                to: address(server, path: "/graphql?x=1"),
                WebSocketClient.Options(
                    subprotocols: ["other", "graphql-transport-ws"],
                    headers: ["authorization": "Bearer T"]),
                on: server.loop)
            #expect(channel.connection.subprotocol == "graphql-transport-ws")
            let request = try #require(server.handler.now.upgrades.first)
            #expect(request.path == "/graphql")
            #expect(request.queryValue("x") == "1")
            #expect(request.headers["authorization"] == "Bearer T")
            #expect(request.headers["host"] == "127.0.0.1:\(server.port)")

            var messages = channel.makeAsyncIterator()
            for size in [0, 1, 126, 65_536, 1_000_000] {
                let payload = [UInt8](repeating: 0x61, count: size)
                channel.connection.send(OutgoingMessage(.text, payload), prefix: Array("p".utf8))
                let echo = await messages.next()
                #expect(echo == WebSocketMessage(.text, Array("p".utf8) + payload), "\(size) bytes")
            }
            channel.connection.close(code: 4_000, reason: "enough")
            #expect(await messages.next() == nil)
            #expect(channel.close == WebSocketClose(code: 4_000, reason: "enough"))
            await eventually {
                server.handler.now.closes
                    == [WebSocketClose(code: 4_000, reason: "enough", isFromPeer: true)]
            }
        }
    }

    @Test func offersCompressionWhenItIsAskedTo() async throws {
        let text = Array(repeatElement(Array("again and ".utf8), count: 20_000).joined())
        try await TestServer.run({ $0.limits.compressedConnections = 1 }) { server in
            var options = WebSocketClient.Options()
            for (offers, agreed) in [(false, false), (true, true), (true, false)] {
                options.offersCompression = offers
                let channel = try await WebSocketChannel.connect(
                    to: address(server), options, on: server.loop)
                let field = server.handler.now.upgrades.last?.headers["sec-websocket-extensions"]
                #expect(
                    field == (offers ? "permessage-deflate; client_max_window_bits" : nil))
                #expect(channel.connection.isCompressed == agreed)
                var messages = channel.makeAsyncIterator()
                for size in [0, 31, 32, 5_000, text.count, 5_000] {
                    let payload = Array(text.prefix(size))
                    channel.connection.send(OutgoingMessage(.text, payload))
                    #expect(await messages.next() == WebSocketMessage(.text, payload))
                }
                // The compressed one stays, so that the last gets none.
                if !agreed { channel.connection.close() }
            }
        }
    }

    @Test func hearsTheServersCloseCode() async throws {
        let handler = RecordingHandler(onOpen: { $0.close(code: 4_403, reason: "Forbidden") })
        try await TestServer.run(handler: handler) { server in
            let channel = try await WebSocketChannel.connect(to: address(server), on: server.loop)
            for await _ in channel {}
            #expect(
                channel.close == WebSocketClose(code: 4_403, reason: "Forbidden", isFromPeer: true))
        }
    }

    @Test func aRefusedHandshakeSaysItsStatus() async throws {
        let handler = RecordingHandler(refusing: { _ in HTTPResponse(status: 401, text: "No.") })
        try await TestServer.run(handler: handler) { server in
            let error = await #expect(throws: IOError.self) {
                try await WebSocketChannel.connect(to: address(server), on: server.loop)
            }
            #expect(error?.code == .handshakeRefused(status: 401))
            #expect(error?.message.contains("127.0.0.1:\(server.port)") == true)
        }
    }

    @Test func aRefusedConnectionIsAnError() async throws {
        try await TestServer.run { server in
            // Nobody listens on port 1, and no test beside this one is given it.
            let port = 1
            let error = await #expect(throws: IOError.self) {
                try await WebSocketChannel.connect(
                    to: ServerAddress(host: "127.0.0.1", port: port), on: server.loop)
            }
            #expect(error?.code == .cannotConnect)
            let httpError = await #expect(throws: IOError.self) {
                try await HTTPClient.send(
                    to: ServerAddress(host: "127.0.0.1", port: port), on: server.loop)
            }
            #expect(httpError?.code == .cannotConnect)
        }
    }

    @Test func aServerThatSaysNothingIsGivenUp() async throws {
        // It listens and never accepts.
        let deaf = try DeafListener()
        let loop = try IOLoop.start()
        let address = ServerAddress(host: "127.0.0.1", port: deaf.port)
        var options = WebSocketClient.Options()
        options.connectTimeout = .milliseconds(200)
        let error = await #expect(throws: IOError.self) {
            try await WebSocketChannel.connect(to: address, options, on: loop)
        }
        #expect(error?.code == .timedOut)
        var httpOptions = HTTPClient.Options()
        httpOptions.timeout = .milliseconds(200)
        let httpError = await #expect(throws: IOError.self) {
            try await HTTPClient.send(to: address, httpOptions, on: loop)
        }
        #expect(httpError?.code == .timedOut)
        await loop.stop()
    }

    /// The library by itself would give up after five seconds, as soon as anything else happens.
    @Test func anAnswerMayTakeAsLongAsTheOptionsSay() async throws {
        let waiting = Lock<HTTPResponder?>(nil)
        let handler = RecordingHandler(onRequest: { request, responder in
            if request.path == "/slow" { return waiting.withLock { $0 = responder } }
            responder.respond(HTTPResponse(status: 200, text: "at once"))
        })
        // Here that is longer than a busy machine takes for the rest.
        var options = HTTPClient.Options()
        options.timeout = .seconds(300)
        try await TestServer.run(handler: handler) { [options] server in
            async let slow = HTTPClient.send(
                to: address(server, path: "/slow"), options, on: server.loop)
            for _ in 0..<65 {
                await withCheckedContinuation { next in
                    server.loop.perform(after: .milliseconds(100)) { next.resume() }
                }
                _ = try await HTTPClient.send(to: address(server), on: server.loop)
            }
            waiting.withLock { $0 }?.respond(HTTPResponse(status: 200, text: "at last"))
            #expect(try await slow.status == 200)
        }
    }

    @Test func aSlowTakerPausesTheServerAndLosesNothing() async throws {
        let count = 5_000
        let handler = RecordingHandler(onOpen: { connection in
            for index in 0..<count {
                connection.send(
                    OutgoingMessage(.binary, [UInt8](repeating: UInt8(index % 251), count: 10_000)))
            }
        })
        try await TestServer.run({ $0.limits.queuedBytes = 1 << 30 }, handler: handler) { server in
            let channel = try await WebSocketChannel.connect(
                to: address(server), capacity: 4, on: server.loop)
            // While nobody takes anything, the server keeps what the network does not hold.
            await eventually { (handler.now.connections.first?.queuedBytes ?? 0) > 10_000_000 }
            var index = 0
            for await message in channel {
                if message.bytes.count != 10_000 || message.bytes[0] != UInt8(index % 251) {
                    Issue.record("message \(index) is not as it was sent")
                    break
                }
                index += 1
                if index == count { break }
            }
            #expect(index == count)
        }
    }

    @Test func aCancelledTakerGetsNothing() async throws {
        try await TestServer.run { server in
            let channel = try await WebSocketChannel.connect(to: address(server), on: server.loop)
            let taker = Task {
                var messages = channel.makeAsyncIterator()
                return await messages.next()
            }
            taker.cancel()
            #expect(await taker.value == nil)
        }
    }

    // MARK: - HTTP

    @Test func sendsRequestsAndReadsAnswers() async throws {
        let handler = RecordingHandler(onRequest: { request, responder in
            responder.respond(
                HTTPResponse(
                    status: 418, headers: ["content-type": "application/json"],
                    body: Array(request.method.utf8) + request.body))
        })
        try await TestServer.run(handler: handler) { server in
            let plain = try await HTTPClient.send(
                to: address(server, path: "/healthz"), on: server.loop)
            #expect(plain.status == 418)
            #expect(plain.headers["content-type"] == "application/json")
            #expect(plain.body == Array("GET".utf8))

            let body = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0) }
            let posted = try await HTTPClient.send(
                "POST", to: address(server), headers: ["x-a": "b"], body: body, on: server.loop)
            #expect(posted.body == Array("POST".utf8) + body)
            #expect(handler.now.requests.last?.headers["x-a"] == "b")

            let empty = try await HTTPClient.send(
                "POST", to: address(server), body: [], on: server.loop)
            #expect(empty.body == Array("POST".utf8))
        }
    }

    /// RFC 9112 §8: of an answer without a length only the connection's end says that it is whole, if it is an end in
    /// order.
    @Test(arguments: [false, true])
    func anAnswerThatIsCutOffIsNotTakenForAWholeOne(_ isReset: Bool) async throws {
        let loop = try IOLoop.start()
        let sockets = try ListeningSockets(host: "127.0.0.1", port: 0)
        try sockets.listen()
        let descriptor = try #require(sockets.takeDescriptors().first)
        let accepted = Lock<[Int32]>([])
        let answer = Array("HTTP/1.1 200 OK\r\n\r\nhalf".utf8)
        let listener = try await loop.runOnCore { core in
            LoopConfined(
                PortListener(core: core, descriptor: descriptor) { connection, _ in
                    _ = answer.withUnsafeBytes { sendSome(connection, $0) }
                    if isReset {
                        closeWithReset(connection)
                        closeDescriptor(connection)
                    } else {
                        shutdownSending(connection)
                        accepted.withLock { $0.append(connection) }
                    }
                } as PortListener?, on: loop)
        }
        let address = ServerAddress(isSecure: false, host: "127.0.0.1", port: sockets.port)
        if isReset {
            await #expect(throws: IOError.self) { try await HTTPClient.send(to: address, on: loop) }
        } else {
            let whole = try await HTTPClient.send(to: address, on: loop)
            #expect(whole.body == Array("half".utf8))
        }
        for connection in accepted.withLock({ $0 }) { closeDescriptor(connection) }
        try await loop.run { listener.value = nil }
        await loop.stop()
    }

    @Test func readsChunkedAnswers() async throws {
        let handler = RecordingHandler(onRequest: { _, responder in
            let stream = responder.startStream(headers: [:], onClose: {})
            for index in 0..<100 { stream?.write(Array("\(index),".utf8)) }
            stream?.finish()
        })
        try await TestServer.run(handler: handler) { server in
            let answer = try await HTTPClient.send(to: address(server), on: server.loop)
            #expect(
                String(decoding: answer.body, as: UTF8.self)
                    == (0..<100).map { "\($0)," }.joined())
        }
    }

    @Test func anAnswerThatIsTooLargeIsAnError() async throws {
        let handler = RecordingHandler(onRequest: { _, responder in
            responder.respond(
                HTTPResponse(status: 200, body: [UInt8](repeating: 0x61, count: 200_000)))
        })
        try await TestServer.run(handler: handler) { server in
            var options = HTTPClient.Options()
            options.maxBodyBytes = 100_000
            let error = await #expect(throws: IOError.self) {
                try await HTTPClient.send(to: address(server), options, on: server.loop)
            }
            #expect(error?.code == .tooLarge)
        }
    }

    // MARK: - TLS

    @Test func speaksTLSWithAServerItTrusts() async throws {
        let certificate = try TestCertificate()
        try await TestServer.run({ $0.tls = certificate.identity }) { server in
            let address = ServerAddress(isSecure: true, host: "localhost", port: server.port)
            let answer = try await HTTPClient.send(
                "POST", to: address, body: [UInt8](repeating: 0x61, count: 300_000),
                HTTPClient.Options(authorityFile: certificate.certificateFile), on: server.loop)
            #expect(answer.status == 200)
            #expect(server.handler.now.requests.first?.isSecure == true)

            let channel = try await WebSocketChannel.connect(
                to: address,
                WebSocketClient.Options(authorityFile: certificate.certificateFile), on: server.loop
            )
            var messages = channel.makeAsyncIterator()
            for size in [1, 1_000, 70_000, 3_000_000] {
                let payload = [UInt8](repeating: 0x62, count: size)
                channel.connection.send(OutgoingMessage(.binary, payload))
                #expect(await messages.next()?.bytes == payload, "\(size) bytes")
            }
            await server.server.stop(within: .seconds(120))
            #expect(await messages.next() == nil)
            #expect(channel.close?.code == 1_001)
        }
    }

    @Test func anEncryptedPeerThatTakesNothingDoesNotHoldUpTheEnd() async throws {
        let certificate = try TestCertificate()
        let handler = RecordingHandler(onOpen: { connection in
            connection.pauseReading()
            connection.send(OutgoingMessage(.binary, [UInt8](repeating: 1, count: 8_000_000)))
        })
        try await TestServer.run({ $0.tls = certificate.identity }, handler: handler) { server in
            let clientLoop = try IOLoop.start()
            let silent = RecordingHandler(onOpen: { $0.pauseReading() })
            _ = try await WebSocketClient.connect(
                to: ServerAddress(isSecure: true, host: "localhost", port: server.port),
                WebSocketClient.Options(authorityFile: certificate.certificateFile),
                on: clientLoop, handler: silent)
            await eventually { (handler.now.connections.first?.queuedBytes ?? 0) > 1_000_000 }
            await server.server.stop(within: .milliseconds(300))
            #expect(handler.now.closes.count == 1)
            await clientLoop.stop()
        }
    }

    /// The library numbers what it keeps beside TLS connections anew whenever a context asks it to.
    @Test func loopsThatAreMadeMeanwhileDisturbNoHandshake() async throws {
        let certificate = try TestCertificate()
        try await TestServer.run({ $0.tls = certificate.identity }) { server in
            let others = Task.detached {
                while !Task.isCancelled { await (try IOLoop.start()).stop() }
            }
            defer { others.cancel() }
            let options = HTTPClient.Options(authorityFile: certificate.certificateFile)
            let address = ServerAddress(isSecure: true, host: "localhost", port: server.port)
            for _ in 0..<50 {
                let answer = try await HTTPClient.send(to: address, options, on: server.loop)
                #expect(answer.status == 200)
            }
            others.cancel()
            try await others.value
        }
    }

    @Test func doesNotSpeakWithAServerItDoesNotTrust() async throws {
        let certificate = try TestCertificate()
        try await TestServer.run({ $0.tls = certificate.identity }) { server in
            let unknown = ServerAddress(isSecure: true, host: "localhost", port: server.port)
            let unknownError = await #expect(throws: IOError.self) {
                try await WebSocketChannel.connect(to: unknown, on: server.loop)
            }
            #expect(unknownError?.code == .cannotConnect)
            #expect(unknownError?.message.contains("an authority that is trusted here") == true)
            let otherName = ServerAddress(isSecure: true, host: "127.0.0.2", port: server.port)
            await #expect(throws: IOError.self) {
                try await WebSocketChannel.connect(
                    to: otherName,
                    WebSocketClient.Options(authorityFile: certificate.certificateFile),
                    on: server.loop)
            }
            #expect(server.handler.now.upgrades.isEmpty)
        }
    }

    @Test func credentialsThatCannotBeReadAreNamed() async throws {
        let loop = try IOLoop.start()
        let options = HTTPServer.Options(
            tls: HTTPServer.TLSIdentity(certificateFile: "/no/certificate", keyFile: "/no/key"))
        let error = await #expect(throws: IOError.self) {
            try await HTTPServer.start(options, on: loop, handler: RecordingHandler())
        }
        #expect(error?.code == .badCredentials)
        #expect(error?.message.contains("/no/certificate") == true)

        let clientError = await #expect(throws: IOError.self) {
            try await HTTPClient.send(
                to: ServerAddress(isSecure: true, host: "localhost", port: 1),
                HTTPClient.Options(authorityFile: "/no/authority"), on: loop)
        }
        #expect(clientError?.code == .badCredentials)
        #expect(clientError?.message.contains("/no/authority") == true)
        await loop.stop()
    }
}
