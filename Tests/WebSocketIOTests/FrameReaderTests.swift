import BoundedTesting
import Testing

@testable import WebSocketIO

/// RFC 6455 §5 and §7.4, rule by rule, against the reader alone. Each input comes whole, byte by byte, and cut at
/// random.
@Suite(.bounded)
struct FrameReaderTests {
    private typealias Event = FrameReader.Event

    /// A frame as a client sends it, unless `mask` is nil.
    private func frame(
        _ opcode: UInt8, _ payload: [UInt8] = [], isFinal: Bool = true, reserved: UInt8 = 0,
        mask: [UInt8]? = [0x37, 0xFA, 0x21, 0x3D], lengthBytes: Int? = nil
    ) -> [UInt8] {
        let usual = payload.count < 126 ? 0 : payload.count <= 0xFFFF ? 2 : 8
        let lengthBytes = lengthBytes ?? usual
        var bytes = [(isFinal ? 0x80 : 0) | reserved | opcode]
        let maskBit: UInt8 = mask == nil ? 0 : 0x80
        switch lengthBytes {
        case 0: bytes.append(maskBit | UInt8(payload.count))
        case 2: bytes.append(maskBit | 126)
        default: bytes.append(maskBit | 127)
        }
        for index in (0..<lengthBytes).reversed() {
            bytes.append(UInt8(truncatingIfNeeded: payload.count >> (8 * index)))
        }
        guard let mask else { return bytes + payload }
        return bytes + mask + payload.enumerated().map { $0.element ^ mask[$0.offset % 4] }
    }

    private func events(
        in pieces: [[UInt8]], role: FrameReader.Role = .server, maxMessageBytes: Int = 100_000
    ) -> [Event] {
        var reader = FrameReader(role: role, maxMessageBytes: maxMessageBytes)
        var events: [Event] = []
        for piece in pieces {
            piece.withUnsafeBytes { bytes in
                var input = bytes
                while let event = reader.next(from: &input) { events.append(event) }
                #expect(input.isEmpty)
            }
        }
        return events
    }

    /// The same events have to come however the bytes are cut.
    private func expect(
        _ bytes: [UInt8], _ expected: [Event], role: FrameReader.Role = .server,
        maxMessageBytes: Int = 100_000, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let seed = UInt64.random(in: 1 ... .max)
        var random = SeededGenerator(seed: seed)
        var cuts = [[bytes], bytes.map { [$0] }]
        for _ in 0..<20 {
            var pieces: [[UInt8]] = []
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = Int.random(in: 1...min(rest.count, 40), using: &random)
                pieces.append(Array(rest.prefix(count)))
                rest = rest.dropFirst(count)
            }
            cuts.append(pieces)
        }
        for pieces in cuts {
            #expect(
                events(in: pieces, role: role, maxMessageBytes: maxMessageBytes) == expected,
                "seed \(seed), pieces \(pieces.map(\.count))", sourceLocation: sourceLocation)
        }
    }

    private func violation(_ code: UInt16, _ reason: String) -> Event {
        .violation(code: code, reason: reason)
    }

    private func text(_ text: String) -> Event {
        .message(WebSocketMessage(.text, Array(text.utf8)))
    }

    // MARK: - §5.2 Base framing

    /// A compressed message may need a little more than it stands for, at most the largest number there is.
    @Test func aLimitMayBeTheLargestNumber() throws {
        var assembly = MessageAssembly(maxBytes: .max)
        assembly.begin(.binary, isCompressed: true)
        try assembly.announce(1_000)
    }

    @Test func readsMessagesOfEveryLengthForm() {
        for size in [0, 1, 125, 126, 127, 4_095, 65_535, 65_536, 65_537] {
            let payload = (0..<size).map { UInt8(0x20 + $0 % 0x5F) }
            expect(
                frame(1, payload) + frame(2, payload),
                [
                    .message(WebSocketMessage(.text, payload)),
                    .message(WebSocketMessage(.binary, payload)),
                ])
        }
    }

    @Test(arguments: [0x10, 0x20, 0x40, 0x70] as [UInt8])
    func reservedBitsEndTheConnection(_ bits: UInt8) {
        expect(frame(1, [0x61], reserved: bits), [violation(1_002, "A reserved bit is set")])
        expect(frame(9, [], reserved: bits), [violation(1_002, "A reserved bit is set")])
    }

    @Test(arguments: [3, 4, 5, 6, 7, 0xB, 0xC, 0xD, 0xE, 0xF] as [UInt8])
    func reservedOpcodesEndTheConnection(_ opcode: UInt8) {
        expect(frame(opcode), [violation(1_002, "Opcode \(opcode) is reserved")])
    }

    @Test func aLengthMustBeAsShortAsItCan() {
        let fault = violation(1_002, "A length is longer than it has to be")
        expect(frame(1, Array("hi".utf8), lengthBytes: 2), [fault])
        expect(frame(1, [UInt8](repeating: 0x61, count: 125), lengthBytes: 2), [fault])
        expect(frame(1, Array("hi".utf8), lengthBytes: 8), [fault])
        expect(frame(1, [UInt8](repeating: 0x61, count: 65_535), lengthBytes: 8), [fault])
    }

    @Test func theHighestBitOfALengthMustBeZero() {
        expect(
            [0x82, 0xFF, 0x80, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4],
            [violation(1_002, "A length has its highest bit set")])
        expect(
            [0x82, 0xFF] + [UInt8](repeating: 0xFF, count: 12),
            [violation(1_002, "A length has its highest bit set")])
    }

    // MARK: - §5.1 and §5.3 Masking

    @Test func everyFrameOfAClientIsMasked() {
        let fault = violation(1_002, "A client must mask its frames")
        expect(frame(1, Array("hi".utf8), mask: nil), [fault])
        // Not only the first.
        expect(
            frame(1, Array("a".utf8)) + frame(1, Array("b".utf8), mask: nil), [text("a"), fault])
        expect(
            frame(1, Array("a".utf8), isFinal: false) + frame(0, Array("b".utf8), mask: nil),
            [fault])
        expect(frame(9, [], mask: nil), [fault])
    }

    @Test func noFrameOfAServerIsMasked() {
        expect(frame(1, Array("hi".utf8), mask: nil), [text("hi")], role: .client)
        expect(
            frame(1, Array("hi".utf8)), [violation(1_002, "A server must not mask its frames")],
            role: .client)
    }

    @Test func masksOfAllKindsAreTakenOff() {
        let seed = UInt64.random(in: 1 ... .max)
        var random = SeededGenerator(seed: seed)
        for _ in 0..<20 {
            let mask = (0..<4).map { _ in UInt8.random(in: 0...255, using: &random) }
            let size = Int.random(in: 0...300, using: &random)
            let payload = (0..<size).map { _ in UInt8.random(in: 0...255, using: &random) }
            expect(
                frame(2, payload, mask: mask), [.message(WebSocketMessage(.binary, payload))])
        }
    }

    // MARK: - §5.4 Fragmentation

    @Test func fragmentsBecomeOneMessage() {
        expect(
            frame(1, Array("frag".utf8), isFinal: false) + frame(9, Array("p".utf8))
                + frame(0, [], isFinal: false) + frame(0xA, [])
                + frame(0, Array("ment".utf8), isFinal: false) + frame(0, []),
            [.ping(Array("p".utf8)), .pong, text("fragment")])
    }

    @Test func aMessageMustEndBeforeTheNext() {
        expect(
            frame(1, [0x61], isFinal: false) + frame(1, [0x62]),
            [violation(1_002, "A message begins inside another")])
        expect(
            frame(2, [0x61], isFinal: false) + frame(1, [0x62]),
            [violation(1_002, "A message begins inside another")])
    }

    @Test(arguments: [true, false])
    func thereMustBeSomethingToContinue(_ isFinal: Bool) {
        let fault = violation(1_002, "There is nothing to continue")
        expect(frame(0, [0x61], isFinal: isFinal), [fault])
        expect(frame(1, [0x61]) + frame(0, [0x62], isFinal: isFinal), [text("a"), fault])
    }

    // MARK: - §5.5 Control frames

    @Test func controlFramesHaveAtMost125Bytes() {
        let longest = [UInt8](repeating: 0xFE, count: 125)
        expect(frame(9, longest) + frame(0xA, longest), [.ping(longest), .pong])
        for opcode: UInt8 in [8, 9, 0xA] {
            expect(
                frame(opcode, longest + [0]),
                [violation(1_002, "A control frame is longer than 125 bytes")])
        }
    }

    @Test(arguments: [8, 9, 0xA] as [UInt8])
    func controlFramesAreNotFragmented(_ opcode: UInt8) {
        expect(
            frame(opcode, [], isFinal: false), [violation(1_002, "A control frame is fragmented")])
    }

    // MARK: - §5.5.1 and §7.4 Close frames

    @Test func aCloseFrameMayBeEmptyOrHaveACodeAndAReason() {
        expect(frame(8, []), [.close(code: 1_005, reason: "")])
        expect(
            frame(8, [0x03, 0xE8] + Array("Grüße".utf8)), [.close(code: 1_000, reason: "Grüße")])
        let longest = [UInt8](repeating: 0x61, count: 123)
        expect(
            frame(8, [0x0F, 0xA0] + longest),
            [.close(code: 4_000, reason: String(repeating: "a", count: 123))])
    }

    @Test func halfACodeIsNone() {
        expect(frame(8, [0x03]), [violation(1_002, "A close frame has half a code")])
    }

    @Test func onlySomeCodesMayTravel() {
        let allowed = Array(1_000...1_003) + Array(1_007...1_014) + [3_000, 3_999, 4_000, 4_999]
        let refused =
            [0, 1, 999, 1_004, 1_005, 1_006, 1_015, 1_016, 1_100, 2_000, 2_999, 5_000, 65_535]
        for code in allowed.map(UInt16.init) {
            expect(
                frame(8, [UInt8(code >> 8), UInt8(code & 0xFF)]), [.close(code: code, reason: "")])
        }
        for code in refused.map(UInt16.init) {
            expect(
                frame(8, [UInt8(code >> 8), UInt8(code & 0xFF)]),
                [violation(1_002, "Close code \(code) may not be sent")])
        }
    }

    @Test func aReasonIsUTF8() {
        expect(
            frame(8, [0x03, 0xE8, 0xCE, 0xBA, 0xED, 0xA0, 0x80]),
            [violation(1_007, "A text is not UTF-8")])
    }

    @Test func nothingIsReadBehindACloseFrame() {
        expect(
            frame(8, [0x03, 0xE8]) + frame(1, [0x61]) + frame(9),
            [.close(code: 1_000, reason: "")])
    }

    // MARK: - §8.1 UTF-8

    @Test(
        arguments: [
            [0xFF], [0xC3, 0x28], [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80],
            [0xC3],
            [0xE0, 0x80, 0x80], [0xF0, 0x80, 0x80, 0x80], [0xF8, 0x88, 0x80, 0x80, 0x80], [0x80],
        ] as [[UInt8]])
    func aTextThatIsNotUTF8Ends1007(_ bytes: [UInt8]) {
        let fault = violation(1_007, "A text is not UTF-8")
        expect(frame(1, bytes), [fault])
        expect(frame(1, Array("good".utf8) + bytes, isFinal: false) + frame(0), [fault])
        expect(frame(2, bytes), [.message(WebSocketMessage(.binary, bytes))])
    }

    @Test func aCharacterMayBeCutByFragments() {
        let letters = Array("κόσμε €😀".utf8)
        for cut in 0...letters.count {
            expect(
                frame(1, Array(letters[..<cut]), isFinal: false)
                    + frame(0, Array(letters[cut...])),
                [text("κόσμε €😀")])
        }
    }

    /// The connection ends at the first byte that is wrong, though the frame, and the message, go on.
    @Test func aWrongByteIsNotWaitedOut() {
        let fault = violation(1_007, "A text is not UTF-8")
        let whole = frame(1, Array("ab".utf8) + [0xFF] + [UInt8](repeating: 0x61, count: 100))
        #expect(events(in: [Array(whole.prefix(6 + 3))]) == [fault])
        #expect(events(in: [Array(whole.prefix(6 + 2))]) == [])
    }

    // MARK: - §7.4.1 Sizes

    @Test func aMessageThatIsTooLargeEndsWhenItIsAnnounced() {
        let fault = violation(1_009, "Message is larger than 1000 bytes")
        let fits = [UInt8](repeating: 0x61, count: 1_000)
        expect(
            frame(2, fits), [.message(WebSocketMessage(.binary, fits))], maxMessageBytes: 1_000)
        // The head alone says so.
        let head = Array(frame(2, fits + [0x61]).prefix(8))
        #expect(events(in: [head], maxMessageBytes: 1_000) == [fault])
        expect(
            frame(2, Array(fits.prefix(600)), isFinal: false) + frame(0, Array(fits.prefix(401))),
            [fault], maxMessageBytes: 1_000)
        #expect(
            events(
                in: [[0x82, 0xFF, 0x7F] + [UInt8](repeating: 0xFF, count: 11)],
                maxMessageBytes: 1_000)
                == [fault])
    }

    @Test func fragmentsWithNothingInThemCostNothing() {
        let empty = frame(0, [], isFinal: false)
        let many = Array(repeatElement(empty, count: 10_000).joined())
        #expect(
            events(in: [frame(1, [], isFinal: false) + many + frame(0, Array("end".utf8))])
                == [text("end")])
    }

    /// Whatever comes, the reader neither traps nor goes on behind a mistake.
    @Test func anythingAtAllIsReadWithoutTrapping() {
        let seed = UInt64.random(in: 1 ... .max)
        var random = SeededGenerator(seed: seed)
        for _ in 0..<3_000 {
            let size = Int.random(in: 0...64, using: &random)
            var bytes = (0..<size).map { _ in UInt8.random(in: 0...255, using: &random) }
            // Most would fail at the first byte.
            if Bool.random(using: &random), size > 1 {
                bytes[0] &= 0x8F
                bytes[1] |= 0x80
            }
            let whole = events(in: [bytes], maxMessageBytes: 1_000)
            #expect(events(in: bytes.map { [$0] }, maxMessageBytes: 1_000) == whole, "seed \(seed)")
            let ends = whole.firstIndex { event in
                switch event {
                case .violation, .close: true
                default: false
                }
            }
            if let ends { #expect(ends == whole.count - 1, "seed \(seed)") }
        }
    }
}

@Suite(.bounded)
struct FrameMaskTests {
    @Test func unmasksAtEveryOffset() {
        let mask = FrameMask(word: 0x0403_0201)
        #expect(mask.key == [1, 2, 3, 4])
        for offset in 0..<9 {
            for count in 0..<20 {
                var bytes = [UInt8](repeating: 0, count: count)
                bytes.withUnsafeMutableBytes { mask.apply(to: $0, at: UInt64(offset)) }
                #expect(bytes == (0..<count).map { UInt8((offset + $0) % 4 + 1) })
            }
        }
    }
}

@Suite(.bounded)
struct UTF8CheckTests {
    /// Compared with the standard library, for every cut in two.
    @Test func agreesWithTheStandardLibraryOnRandomBytes() {
        let seed = UInt64.random(in: 1 ... .max)
        var random = SeededGenerator(seed: seed)
        let telling: [UInt8] = [
            0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0,
            0xE1,
            0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF,
        ]
        for _ in 0..<20_000 {
            let count = Int.random(in: 0...12, using: &random)
            let bytes = (0..<count).map { _ in telling.randomElement(using: &random) ?? 0 }
            let cut = Int.random(in: 0...count, using: &random)
            var check = UTF8Check()
            let isGood = [bytes[..<cut], bytes[cut...]].allSatisfy { part in
                Array(part).withUnsafeBytes { check.take($0) }
            }
            #expect(
                (isGood && check.isAtEnd) == (String(validating: bytes, as: UTF8.self) != nil),
                "seed \(seed): \(bytes)")
        }
    }
}
