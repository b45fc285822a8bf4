import Testing
import WebSocketIO

/// RFC 7692: what is small on the wire may be large in memory.
@Suite(.bounded, .timeLimit(.minutes(10)))
struct CompressionBombTests {
    @Test func aMessageThatGrowsBeyondTheLimitCloses1009() async throws {
        let handler = RecordingHandler(onMessage: { _, _ in })
        let limit: (inout HTTPServer.Options) -> Void = {
            $0.limits.compressedConnections = 1
            $0.limits.messageBytes = 100_000
        }
        try await TestServer.run(limit, handler: handler) { server in
            let client = try RawClient(port: server.port)
            let offer = ["Sec-WebSocket-Extensions: permessage-deflate"]
            #expect(try await client.upgrade(extra: offer).contains("permessage-deflate"))
            try await client.send(compressed: Self.deflated(repetitions: 100))
            await eventually { handler.now.messages.count == 1 }
            #expect(handler.now.messages.first?.bytes == Array(repeating: 0x61, count: 25_801))

            // 52 MB in 320 KB.
            try await client.send(compressed: Self.deflated(repetitions: 200_000))
            #expect(try await client.readClose() == 1_009)
            // Without waiting for an answer that the library does not read.
            await eventually { handler.now.closes.map(\.code) == [1_009] }
            #expect(handler.now.messages.count == 1)
        }
    }

    /// They are taken apart over many turns of the loop, in order, and what follows them waits.
    @Test func largeMessagesThatComeTogetherAllArrive() async throws {
        let handler = RecordingHandler(onMessage: { _, _ in })
        let limit: (inout HTTPServer.Options) -> Void = {
            $0.limits.compressedConnections = 1
            $0.limits.messageBytes = 16 << 20
        }
        try await TestServer.run(limit, handler: handler) { server in
            let client = try RawClient(port: server.port)
            let offer = ["Sec-WebSocket-Extensions: permessage-deflate"]
            #expect(try await client.upgrade(extra: offer).contains("permessage-deflate"))
            for repetitions in [20_000, 100, 30_000] {
                try await client.send(compressed: Self.deflated(repetitions: repetitions))
            }
            try await client.send(text: "the last")
            // What has been read is taken, though nothing more can come.
            client.finishSending()
            await eventually { handler.now.closes.count == 1 }
            #expect(
                handler.now.messages.map(\.bytes.count) == [
                    20_000 * 258 + 1, 100 * 258 + 1, 30_000 * 258 + 1, 8,
                ])
        }
    }

    /// One "a", and then so many times 258 more of them, as DEFLATE without the tail that RFC 7692 §7.2.1
    /// leaves out.
    private static func deflated(repetitions: Int) -> [UInt8] {
        var bits = BitWriter()
        bits.append(0b0, count: 1)  // not the last block
        bits.append(0b01, count: 2)  // RFC 1951 §3.2.6: fixed codes
        bits.appendCode(0x30 + 0x61, count: 8)
        for _ in 0..<repetitions {
            bits.appendCode(0b1100_0101, count: 8)  // length 258
            bits.appendCode(0, count: 5)  // from one byte before
        }
        bits.appendCode(0, count: 7)  // end of block
        bits.append(0, count: 3)  // an empty stored block, whose lengths are the tail
        return bits.bytes
    }
}

/// RFC 1951 §3.1.1: bits fill bytes from the lowest on; codes come with their highest bit first.
private struct BitWriter {
    private(set) var bytes: [UInt8] = []
    private var bitCount = 0

    mutating func append(_ value: Int, count: Int) {
        for bit in 0..<count { append(value >> bit & 1) }
    }

    mutating func appendCode(_ code: Int, count: Int) {
        for bit in (0..<count).reversed() { append(code >> bit & 1) }
    }

    private mutating func append(_ bit: Int) {
        if bitCount % 8 == 0 { bytes.append(0) }
        bytes[bytes.count - 1] |= UInt8(bit << (bitCount % 8))
        bitCount += 1
    }
}

extension RawClient {
    /// Sends one text message whose payload is compressed: RSV1 is set.
    fileprivate func send(compressed payload: [UInt8]) async throws {
        // RFC 6455 §5.2: in as few bytes as it can be said.
        let lengthBytes = payload.count > 0xFFFF ? 8 : 2
        var bytes: [UInt8] = [0xC1, 0x80 | (lengthBytes == 8 ? 127 : 126)]
        for index in (0..<lengthBytes).reversed() {
            bytes.append(UInt8(truncatingIfNeeded: payload.count >> (8 * index)))
        }
        // A mask of zeros changes nothing.
        try await send(bytes + [0, 0, 0, 0] + payload)
    }
}
