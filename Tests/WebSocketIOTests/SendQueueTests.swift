import Testing

@testable import WebSocketIO

@Suite(.bounded)
struct SendQueueTests {
    private struct Sent: Equatable {
        var opcode: UInt8
        var payload: [UInt8]
    }

    /// Reads frames as a client does. RFC 6455 §5.2.
    private func messages(in bytes: [UInt8]) -> [Sent] {
        var messages: [Sent] = []
        var at = 0
        while at < bytes.count {
            let isFinal = bytes[at] & 0x80 != 0
            let opcode = bytes[at] & 0xF
            var length = Int(bytes[at + 1])
            at += 2
            if length >= 126 {
                let size = length == 126 ? 2 : 8
                length = bytes[at..<at + size].reduce(0) { $0 << 8 | Int($1) }
                at += size
            }
            let payload = Array(bytes[at..<at + length])
            at += length
            if opcode == 0 {
                messages[messages.count - 1].payload += payload
            } else {
                messages.append(Sent(opcode: opcode, payload: payload))
            }
            if !isFinal { #expect(length == SendQueue.fragmentBytes) }
        }
        return messages
    }

    @Test func everyMixOfMessagesComesOutAsItWentIn() {
        let seed = UInt64.random(in: 1 ... .max)
        var random = SeededGenerator(seed: seed)
        let sizes = [0, 1, 100, 125, 126, 1_000, 32_767, 32_768, 65_535, 65_536, 65_537, 200_000]
        for round in 0..<200 {
            var framed = SendQueue()
            var pieced = SendQueue()
            var expected: [Sent] = []
            var frameBytes: [UInt8] = []
            var pieces: [Sent] = []
            var buffer: [UInt8] = []
            for _ in 0..<Int.random(in: 1...12, using: &random) {
                let size = sizes.randomElement(using: &random) ?? 0
                let fill = UInt8.random(in: 0...255, using: &random)
                let isText = Bool.random(using: &random)
                let prefix = [UInt8](repeating: 1, count: Int.random(in: 0...40, using: &random))
                let message = OutgoingMessage(
                    isText ? .text : .binary, [UInt8](repeating: fill, count: size))
                framed.append(message, prefix: prefix)
                pieced.append(message, prefix: prefix)
                expected.append(
                    Sent(
                        opcode: isText ? 1 : 2,
                        payload: prefix + [UInt8](repeating: fill, count: size)))
                // Some are taken out before the others are there.
                if Bool.random(using: &random) {
                    takeFrames(from: &framed, into: &frameBytes, &buffer)
                }
            }
            while !framed.isEmpty { takeFrames(from: &framed, into: &frameBytes, &buffer) }
            while true {
                buffer.removeAll()
                guard let piece = pieced.nextPiece(into: &buffer) else { break }
                if piece.isFirst {
                    pieces.append(Sent(opcode: piece.kind == .text ? 1 : 2, payload: buffer))
                } else {
                    pieces[pieces.count - 1].payload += buffer
                }
            }
            #expect(messages(in: frameBytes) == expected, "seed \(seed), round \(round)")
            #expect(pieces == expected, "seed \(seed), round \(round)")
            #expect(framed.byteCount == 0 && pieced.byteCount == 0)
        }
    }

    private func takeFrames(
        from queue: inout SendQueue, into bytes: inout [UInt8], _ buffer: inout [UInt8]
    ) {
        switch queue.nextFrames(into: &buffer) {
        case .shared(let message): bytes += message.frame
        case .assembled: bytes += buffer
        case nil: break
        }
    }

    @Test func smallMessagesShareOneWrite() {
        var queue = SendQueue()
        for index in 0..<100 { queue.append(OutgoingMessage(text: "message \(index)"), prefix: []) }
        var buffer: [UInt8] = []
        guard case .assembled? = queue.nextFrames(into: &buffer) else {
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
        guard case .shared(let sent)? = queue.nextFrames(into: &buffer) else {
            Issue.record("it is put together")
            return
        }
        #expect(sent === message)
        #expect(buffer.isEmpty)
    }
}
