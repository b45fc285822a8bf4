import HTTPMessages
import Testing
import WebSocketIO

@Suite(.bounded, .timeLimit(.minutes(10)))
struct HTTPServerTests {
    /// Sends `request` and returns everything the server answers until it closes.
    private func answer(to request: String, at port: Int) async throws -> String {
        let client = try RawClient(port: port)
        try await client.send(request)
        return try await client.readToEnd()
    }

    @Test func answersARequestAndKeepsTheConnection() async throws {
        try await TestServer.run { server in
            let client = try RawClient(port: server.port)
            for path in ["/first", "/second"] {
                try await client.send("GET \(path) HTTP/1.1\r\nHost: x\r\n\r\n")
                let answer = try await client.read(through: "GET \(path)\n")
                #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
                #expect(answer.contains("\r\ncontent-length: \(path.utf8.count + 5)\r\n"))
            }
        }
    }

    @Test func handsOnMethodPathQueryHeadersAndBody() async throws {
        try await TestServer.run { server in
            _ = try await answer(
                to: "POST /a%20path?x=1&y=a%26b%3Dc&empty=&plus=a%2Bb+c&flag HTTP/1.1\r\n"
                    + "Host: x\r\nAuthorization: Bearer T\r\nOrigin: http://o\r\n"
                    + "X-API-Key: k\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello",
                at: server.port)
            let request = try #require(server.handler.now.requests.first)
            #expect(request.method == "POST")
            #expect(request.path == "/a path")
            #expect(request.queryValue("x") == "1")
            #expect(request.queryValue("y") == "a&b=c")
            #expect(request.queryValue("empty") == "")
            #expect(request.queryValue("flag") == "")
            #expect(request.queryValue("plus") == "a+b c")
            #expect(request.headers["authorization"] == "Bearer T")
            #expect(request.headers["Origin"] == "http://o")
            #expect(request.headers["x-api-key"] == "k")
            #expect(request.body == Array("hello".utf8))
            #expect(request.peerAddress == "127.0.0.1")
            #expect(!request.isSecure)
        }
    }

    /// RFC 9112 §6.3: without a word about its length there is no body.
    @Test(arguments: ["PUT", "PATCH", "DELETE", "OPTIONS"])
    func aRequestWithoutALengthHasNoBody(_ method: String) async throws {
        try await TestServer.run { server in
            let answer = try await answer(
                to: "\(method) /p HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", at: server.port
            )
            #expect(answer.hasSuffix("\(method) /p\n"))
        }
    }

    /// RFC 9110 §6.6.1.
    @Test(arguments: ["GET / HTTP/1.1\r\nHost: x\r\n\r\n", "GET / HTTP/1.1\r\n\r\n"])
    func answersSayWhenTheyWereMade(_ request: String) async throws {
        try await TestServer.run { server in
            let client = try RawClient(port: server.port)
            try await client.send(request)
            let answer = try await client.read(through: "\r\n\r\n")
            let form = /\r\ndate: [A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT\r\n/
            #expect(answer.contains(form), "\(answer)")
        }
    }

    @Test func answersHeadWithoutBody() async throws {
        try await TestServer.run { server in
            let answer = try await answer(
                to: "HEAD /p HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", at: server.port)
            #expect(answer.contains("\r\ncontent-length: 8\r\n"))
            #expect(answer.hasSuffix("\r\n\r\n"))
        }
    }

    @Test(arguments: ["OPTIONS", "PUT", "PATCH", "DELETE"])
    func knowsTheMethod(_ method: String) async throws {
        try await TestServer.run { server in
            let answer = try await answer(
                to: "\(method) /p HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n"
                    + "Connection: close\r\n\r\nhi", at: server.port)
            #expect(answer.hasSuffix("\(method) /p\n"))
            #expect(server.handler.now.requests.first?.body == Array("hi".utf8))
        }
    }

    @Test(arguments: [
        (
            "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
            501
        ),
        ("POST / HTTP/1.1\r\nHost: x\r\n\r\n", 411),
        ("GET / HTTP/1.1\r\nHost: x\r\nContent-Type: a/b\r\nContent-Type: a/b\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2000000\r\n\r\n", 413),
        ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1x\r\n\r\nh", 400),
        ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\nh", 413),
        ("GET / HTTP/1.1\r\n\r\n", 400),
        ("CONNECT a:1 HTTP/1.1\r\nHost: x\r\n\r\n", 501),
    ])
    func refusesWithARealStatus(_ request: String, _ status: Int) async throws {
        try await TestServer.run({ $0.limits.bodyBytes = 1_000_000 }) { server in
            let answer = try await answer(to: request, at: server.port)
            #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(answer)")
            #expect(answer.contains("\r\nconnection: close\r\n"))
            #expect(server.handler.now.requests.isEmpty)
        }
    }

    @Test func aBodyThatIsTooLargeIsRefusedEvenWhileItIsBeingSent() async throws {
        try await TestServer.run({ $0.limits.bodyBytes = 1_000 }) { server in
            let client = try RawClient(port: server.port)
            try await client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3000000\r\n\r\n")
            try await client.send([UInt8](repeating: 0x61, count: 3_000_000))
            #expect(try await client.read(through: "\r\n\r\n").hasPrefix("HTTP/1.1 413 "))
        }
    }

    @Test func takesALargeBodyAndAnEmptyOne() async throws {
        try await TestServer.run { server in
            let client = try RawClient(port: server.port)
            try await client.send("POST /l HTTP/1.1\r\nHost: x\r\nContent-Length: 3000000\r\n\r\n")
            try await client.send([UInt8](repeating: 0x61, count: 3_000_000))
            _ = try await client.read(through: "POST /l\n")
            try await client.send("POST /e HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n")
            _ = try await client.read(through: "POST /e\n")
            #expect(server.handler.now.requests.map(\.body.count) == [3_000_000, 0])
        }
    }

    @Test func takesABodyInChunks() async throws {
        try await TestServer.run { server in
            let client = try RawClient(port: server.port)
            try await client.send(
                "POST /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n"
            )
            _ = try await client.read(through: "HTTP/1.1 100 Continue\r\n\r\n")
            try await client.send("5;a=b\r\nhello\r\n6\r\n worl")
            try await client.send("d\r\n0\r\nT: x\r\n\r\nGET /next HTTP/1.1\r\nHost: x\r\n\r\n")
            _ = try await client.read(through: "GET /next\n")
            let requests = server.handler.now.requests
            #expect(requests.map(\.path) == ["/c", "/next"])
            #expect(requests.first?.body == Array("hello world".utf8))
            #expect(requests.first?.headers["t"] == nil)
        }
    }

    @Test func tellsAWaitingClientToGoOn() async throws {
        try await TestServer.run { server in
            let client = try RawClient(port: server.port)
            try await client.send(
                "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
            #expect(try await client.read(through: "\r\n\r\n").hasPrefix("HTTP/1.1 100 "))
            try await client.send("hi")
            #expect(try await client.read(through: "POST /\n").hasPrefix("HTTP/1.1 200 "))
        }
    }

    @Test func answersPipelinedRequestsInOrder() async throws {
        let handler = RecordingHandler(onRequest: { request, responder in
            // Later ones would be ready first.
            let delay = request.path == "/0" ? 30 : 1
            Task {
                try? await Task.sleep(for: .milliseconds(delay))
                responder.respond(HTTPResponse(status: 200, text: request.path))
            }
        })
        try await TestServer.run(handler: handler) { server in
            let client = try RawClient(port: server.port)
            try await client.send(
                (0..<5).map { "GET /\($0) HTTP/1.1\r\nHost: x\r\n\r\n" }.joined())
            for index in 0..<5 {
                #expect(
                    try await client.read(through: "\r\n\r\n/\(index)\n").hasPrefix("HTTP/1.1 200 ")
                )
            }
        }
    }

    /// Requests are small and their answers large: whoever reads no answer is not served any further.
    @Test func pipelinedRequestsWaitUntilTheirAnswersAreTaken() async throws {
        let body = [UInt8](repeating: 0x61, count: 100_000)
        let handler = RecordingHandler(onRequest: { _, responder in
            responder.respond(HTTPResponse(status: 200, body: body))
        })
        let count = 100
        try await TestServer.run({ $0.limits.queuedBytes = 1_000_000 }, handler: handler) {
            server in
            let client = try RawClient(port: server.port, receiveBufferBytes: 4_096)
            try await client.send(
                String(repeating: "GET / HTTP/1.1\r\nHost: x\r\n\r\n", count: count))
            try await eventually { try await server.server.usage().queuedBytes > 0 }
            #expect(handler.now.requests.count < count)
            for _ in 0..<count {
                _ = try await client.read(through: "\r\n\r\n")
                #expect(try await client.read(count: body.count).count == body.count)
            }
            #expect(handler.now.requests.count == count)
        }
    }

    /// RFC 9110 §10.1.1.
    @Test func aBodyIsNotAskedForWhenTheHeadDecides() async throws {
        let handler = RecordingHandler(refusingHead: { request in
            request.path == "/no" ? HTTPResponse(status: 401, text: "no") : nil
        })
        try await TestServer.run(handler: handler) { server in
            for framing in ["Content-Length: 2", "Transfer-Encoding: chunked"] {
                let client = try RawClient(port: server.port)
                try await client.send(
                    "POST /no HTTP/1.1\r\nHost: x\r\n\(framing)\r\nExpect: 100-continue\r\n\r\n")
                let answer = try await client.readToEnd()
                #expect(answer.hasPrefix("HTTP/1.1 401 "), "\(answer)")
            }
            // RFC 9110 §9.3.2: a HEAD's answer has no body, this one neither.
            let asking = try RawClient(port: server.port)
            try await asking.send(
                "HEAD /no HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"
            )
            let answer = try await asking.readToEnd()
            #expect(answer.hasPrefix("HTTP/1.1 401 ") && answer.hasSuffix("\r\n\r\n"), "\(answer)")
            let client = try RawClient(port: server.port)
            try await client.send(
                "POST /yes HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"
            )
            #expect(try await client.read(through: "\r\n\r\n").hasPrefix("HTTP/1.1 100 "))
            #expect(handler.now.requests.isEmpty)
        }
    }

    @Test func answersPipelinedRequestsWithBodies() async throws {
        try await TestServer.run { server in
            let client = try RawClient(port: server.port)
            let requests = (0..<5).map {
                "POST /\($0) HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nb-\($0)"
            }
            try await client.send(requests.joined())
            for index in 0..<5 { _ = try await client.read(through: "POST /\(index)\n") }
            #expect(
                server.handler.now.requests.map { String(decoding: $0.body, as: UTF8.self) }
                    == ["b-0", "b-1", "b-2", "b-3", "b-4"])
        }
    }

    @Test func answersEverythingAClientAskedBeforeItEndedItsDirection() async throws {
        let handler = RecordingHandler(onRequest: { request, responder in
            Task {
                try? await Task.sleep(for: .milliseconds(5))
                responder.respond(HTTPResponse(status: 200, text: request.path))
            }
        })
        try await TestServer.run(handler: handler) { server in
            let client = try RawClient(port: server.port)
            try await client.send(
                (0..<3).map { "GET /\($0) HTTP/1.1\r\nHost: x\r\n\r\n" }.joined())
            client.finishSending()
            let answers = try await client.readToEnd()
            for index in 0..<3 { #expect(answers.contains("\r\n\r\n/\(index)\n")) }
        }
    }

    @Test func keepsAnHTTP10ConnectionThatAsksForIt() async throws {
        try await TestServer.run { server in
            let client = try RawClient(port: server.port)
            for _ in 0..<2 {
                try await client.send("GET /p HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n")
                let answer = try await client.read(through: "GET /p\n")
                #expect(answer.contains("\r\nconnection: keep-alive\r\n"))
            }
        }
    }

    @Test func anIdleConnectionMayAskAgain() async throws {
        try await TestServer.run({ $0.limits.handshakeTimeout = .seconds(1) }) { server in
            // On a busy machine a request may come too late; then another one is tried.
            var kept: RawClient?
            await eventually {
                let client = try? RawClient(port: server.port)
                try? await client?.send("GET /p HTTP/1.1\r\nHost: x\r\n\r\n")
                if (try? await client?.read(through: "GET /p\n")) != nil { kept = client }
                return kept != nil
            }
            let client = try #require(kept)
            // When one that came later has been sent away, more time is over than a request may take.
            #expect(try await RawClient(port: server.port).readToEnd() == "")
            try await client.send(
                "POST /q HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi")
            _ = try await client.read(through: "POST /q\n")
        }
    }

    @Test func closesAfterAnHTTP10Request() async throws {
        try await TestServer.run { server in
            let answer = try await answer(to: "GET /old HTTP/1.0\r\n\r\n", at: server.port)
            #expect(answer.hasPrefix("HTTP/1.1 200 "))
            #expect(answer.contains("\r\nconnection: close\r\n"))
            #expect(answer.hasSuffix("GET /old\n"))
        }
    }

    @Test func sendsALargeAnswerWhole() async throws {
        let body = (0..<5_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) | 0x20 & 0x7F }
        let handler = RecordingHandler(onRequest: { _, responder in
            responder.respond(HTTPResponse(status: 200, body: body))
        })
        try await TestServer.run(handler: handler) { server in
            let client = try RawClient(port: server.port)
            try await client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            _ = try await client.read(through: "\r\n\r\n")
            #expect(try await client.read(count: body.count) == body)
        }
    }

    @Test func aResponderThatIsDroppedAnswers500() async throws {
        try await TestServer.run(handler: RecordingHandler(onRequest: { _, _ in })) { server in
            let answer = try await answer(
                to: "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", at: server.port)
            #expect(answer.hasPrefix("HTTP/1.1 500 "))
        }
    }

    @Test func onlyTheFirstAnswerCounts() async throws {
        let handler = RecordingHandler(onRequest: { _, responder in
            responder.respond(HTTPResponse(status: 200, text: "first"))
            responder.respond(HTTPResponse(status: 200, text: "second"))
            #expect(responder.startStream(headers: [:], onClose: {}) == nil)
        })
        try await TestServer.run(handler: handler) { server in
            let answer = try await answer(
                to: "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", at: server.port)
            #expect(answer.hasSuffix("\r\n\r\nfirst\n"))
        }
    }

    @Test func aHeaderValueCannotSmuggleAnotherField() async throws {
        let handler = RecordingHandler(onRequest: { _, responder in
            responder.respond(HTTPResponse(status: 200, headers: ["x-a": "1\r\nx-b: 2"]))
        })
        try await TestServer.run(handler: handler) { server in
            let answer = try await answer(
                to: "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", at: server.port)
            #expect(answer.contains("\r\nx-a: 1  x-b: 2\r\n"))
        }
    }

    @Test func whoComesAboveTheLimitIsAnswered503() async throws {
        try await TestServer.run({ $0.limits.connections = 2 }) { server in
            let kept = try (0..<2).map { _ in try RawClient(port: server.port) }
            for client in kept { try await client.upgrade() }
            let http = try await answer(to: "GET / HTTP/1.1\r\nHost: x\r\n\r\n", at: server.port)
            #expect(http.hasPrefix("HTTP/1.1 503 "))
            let waiting = try await answer(
                to: "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n"
                    + "Expect: 100-continue\r\n\r\n",
                at: server.port)
            #expect(waiting.hasPrefix("HTTP/1.1 503 "))
            #expect(
                try await answer(to: RawClient.handshake(), at: server.port).hasPrefix(
                    "HTTP/1.1 503 "))
            try await eventually { try await server.server.connectionCount() == 2 }
            withExtendedLifetime(kept) {}
        }
    }

    @Test func whoSaysNothingIsSentAway() async throws {
        try await TestServer.run({ $0.limits.handshakeTimeout = .seconds(1) }) { server in
            let silent = try RawClient(port: server.port)
            let slow = try RawClient(port: server.port)
            try await slow.send("GET / HTTP/1.1\r\nHost:")
            let half = try RawClient(port: server.port)
            try await half.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhal")
            for client in [silent, slow] { #expect(try await client.readToEnd() == "") }
            #expect(try await half.readToEnd().hasPrefix("HTTP/1.1 408 "))
            try await eventually { try await server.server.connectionCount() == 0 }
        }
    }

    @Test func blankLinesAreNoRequestAndWinNoTime() async throws {
        try await TestServer.run({ $0.limits.handshakeTimeout = .seconds(1) }) { server in
            let client = try RawClient(port: server.port)
            // Connections are taken in order: when a later one has been answered, this one is there.
            _ = try await answer(to: "GET / HTTP/1.0\r\n\r\n", at: server.port)
            try await eventually {
                try await client.send("\r\n")
                return try await server.server.connectionCount() == 0
            }
        }
    }

    @Test func anOversizedHeadIsAnswered431() async throws {
        try await TestServer.run { server in
            let client = try RawClient(port: server.port)
            try await client.send("GET / HTTP/1.1\r\nHost: x\r\nX-Large: ")
            try await client.send([UInt8](repeating: 0x61, count: 100_000))
            #expect(try await client.readToEnd().hasPrefix("HTTP/1.1 431 "))
            #expect(server.handler.now.requests.isEmpty)
        }
    }
}
