import BoundedTesting
import Testing
import WebSocketTesting

@testable import WebSocketIO

/// What was wrong with TLS when it went through a pair of sockets and the library's WebSocket role.
@Suite(.bounded, .timeLimit(.minutes(10)))
struct EncryptedConnectionTests {
    private func withClient(
        _ change: (inout HTTPServer.Options) -> Void = { _ in },
        handler: RecordingHandler = RecordingHandler(),
        _ body: (StreamClient, TestServer) async throws -> Void
    ) async throws {
        let certificate = try TestCertificate()
        try await TestServer.run(
            {
                $0.tls = certificate.identity
                change(&$0)
            }, handler: handler
        ) { server in
            let client = try await StreamClient.connect(
                to: ServerAddress(isSecure: true, host: "localhost", port: server.port),
                authorityFile: certificate.certificateFile, on: server.loop)
            try await body(client, server)
            try await client.close()
        }
    }

    private func frame(_ first: UInt8, _ payload: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        FrameHeader.append(.binary, length: payload.count, mask: FrameMask(word: 0), to: &bytes)
        bytes[0] = first
        return bytes + payload
    }

    /// Random bytes hardly shrink. They came back wrong from byte 2,048 on.
    @Test func compressedMessagesComeBackAsTheyWereSent() async throws {
        let seed = UInt64.random(in: 1 ... .max)
        var random = SeededGenerator(seed: seed)
        let messages = [17_000, 20_000, 200_000].map { size in
            (0..<size).map { _ in UInt8.random(in: 0...255, using: &random) }
        }
        try await withClient({ $0.limits.compressedConnections = 1 }) { client, server in
            let answer = try await client.upgrade(extra: [
                "Sec-WebSocket-Extensions: permessage-deflate"
            ])
            #expect(answer.contains("permessage-deflate"))
            let compression = Compression(pool: DeflatePool(), keepsContext: false)
            for message in messages {
                var compressed: [UInt8] = []
                _ = compression.begin()
                message.withUnsafeBytes {
                    compression.deflate($0, isFinal: true, onto: &compressed)
                }
                try await client.send(frame(0xC2, compressed))
                await eventually { server.handler.now.messages.last?.bytes == message }
            }
            let expected = messages.map { WebSocketMessage(.binary, $0) }
            #expect(server.handler.now.messages == expected, "seed \(seed)")
            await eventually { read(client.received).count == messages.count }
            #expect(read(client.received) == expected, "seed \(seed)")
        }
    }

    private func read(_ bytes: [UInt8]) -> [WebSocketMessage] {
        var reader = FrameReader(
            role: .client, maxMessageBytes: 1 << 20,
            decompression: Decompression(pool: DeflatePool(), keepsContext: true))
        return bytes.withUnsafeBytes { bytes in
            var messages: [WebSocketMessage] = []
            var input = bytes
            while let event = reader.next(from: &input) {
                if case .message(let message) = event { messages.append(message) }
            }
            return messages
        }
    }

    @Test func unmaskedFramesEnd1002AndTheConnection() async throws {
        try await withClient { client, server in
            _ = try await client.upgrade()
            try await client.send(frame(0x81, Array("ok".utf8)) + [0x81, 0x02, 0x68, 0x69])
            await eventually { server.handler.now.closes.map(\.code) == [1_002] }
            #expect(server.handler.now.messages.map(\.bytes) == [Array("ok".utf8)])
            // The end comes without the client's doing anything.
            await eventually { client.isOver }
            let text = "A client must mask its frames"
            #expect(client.received.suffix(text.utf8.count).elementsEqual(text.utf8))
        }
    }

    @Test func whoSaysNothingIsLeftAfterTheHandshakesTime() async throws {
        let certificate = try TestCertificate()
        try await TestServer.run({
            $0.tls = certificate.identity
            $0.limits.handshakeTimeout = .seconds(1)
        }) { server in
            // Not even TLS is spoken.
            let silent = try RawClient(port: server.port)
            #expect(try await silent.readToEnd() == "")
            // TLS is, and nothing else.
            let client = try await StreamClient.connect(
                to: ServerAddress(isSecure: true, host: "localhost", port: server.port),
                authorityFile: certificate.certificateFile, on: server.loop)
            await eventually { client.isOver }
            try await eventually { try await server.server.connectionCount() == 0 }
        }
    }

    @Test func anAnswerReachesAClientThatIsStillSending() async throws {
        try await withClient({ $0.limits.bodyBytes = 1_000 }) { client, _ in
            try await client.send(
                Array("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5000\r\n\r\n".utf8)
                    + [UInt8](repeating: 0x61, count: 5_000))
            await eventually { client.isOver }
            #expect(String(decoding: client.received, as: UTF8.self).hasPrefix("HTTP/1.1 413 "))
        }
    }
}
