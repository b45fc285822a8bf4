/// Reads WebSocket messages out of the bytes of a connection. RFC 6455 §5. A pure value.
///
/// Bytes arrive in pieces of any size, and `next` returns what they contain, until it has consumed all of
/// them. After a close frame or a mistake it takes nothing any more.
struct FrameReader {
    enum Event: Equatable {
        case message(WebSocketMessage)
        case ping([UInt8])
        case pong
        /// The peer's close frame; without a code it counts as 1005 (§7.1.5).
        case close(code: UInt16, reason: String)
        /// The peer broke a rule, or went beyond a bound: the connection is to be closed with this code.
        case violation(code: UInt16, reason: String)
    }

    enum Role {
        /// The peer is a client, which masks every frame.
        case server
        /// The peer is a server, which masks none.
        case client
    }

    private enum Stage {
        case head
        case payload
        case over
    }

    private let role: Role
    /// Takes messages with RSV1 apart; nil where compression was not agreed on.
    private let decompression: Decompression?
    private var assembly: MessageAssembly

    /// How many bytes may still be made out of compressed ones. When there are none left, `next` gives nil and leaves
    /// the rest of its input alone, until it is given more of them. It may go below zero by what one piece stands for.
    var inflationBudget = Int.max
    /// How many compressed bytes are inflated at once. They inflate to at most 1,032 times as many.
    private static let compressedPieceBytes = 1_024

    private var stage = Stage.head
    /// What has arrived of an incomplete head, at most 14 bytes.
    private var head: [UInt8] = []
    private var frame = Frame()
    private var control: [UInt8] = []

    /// The frame whose payload is being read.
    private struct Frame {
        var opcode = FrameHeader.Opcode.continuation
        var isFinal = false
        var mask: FrameMask?
        var length: UInt64 = 0
        var taken: UInt64 = 0

        var remaining: UInt64 { length - taken }
    }

    /// - Parameter maxMessageBytes: a longer message, compressed or not, ends the connection with 1009.
    init(role: Role, maxMessageBytes: Int, decompression: Decompression? = nil) {
        self.role = role
        self.decompression = decompression
        assembly = MessageAssembly(maxBytes: maxMessageBytes)
    }

    /// Takes bytes from the front of `input`, up to the next event; nil when all have been taken, or the budget is used
    /// up.
    mutating func next(from input: inout UnsafeRawBufferPointer) -> Event? {
        while true {
            switch stage {
            case .over:
                input = UnsafeRawBufferPointer(rebasing: input.suffix(0))
                return nil
            case .head:
                switch readHead(from: &input) {
                case nil: return nil
                case .failure(let violation): return fail(violation)
                case .success: stage = .payload
                }
                // An empty payload is complete already.
                if frame.length == 0, let event = endOfFrame() { return event }
            case .payload:
                if input.isEmpty || inflationBudget <= 0 { return nil }
                if let event = readPayload(from: &input) { return event }
            }
        }
    }

    /// Forgets what is incomplete; nothing more is consumed.
    mutating func stop() {
        stage = .over
        head = []
        control = []
        assembly.drop(decompression)
    }

    private mutating func fail(_ violation: WebSocketViolation) -> Event {
        stop()
        return .violation(code: violation.code, reason: violation.reason)
    }

    // MARK: - Heads

    /// Nil when more bytes are needed.
    private mutating func readHead(
        from input: inout UnsafeRawBufferPointer
    ) -> Result<Void, WebSocketViolation>? {
        while let byte = input.first {
            input = UnsafeRawBufferPointer(rebasing: input.dropFirst())
            head.append(byte)
            do throws(WebSocketViolation) {
                // Each byte is checked when it arrives, so that nobody waits for the rest of a bad head.
                if head.count == 1 { try checkFirstByte(byte) }
                if head.count == 2 { try checkSecondByte(byte) }
                guard head.count >= 2, head.count == headLength else { continue }
                try readLength()
                head.removeAll(keepingCapacity: true)
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        return nil
    }

    private var headLength: Int {
        let length = head[1] & 0x7F
        let lengthBytes = length == 127 ? 8 : length == 126 ? 2 : 0
        return 2 + lengthBytes + (head[1] & 0x80 != 0 ? 4 : 0)
    }

    private mutating func checkFirstByte(_ byte: UInt8) throws(WebSocketViolation) {
        let reserved = byte & 0x70
        guard let opcode = FrameHeader.Opcode(rawValue: byte & 0xF) else {
            throw .protocolError("Opcode \(byte & 0xF) is reserved")
        }
        frame = Frame()
        frame.opcode = opcode
        frame.isFinal = byte & 0x80 != 0
        // §5.2: a reserved bit means something only if an extension says so. RFC 7692 §6: RSV1 is set on the
        // first frame of a compressed message, and on no other.
        let startsMessage = opcode == .text || opcode == .binary
        let maySetRSV1 = decompression != nil && startsMessage
        guard reserved == 0 || reserved == 0x40 && maySetRSV1 else {
            throw .protocolError("A reserved bit is set")
        }
        if opcode.isControl {
            // §5.5: control frames are never fragmented.
            guard frame.isFinal else { throw .protocolError("A control frame is fragmented") }
            return
        }
        // §5.4.
        if startsMessage, assembly.isInsideMessage {
            throw .protocolError("A message begins inside another")
        }
        if opcode == .continuation, !assembly.isInsideMessage {
            throw .protocolError("There is nothing to continue")
        }
        if startsMessage {
            assembly.begin(opcode == .text ? .text : .binary, isCompressed: reserved != 0)
        }
    }

    private func checkSecondByte(_ byte: UInt8) throws(WebSocketViolation) {
        // §5.1.
        switch (role, byte & 0x80 != 0) {
        case (.server, false): throw .protocolError("A client must mask its frames")
        case (.client, true): throw .protocolError("A server must not mask its frames")
        default: break
        }
        if frame.opcode.isControl, byte & 0x7F > FrameHeader.maxControlBytes {
            throw .protocolError("A control frame is longer than 125 bytes")
        }
    }

    private mutating func readLength() throws(WebSocketViolation) {
        var at = 2
        switch head[1] & 0x7F {
        case 126:
            frame.length = UInt64(head[2]) << 8 | UInt64(head[3])
            at = 4
            guard frame.length >= 126 else { throw .notMinimal }
        case 127:
            frame.length = head[2..<10].reduce(0) { $0 << 8 | UInt64($1) }
            at = 10
            guard frame.length >> 63 == 0 else {
                throw .protocolError("A length has its highest bit set")
            }
            guard frame.length > 0xFFFF else { throw .notMinimal }
        default:
            frame.length = UInt64(head[1] & 0x7F)
        }
        if head[1] & 0x80 != 0 {
            frame.mask = FrameMask(
                word: head[at..<at + 4].reversed().reduce(0) { $0 << 8 | UInt32($1) })
        }
        // Said before a byte of the payload has come.
        if !frame.opcode.isControl { try assembly.announce(frame.length) }
    }

    // MARK: - Payloads

    private mutating func readPayload(from input: inout UnsafeRawBufferPointer) -> Event? {
        var count = Int(min(UInt64(input.count), frame.remaining))
        let isCompressed = assembly.isCompressed && !frame.opcode.isControl
        if isCompressed { count = min(count, Self.compressedPieceBytes) }
        let piece = UnsafeRawBufferPointer(rebasing: input[..<count])
        input = UnsafeRawBufferPointer(rebasing: input[count...])
        if frame.opcode.isControl {
            let start = control.count
            control.append(contentsOf: piece)
            let offset = frame.taken
            let mask = frame.mask
            control.withUnsafeMutableBytes {
                mask?.apply(to: UnsafeMutableRawBufferPointer(rebasing: $0[start...]), at: offset)
            }
        } else {
            let before = assembly.byteCount
            do throws(WebSocketViolation) {
                try assembly.append(
                    piece, mask: frame.mask, at: frame.taken, decompression: decompression)
                if isCompressed { inflationBudget -= assembly.byteCount - before }
            } catch {
                return fail(error)
            }
        }
        frame.taken += UInt64(count)
        return frame.remaining == 0 ? endOfFrame() : nil
    }

    private mutating func endOfFrame() -> Event? {
        stage = .head
        if frame.opcode.isControl {
            defer { control = [] }
            switch frame.opcode {
            case .ping: return .ping(control)
            case .pong: return .pong
            default: return closeEvent(control)
            }
        }
        if !frame.isFinal { return nil }
        do throws(WebSocketViolation) {
            return .message(try assembly.finish(decompression))
        } catch {
            return fail(error)
        }
    }

    /// §5.5.1 and §7.4.
    private mutating func closeEvent(_ payload: [UInt8]) -> Event {
        if payload.isEmpty {
            stop()
            return .close(code: 1_005, reason: "")
        }
        guard payload.count >= 2 else {
            return fail(.protocolError("A close frame has half a code"))
        }
        let code = UInt16(payload[0]) << 8 | UInt16(payload[1])
        guard WebSocketClose.mayTravel(code) else {
            return fail(.protocolError("Close code \(code) may not be sent"))
        }
        guard let reason = String(validating: payload[2...], as: UTF8.self) else {
            return fail(.notUTF8)
        }
        stop()
        return .close(code: code, reason: reason)
    }
}

/// Why a connection has to be closed. RFC 6455 §7.4.1.
struct WebSocketViolation: Error, Equatable {
    let code: UInt16
    let reason: String

    static func protocolError(_ reason: String) -> WebSocketViolation {
        WebSocketViolation(code: 1_002, reason: reason)
    }

    /// §5.2: the minimal number of bytes must be used.
    static let notMinimal = protocolError("A length is longer than it has to be")
    /// §8.1.
    static let notUTF8 = WebSocketViolation(code: 1_007, reason: "A text is not UTF-8")
    static let badCompression = WebSocketViolation(
        code: 1_007, reason: "A message cannot be decompressed")

    static func tooLarge(_ maxBytes: Int) -> WebSocketViolation {
        WebSocketViolation(code: 1_009, reason: "Message is larger than \(maxBytes) bytes")
    }
}

extension WebSocketClose {
    /// Whether a close frame may carry `code`: those of RFC 6455 §7.4.1 and of the registry that §11.7 begins, and
    /// those for libraries and applications (§7.4.2). 1004 to 1006 and 1015 never travel.
    static func mayTravel(_ code: UInt16) -> Bool {
        switch code {
        case 1_000...1_003, 1_007...1_014, 3_000...4_999: true
        default: false
        }
    }
}
