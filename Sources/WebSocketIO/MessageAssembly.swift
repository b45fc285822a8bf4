import Zlib

/// Puts the payloads of frames together to a message, up to a size. A pure value, but for the decompressor
/// that it is lent.
struct MessageAssembly {
    private let maxBytes: Int
    private var kind = OutgoingMessage.Kind.binary
    private(set) var isCompressed = false
    private var utf8 = UTF8Check()
    private var bytes: [UInt8] = []
    /// Payload bytes as they came, of a compressed message.
    private var compressedBytes = 0
    /// Whether the rest of a message is still to come.
    private(set) var isInsideMessage = false

    /// So much room is made for a payload that is announced; more when it is there.
    private static let trustedBytes = 65_536

    init(maxBytes: Int) {
        self.maxBytes = maxBytes
    }

    /// Of the message so far, not compressed.
    var byteCount: Int { bytes.count }

    mutating func begin(_ kind: OutgoingMessage.Kind, isCompressed: Bool) {
        self.kind = kind
        self.isCompressed = isCompressed
        isInsideMessage = true
    }

    /// A frame with `length` bytes of payload begins.
    mutating func announce(_ length: UInt64) throws(WebSocketViolation) {
        let room = isCompressed ? maxCompressedBytes - compressedBytes : maxBytes - bytes.count
        guard length <= UInt64(room) else { throw .tooLarge(maxBytes) }
        // Once: to reserve a little more for each frame would copy the message for each of them.
        if isCompressed || !bytes.isEmpty { return }
        bytes.reserveCapacity(bytes.count + Int(min(length, UInt64(Self.trustedBytes))))
    }

    /// Deflate never needs much more than the uncompressed size. What is longer grows into nothing, and would
    /// be read for ever.
    private var maxCompressedBytes: Int {
        let (sum, overflows) = maxBytes.addingReportingOverflow(maxBytes / 256 + 1_024)
        return overflows ? .max : sum
    }

    /// Takes a piece of a payload.
    ///
    /// - Parameter offset: of the piece in its frame.
    mutating func append(
        _ piece: UnsafeRawBufferPointer, mask: FrameMask?, at offset: UInt64,
        decompression: Decompression?
    ) throws(WebSocketViolation) {
        guard isCompressed, let decompression else {
            let start = bytes.count
            bytes.append(contentsOf: piece)
            bytes.withUnsafeMutableBytes {
                mask?.apply(to: UnsafeMutableRawBufferPointer(rebasing: $0[start...]), at: offset)
            }
            return try check(from: start)
        }
        compressedBytes += piece.count
        var unmasked = Array(piece)
        unmasked.withUnsafeMutableBytes { mask?.apply(to: $0, at: offset) }
        try inflate(unmasked, decompression)
    }

    /// The last frame is complete.
    mutating func finish(_ decompression: Decompression?) throws(WebSocketViolation)
        -> WebSocketMessage
    {
        if isCompressed, let decompression {
            // RFC 7692 §7.2.2: what the sender has removed.
            try inflate(Inflater.tail, decompression)
            decompression.endMessage()
        }
        guard kind == .binary || utf8.isAtEnd else { throw .notUTF8 }
        defer { reset() }
        return WebSocketMessage(kind, bytes)
    }

    mutating func drop(_ decompression: Decompression?) {
        decompression?.stop()
        reset()
    }

    private mutating func reset() {
        bytes = []
        compressedBytes = 0
        utf8 = UTF8Check()
        isInsideMessage = false
    }

    private mutating func inflate(
        _ piece: [UInt8], _ decompression: Decompression
    ) throws(WebSocketViolation) {
        let start = bytes.count
        switch decompression.inflate(piece, onto: &bytes, maxBytes: maxBytes) {
        case .done: try check(from: start)
        case .tooLarge: throw .tooLarge(maxBytes)
        case .damaged: throw .badCompression
        }
    }

    /// RFC 6455 §8.1, as soon as a byte is wrong.
    private mutating func check(from start: Int) throws(WebSocketViolation) {
        guard kind == .text else { return }
        let isGood = bytes.withUnsafeBytes {
            utf8.take(UnsafeRawBufferPointer(rebasing: $0[start...]))
        }
        if !isGood { throw .notUTF8 }
    }
}
