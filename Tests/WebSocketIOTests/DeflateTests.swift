import HTTPMessages
import Testing
import Zlib

@testable import WebSocketIO

/// RFC 7692 §7.1: what is agreed on.
@Suite(.bounded)
struct DeflateAgreementTests {
    @Test(arguments: [
        ("permessage-deflate", "permessage-deflate; client_no_context_takeover"),
        (
            "permessage-deflate; client_max_window_bits",
            "permessage-deflate; client_no_context_takeover"
        ),
        (
            "permessage-deflate; server_no_context_takeover; client_no_context_takeover",
            "permessage-deflate; server_no_context_takeover; client_no_context_takeover"
        ),
        (
            "permessage-deflate; server_max_window_bits=10; client_max_window_bits=9",
            "permessage-deflate; client_no_context_takeover; server_max_window_bits=10"
        ),
        (
            "permessage-deflate;server_max_window_bits=\"12\"",
            "permessage-deflate; client_no_context_takeover; server_max_window_bits=12"
        ),
        // §7.1.2.1: who asks for it gets it said, also when it is what is so anyway.
        (
            "permessage-deflate; server_max_window_bits=15",
            "permessage-deflate; client_no_context_takeover; server_max_window_bits=15"
        ),
        // In the client's order; the first that can be accepted.
        (
            "x-other, permessage-deflate; new_parameter, permessage-deflate; server_max_window_bits=8, "
                + "permessage-deflate; server_no_context_takeover",
            "permessage-deflate; server_no_context_takeover; client_no_context_takeover"
        ),
    ])
    func acceptsTheFirstOfferItCan(_ offer: String, _ answer: String) {
        #expect(DeflateAgreement(offers: [offer])?.answer == answer)
        #expect(DeflateAgreement(offers: ["x-other", offer])?.answer == answer)
    }

    @Test(arguments: [
        "", "permessage", "deflate-frame", "permessage-deflate; unknown",
        "permessage-deflate; server_no_context_takeover=1",
        "permessage-deflate; server_no_context_takeover; server_no_context_takeover",
        "permessage-deflate; server_max_window_bits",
        "permessage-deflate; server_max_window_bits=",
        "permessage-deflate; server_max_window_bits=7",
        "permessage-deflate; server_max_window_bits=8",
        "permessage-deflate; server_max_window_bits=16",
        "permessage-deflate; server_max_window_bits=-9",
        "permessage-deflate; server_max_window_bits=2147483648",
        "permessage-deflate; server_max_window_bits=4294967305",
        "permessage-deflate; server_max_window_bits=9223372036854775807",
        "permessage-deflate; client_max_window_bits=18446744073709551625",
        "permessage-deflate; server_max_window_bits=010",
        "permessage-deflate; server_max_window_bits=+9",
        "permessage-deflate; client_max_window_bits=7",
        "permessage-deflate; client_max_window_bits=abc", "permessage-deflate; ; x",
        "\"permessage-deflate\"",
    ])
    func declinesWhatItCannotAccept(_ offer: String) {
        #expect(DeflateAgreement(offers: [offer]) == nil)
    }
}

/// RFC 7692 §7.1, of a client that offers compression.
@Suite(.bounded)
struct OfferedDeflateTests {
    @Test func aServerOfOursAcceptsTheOffer() throws {
        let accepted = try #require(DeflateAgreement(offers: [DeflateAgreement.offer]))
        #expect(DeflateAgreement(answer: [accepted.answer]) == accepted)
    }

    @Test(arguments: [
        [], ["x-other"], ["permessage-deflate, permessage-deflate"],
        ["permessage-deflate", "x-other"], ["permessage-deflate; unknown"],
        ["permessage-deflate; server_no_context_takeover=1"],
        ["permessage-deflate; client_no_context_takeover; client_no_context_takeover"],
        ["permessage-deflate; client_max_window_bits"],
        ["permessage-deflate; client_max_window_bits=7"],
        ["permessage-deflate; server_max_window_bits"],
        ["permessage-deflate; server_max_window_bits=16"], ["permessage-deflate; ="],
        ["permessage-deflate, ;"],
    ])
    func whatIsNoAnswerToItIsNotAccepted(_ answer: [String]) {
        #expect(DeflateAgreement(answer: answer) == nil)
    }

    private static let answers = [
        "", "; server_no_context_takeover", "; client_no_context_takeover",
        "; server_no_context_takeover; client_no_context_takeover",
    ].flatMap { takeovers in
        ["", "; server_max_window_bits=8", "; server_max_window_bits=9"].flatMap { server in
            ["", "; client_max_window_bits=8", "; client_max_window_bits=\"10\""].map {
                "permessage-deflate" + takeovers + server + $0
            }
        }
    }

    private static let text = (0..<70_000).map { 0x61 + UInt8($0 * $0 % 23) }

    /// Whatever windows and takeovers the server has chosen, both understand each other.
    @Test(arguments: answers)
    func bothSidesUnderstandEachOther(_ answer: String) throws {
        let agreement = try #require(DeflateAgreement(answer: [answer]))
        for sender: FrameReader.Role in [.client, .server] {
            let receiver: FrameReader.Role = sender == .client ? .server : .client
            let pool = DeflatePool()
            var queue = SendQueue(
                masks: sender == .client,
                compression: agreement.compression(of: sender, pool: pool))
            var reader = FrameReader(
                role: receiver, maxMessageBytes: 1 << 20,
                decompression: agreement.decompression(of: receiver, pool: pool))
            let messages = [0, 40, 3_000, 70_000, 3_000].map {
                WebSocketMessage(.text, Array(Self.text[..<$0]))
            }
            for message in messages {
                queue.append(OutgoingMessage(.text, message.bytes), prefix: [])
            }
            var received: [WebSocketMessage] = []
            var buffer: [UInt8] = []
            while queue.next(into: &buffer) != nil {
                buffer.withUnsafeBytes { bytes in
                    var input = bytes
                    while let event = reader.next(from: &input) {
                        if case .message(let message) = event { received.append(message) }
                    }
                }
            }
            #expect(received == messages, "from the \(sender)")
        }
    }
}

/// RFC 7692 §7.2: messages.
@Suite(.bounded)
struct PerMessageDeflateTests {
    private func read(
        _ payloads: [[UInt8]], keepsContext: Bool = false, maxMessageBytes: Int = 1 << 20,
        cut: Int? = nil
    ) -> [FrameReader.Event] {
        var reader = FrameReader(
            role: .client, maxMessageBytes: maxMessageBytes,
            decompression: Decompression(pool: DeflatePool(), keepsContext: keepsContext))
        var events: [FrameReader.Event] = []
        for payload in payloads {
            var bytes: [UInt8] = []
            FrameHeader.append(.text, isCompressed: true, length: payload.count, to: &bytes)
            bytes += payload
            let cut = cut ?? bytes.count
            for start in stride(from: 0, to: bytes.count, by: cut) {
                Array(bytes[start...].prefix(cut)).withUnsafeBytes { piece in
                    var input = piece
                    while let event = reader.next(from: &input) { events.append(event) }
                }
            }
        }
        return events
    }

    private func hello(_ text: String = "Hello") -> FrameReader.Event {
        .message(WebSocketMessage(.text, Array(text.utf8)))
    }

    /// §7.2.3.1 to §7.2.3.5, as they stand there.
    @Test(arguments: [1, 2, 3, 100])
    func readsTheExamplesOfTheRFC(_ cut: Int) {
        let fixed: [UInt8] = [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]
        #expect(read([fixed], cut: cut) == [hello()])
        let again: [UInt8] = [0xF2, 0x00, 0x11, 0x00, 0x00]
        #expect(read([fixed, again], keepsContext: true, cut: cut) == [hello(), hello()])
        let stored: [UInt8] = [
            0x00, 0x05, 0x00, 0xFA, 0xFF, 0x48, 0x65, 0x6C, 0x6C, 0x6F, 0x00,
        ]
        #expect(read([stored], cut: cut) == [hello()])
        let last: [UInt8] = [0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x00]
        #expect(read([last, last], cut: cut) == [hello(), hello()])
        #expect(read([last, again], keepsContext: true, cut: cut) == [hello(), hello()])
        let two: [UInt8] = [
            0xF2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xCA, 0xC9, 0xC9, 0x07, 0x00,
        ]
        #expect(read([two], cut: cut) == [hello()])
    }

    /// §7.2.3.6. The library that did this before ended the process.
    @Test func anEmptyMessageIsOneByte() {
        #expect(read([[0x00]]) == [hello("")])
        #expect(read([[]]) == [hello("")])
    }

    @Test func whatRefersToAnEarlierMessageNeedsItsContext() {
        let fixed: [UInt8] = [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]
        let again: [UInt8] = [0xF2, 0x00, 0x11, 0x00, 0x00]
        #expect(
            read([fixed, again])
                == [hello(), .violation(code: 1_007, reason: "A message cannot be decompressed")])
    }

    @Test(arguments: [[0xFF], [0x06], [0x00, 0x05, 0x00, 0x00, 0x00]] as [[UInt8]])
    func damageEnds1007(_ payload: [UInt8]) {
        #expect(
            read([payload])
                == [.violation(code: 1_007, reason: "A message cannot be decompressed")])
    }

    /// §6.1: RSV1 stands on the first frame of a message only.
    @Test func laterFramesHaveNoBitSet() {
        var reader = FrameReader(
            role: .client, maxMessageBytes: 100,
            decompression: Decompression(pool: DeflatePool(), keepsContext: false))
        let bytes: [UInt8] = [0x41, 0x01, 0xF2, 0xC0, 0x01, 0x48]
        bytes.withUnsafeBytes { bytes in
            var input = bytes
            #expect(
                reader.next(from: &input)
                    == .violation(code: 1_002, reason: "A reserved bit is set"))
        }
    }

    @Test func smallThatBecomesLargeIsNotMade() throws {
        let compressor = try #require(Deflater(windowBits: 15, level: 9))
        var compressed: [UInt8] = []
        let zeros = [UInt8](repeating: 0, count: 1 << 20)
        for _ in 0..<64 {
            zeros.withUnsafeBytes { compressor.deflate($0, flushes: true, onto: &compressed) }
        }
        #expect(compressed.count < 100_000)
        let fault = FrameReader.Event.violation(
            code: 1_009, reason: "Message is larger than 100000 bytes")
        #expect(read([compressed], maxMessageBytes: 100_000) == [fault])
    }

    /// Between two turns the loop does other things.
    @Test func whatGrowsIsTakenApartInTurns() throws {
        let compressor = try #require(Deflater(windowBits: 15, level: 9))
        let size = 32 << 20
        var bytes: [UInt8] = []
        var compressed: [UInt8] = []
        [UInt8](repeating: 0, count: size).withUnsafeBytes {
            compressor.deflate($0, flushes: true, onto: &compressed)
        }
        FrameHeader.append(.binary, isCompressed: true, length: compressed.count, to: &bytes)
        bytes += compressed
        var reader = FrameReader(
            role: .client, maxMessageBytes: size,
            decompression: Decompression(pool: DeflatePool(), keepsContext: false))
        var turns = 0
        var events: [FrameReader.Event] = []
        bytes.withUnsafeBytes { bytes in
            var input = bytes
            while !input.isEmpty {
                turns += 1
                reader.inflationBudget = 1 << 20
                if let event = reader.next(from: &input) { events.append(event) }
                // One piece of 1,024 bytes may be taken apart beyond it.
                #expect(reader.inflationBudget > -1_100_000)
            }
        }
        #expect(turns > 15)
        guard case .message(let message)? = events.first, events.count == 1 else {
            Issue.record("\(events.count) events")
            return
        }
        #expect(message.bytes.count == size)
    }

    /// Blocks with nothing in them grow into nothing, however many there are.
    @Test func whatStandsForNothingIsBounded() {
        let empty: [UInt8] = [0x00, 0x00, 0x00, 0xFF, 0xFF]
        let fault = FrameReader.Event.violation(
            code: 1_009, reason: "Message is larger than 1000 bytes")
        let many = Array(repeatElement(empty, count: 1_000).joined())
        #expect(read([many], maxMessageBytes: 1_000) == [fault])
        // Each of these ends a stream and begins another.
        let ends = Array(repeatElement([0x03, 0x00] as [UInt8], count: 1_000).joined())
        #expect(
            read([ends])
                == [.violation(code: 1_007, reason: "A message cannot be decompressed")])
    }
}
