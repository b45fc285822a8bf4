import BoundedTesting
import Testing

@testable import WebSocketIO

@Suite(.bounded)
struct SendQueueTests {
    /// What a client or server makes of the frames. A fragment that is not the last has the full size.
    private func messages(
        in bytes: [UInt8], role: FrameReader.Role = .client, decompression: Decompression? = nil
    ) -> [WebSocketMessage] {
        var reader = FrameReader(
            role: role, maxMessageBytes: 1 << 20, decompression: decompression)
        var messages: [WebSocketMessage] = []
        bytes.withUnsafeBytes { bytes in
            var input = bytes
            while let event = reader.next(from: &input) {
                if case .message(let message) = event {
                    messages.append(message)
                } else {
                    Issue.record("\(event)")
                }
            }
        }
        return messages
    }

    @Test(arguments: [
        "plain", "masked", "compressed", "compressed anew", "masked, compressed",
        "masked, compressed anew",
    ])
    func everyMixOfMessagesComesOutAsItWentIn(_ framing: String) {
        let seed = UInt64.random(in: 1 ... .max)
        var random = SeededGenerator(seed: seed)
        let sizes = [0, 1, 31, 32, 125, 126, 1_000, 32_768, 65_535, 65_536, 65_537, 200_000]
        for round in 0..<20 {
            let pool = DeflatePool()
            var queue: SendQueue
            var decompression: Decompression?
            let masks = framing.hasPrefix("masked")
            if framing.contains("compressed") {
                let keeps = !framing.hasSuffix("anew")
                let bits = Int.random(in: 8...15, using: &random)
                queue = SendQueue(
                    masks: masks,
                    compression: Compression(pool: pool, windowBits: bits, keepsContext: keeps))
                decompression = Decompression(pool: pool, keepsContext: keeps)
            } else {
                queue = SendQueue(masks: masks)
            }
            var expected: [WebSocketMessage] = []
            var bytes: [UInt8] = []
            var buffer: [UInt8] = []
            for _ in 0..<Int.random(in: 1...12, using: &random) {
                let size = sizes.randomElement(using: &random) ?? 0
                let payload = Self.payload(of: size, using: &random)
                let kind: OutgoingMessage.Kind = Bool.random(using: &random) ? .text : .binary
                let prefix = [UInt8](repeating: 1, count: Int.random(in: 0...40, using: &random))
                queue.append(OutgoingMessage(kind, payload), prefix: prefix)
                expected.append(WebSocketMessage(kind, prefix + payload))
                // Some are taken out before the others are there.
                if Bool.random(using: &random) { takeWrite(from: &queue, into: &bytes, &buffer) }
            }
            while !queue.isEmpty { takeWrite(from: &queue, into: &bytes, &buffer) }
            let role: FrameReader.Role = masks ? .server : .client
            #expect(
                messages(in: bytes, role: role, decompression: decompression) == expected,
                "seed \(seed), round \(round)")
            #expect(queue.byteCount == 0)
        }
    }

    /// A few letters in a random order, which comes again after some thousand of them.
    private static func payload(of size: Int, using random: inout SeededGenerator) -> [UInt8] {
        let letters = UInt8.random(in: 1...26, using: &random)
        var payload = (0..<Int.random(in: 1...4_000, using: &random)).map { _ in
            0x61 + UInt8.random(in: 0..<letters, using: &random)
        }
        while payload.count < size { payload += payload }
        return Array(payload[..<size])
    }

    private func takeWrite(
        from queue: inout SendQueue, into bytes: inout [UInt8], _ buffer: inout [UInt8]
    ) {
        switch queue.next(into: &buffer) {
        case .shared(let message): bytes += message.frame
        case .assembled: bytes += buffer
        case nil: break
        }
    }

    @Test func largeMessagesAreCutSoThatControlFramesFindAGap() {
        var queue = SendQueue()
        queue.append(OutgoingMessage(.binary, [UInt8](repeating: 7, count: 200_000)), prefix: [1])
        var buffer: [UInt8] = []
        var sizes: [Int] = []
        while queue.next(into: &buffer) != nil { sizes.append(buffer.count) }
        #expect(sizes == [65_546, 65_546, 65_546, 200_001 - 3 * 65_536 + 4])
    }

    @Test func smallMessagesShareOneWrite() {
        var queue = SendQueue()
        for index in 0..<100 { queue.append(OutgoingMessage(text: "message \(index)"), prefix: []) }
        var buffer: [UInt8] = []
        guard case .assembled? = queue.next(into: &buffer) else {
            Issue.record("they are not put together")
            return
        }
        #expect(messages(in: buffer).count == 100)
        #expect(queue.isEmpty)
    }

    @Test func aMessageOnItsOwnIsNotCopied() {
        var queue = SendQueue()
        let message = OutgoingMessage(text: "alone")
        queue.append(message, prefix: [])
        var buffer: [UInt8] = []
        guard case .shared(let sent)? = queue.next(into: &buffer) else {
            Issue.record("it is put together")
            return
        }
        #expect(sent === message)
        #expect(buffer.isEmpty)
    }
}
