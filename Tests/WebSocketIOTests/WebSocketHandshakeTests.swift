import HTTPMessages
import Testing
import WebSocketIO

@Suite(.bounded, .timeLimit(.minutes(10)))
struct WebSocketHandshakeTests {
    @Test func grantsTheFirstSubprotocolItSpeaks() async throws {
        try await TestServer.run { server in
            let client = try RawClient(port: server.port)
            let answer = try await client.upgrade(
                path: "/graphql?token=t",
                extra: [
                    "Sec-WebSocket-Protocol: other, graphql-transport-ws, echo", "Origin: http://o",
                ])
            #expect(
                answer.lowercased().contains("sec-websocket-protocol: graphql-transport-ws\r\n"))
            // RFC 6455 §1.3 gives this answer for this key.
            #expect(answer.contains("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="))
            let request = try #require(server.handler.now.upgrades.first)
            #expect(request.path == "/graphql")
            #expect(request.queryValue("token") == "t")
            #expect(request.headers["origin"] == "http://o")
            #expect(request.offeredSubprotocols == ["other", "graphql-transport-ws", "echo"])
            #expect(request.subprotocol == "graphql-transport-ws")
            await eventually { !server.handler.now.connections.isEmpty }
            #expect(server.handler.now.connections.first?.subprotocol == "graphql-transport-ws")
        }
    }

    @Test func agreesOnNoSubprotocolWhenNoneIsOffered() async throws {
        try await TestServer.run { server in
            let client = try RawClient(port: server.port)
            let answer = try await client.upgrade()
            #expect(!answer.lowercased().contains("sec-websocket-protocol"))
            #expect(server.handler.now.upgrades.first?.subprotocol == nil)
        }
    }

    @Test(arguments: [
        (RawClient.handshake(version: "8"), 426),
        (RawClient.handshake(omitting: "Sec-WebSocket-Version"), 426),
        (RawClient.handshake(omitting: "Sec-WebSocket-Key"), 400),
        (
            RawClient.handshake(extra: ["Sec-WebSocket-Key: short"], omitting: "Sec-WebSocket-Key"),
            400
        ),
        (RawClient.handshake(omitting: "Connection"), 400),
        (RawClient.handshake(omitting: "Host"), 400),
        (RawClient.handshake(extra: ["Sec-WebSocket-Protocol: graphql-ws"]), 400),
        (RawClient.handshake(extra: ["Sec-WebSocket-Protocol: no subprotocol"]), 400),
        (RawClient.handshake().replacing("GET", with: "POST"), 411),
        (RawClient.handshake().replacing("GET", with: "DELETE"), 400),
    ])
    func refusesWithARealStatus(_ handshake: String, _ status: Int) async throws {
        try await TestServer.run { server in
            let client = try RawClient(port: server.port)
            try await client.send(handshake)
            let answer = try await client.readToEnd()
            #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(answer)")
            #expect(server.handler.now.upgrades.isEmpty)
        }
    }

    /// Each was accepted by one parser and refused by another, or by none, when there were two.
    @Test(arguments: [
        RawClient.handshake(extra: ["Upgrade: h2c, websocket"], omitting: "Upgrade"),
        RawClient.handshake(
            extra: ["Connection: Upgrade" + String(repeating: ", x", count: 100)],
            omitting: "Connection"),
        RawClient.handshake(extra: [
            "Sec-WebSocket-Protocol: echo" + String(repeating: ", x", count: 100)
        ]),
        RawClient.handshake(extra: [
            "Sec-WebSocket-Extensions: x; y=" + String(repeating: "z", count: 300)
        ]),
        RawClient.handshake(extra: [
            "X-Auth: 1", "Auth: 2", "If: 3", "Content: 4", "X-Real: 5", "Proxy: 6",
        ]),
    ])
    func shakesHandsWhateverElseIsSaid(_ handshake: String) async throws {
        try await TestServer.run { server in
            let client = try RawClient(port: server.port)
            try await client.send(handshake)
            let answer = try await client.read(through: "\r\n\r\n")
            #expect(answer.hasPrefix("HTTP/1.1 101 "), "\(answer)")
            try await client.send(text: "hello")
            #expect(try await client.readMessage().text == "hello")
            try await client.send(frame: RawClient.Frame(opcode: 8, payload: []))
            await eventually { server.handler.now.closes.map(\.code) == [1_005] }
        }
    }

    @Test(arguments: ["h2c", "foo"])
    func anUpgradeToSomethingElseIsIgnored(_ name: String) async throws {
        try await TestServer.run { server in
            let client = try RawClient(port: server.port)
            try await client.send(
                RawClient.handshake(extra: ["Upgrade: \(name)"], omitting: "Upgrade"))
            #expect(try await client.read(through: "GET /\n").hasPrefix("HTTP/1.1 200 "))
        }
    }

    /// RFC 9110 §7.8: a server ignores it.
    @Test func anUpgradeInAnHTTP10RequestIsIgnored() async throws {
        try await TestServer.run { server in
            let client = try RawClient(port: server.port)
            try await client.send(
                RawClient.handshake().replacing("HTTP/1.1", with: "HTTP/1.0"))
            let answer = try await client.readToEnd()
            #expect(answer.hasPrefix("HTTP/1.1 200 "))
            #expect(answer.hasSuffix("GET /\n"))
        }
    }

    /// RFC 6455 §4.4, RFC 9110 §15.5.22.
    @Test func anotherVersionIsToldWhichOneIsSpoken() async throws {
        try await TestServer.run { server in
            let client = try RawClient(port: server.port)
            try await client.send(RawClient.handshake(version: "12"))
            let answer = try await client.readToEnd()
            #expect(answer.hasPrefix("HTTP/1.1 426 Upgrade Required\r\n"))
            for field in ["sec-websocket-version: 13", "upgrade: websocket", "connection: upgrade"]
            {
                #expect(answer.contains("\r\n\(field)\r\n"), "\(field)")
            }
        }
    }

    @Test func compressesForAsManyAsItMay() async throws {
        let offer = ["Sec-WebSocket-Extensions: permessage-deflate"]
        let text = String(repeating: "again and ", count: 50)
        try await TestServer.run({ $0.limits.compressedConnections = 1 }) { server in
            let first = try RawClient(port: server.port)
            #expect(try await first.upgrade(extra: offer).contains("permessage-deflate"))
            let second = try RawClient(port: server.port)
            #expect(try await !second.upgrade(extra: offer).contains("permessage-deflate"))
            for client in [first, second] { try await client.send(text: text) }
            #expect(try await first.readMessage().payload.count < 100)
            #expect(try await second.readMessage().text == text)
        }
        try await TestServer.run { server in
            let client = try RawClient(port: server.port)
            #expect(try await !client.upgrade(extra: offer).contains("permessage-deflate"))
        }
    }

    @Test func theOwnersRefusalIsARealAnswer() async throws {
        let handler = RecordingHandler(refusing: { request in
            request.path == "/graphql" ? nil : HTTPResponse(status: 404, text: "Nothing is here.")
        })
        try await TestServer.run(handler: handler) { server in
            let client = try RawClient(port: server.port)
            try await client.send(RawClient.handshake(path: "/other"))
            let answer = try await client.readToEnd()
            #expect(answer.hasPrefix("HTTP/1.1 404 Not Found\r\n"))
            #expect(answer.hasSuffix("\r\n\r\nNothing is here.\n"))
        }
    }
}
