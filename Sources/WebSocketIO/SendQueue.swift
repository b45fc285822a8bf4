@_spi(Rooms) import Threads

/// The messages that a connection has still to send, oldest first, and how to cut them into writes.
///
/// A value, and pure but for the compressor that it is lent. Invariants:
/// 1. `byteCount` is the number of payload bytes that `next` has not handed out yet.
/// 2. Once a fragment of a message has been handed out, its others follow before any other message.
/// 3. There is a `first` message if there is any. Most queues never hold a second one, and need no array.
struct SendQueue {
    private struct Entry {
        let prefix: [UInt8]
        let message: OutgoingMessage
        /// Payload bytes, prefix included, that have been handed out.
        var sentBytes = 0
        /// Whether a frame of it has been handed out.
        var hasBegun = false
        var isCompressed = false

        var payloadBytes: Int { prefix.count + message.payloadBytes }

        /// Payload bytes of its next frame.
        var pieceBytes: Int { min(payloadBytes - sentBytes, SendQueue.fragmentBytes) }

        /// Payload bytes of a message that is its own next frame, as it is; nil when a frame has to be made.
        var sharedBytes: Int? {
            guard prefix.isEmpty, !hasBegun, payloadBytes <= SendQueue.fragmentBytes else {
                return nil
            }
            return payloadBytes
        }

        /// RFC 6455 §5.4: the first fragment carries the opcode, the last one the final bit.
        var opcode: FrameHeader.Opcode {
            hasBegun ? .continuation : FrameHeader.Opcode(message.kind)
        }
    }

    /// What to give to the stream next.
    enum Write {
        /// A message that needs nothing put together: its own frame, as it is.
        case shared(OutgoingMessage)
        /// What has been put together in the buffer.
        case assembled
    }

    /// Messages up to this size travel in one frame and share writes; larger ones are cut into fragments, so
    /// that pings and closes find a gap.
    static let fragmentBytes = 65_536

    /// Whether frames are masked: those of a client.
    private let masks: Bool
    private let compression: Compression?
    /// The message that is sent next, or has been in part.
    private var first: Entry?
    /// The ones after it.
    private var later = FIFO<Entry>()
    private(set) var byteCount = 0
    /// Payload bytes that have been appended so far.
    private var appendedBytes = 0
    /// The message that may wait beside a limit: its payload bytes, and what had been appended with it.
    private var extra = (bytes: 0, end: 0)

    init(masks: Bool = false, compression: Compression? = nil) {
        self.masks = masks
        self.compression = compression
    }

    var isEmpty: Bool { first == nil }

    mutating func append(_ message: OutgoingMessage, prefix: [UInt8]) {
        byteCount += prefix.count + message.payloadBytes
        appendedBytes += prefix.count + message.payloadBytes
        let entry = Entry(prefix: prefix, message: message)
        if first == nil { first = entry } else { later.append(entry) }
    }

    /// Whether more waits than a limit beside one message, which may be of any size. To be asked whenever a message was
    /// appended.
    mutating func isBeyond(_ limit: Int) -> Bool {
        if byteCount <= limit { return false }
        let extraBytes = max(0, min(extra.bytes, extra.end - (appendedBytes - byteCount)))
        if byteCount - extraBytes <= limit { return false }
        guard let newest = later.last ?? first else { return true }
        let newestBytes = newest.payloadBytes - newest.sentBytes
        if byteCount - newestBytes > limit { return true }
        extra = (newestBytes, appendedBytes)
        return false
    }

    /// Forgets everything that has not been handed out.
    mutating func removeAll() {
        first = nil
        later = FIFO()
        byteCount = 0
    }

    /// Takes out the next write: one shared frame, or as many small messages as fit in one fragment's size, or
    /// one fragment of a large message. Nil when the queue is empty.
    mutating func next(into buffer: inout [UInt8]) -> Write? {
        if isEmpty { return nil }
        if let message = takeShared() { return .shared(message) }
        buffer.removeAll(keepingCapacity: true)
        while var entry = first.take() {
            let isSent = appendFrame(of: &entry, to: &buffer)
            first = isSent ? takeLater() : entry
            guard let first, buffer.count + first.pieceBytes <= Self.fragmentBytes else { break }
        }
        return .assembled
    }

    /// The first message, if it can travel as it is and nothing small could share its write.
    private mutating func takeShared() -> OutgoingMessage? {
        if masks || compression != nil { return nil }
        guard let payloadBytes = first?.sharedBytes,
            later.isEmpty || payloadBytes >= Self.fragmentBytes / 2
        else { return nil }
        byteCount -= payloadBytes
        let message = first?.message
        first = takeLater()
        return message
    }

    private mutating func takeLater() -> Entry? {
        let entry = later.popFirst()
        // Most of many connections are idle, and are to keep little.
        if later.isEmpty, later.capacity > 32 { later = FIFO() }
        return entry
    }

    // MARK: - Frames

    /// Appends the next frame of a message. Returns whether that was its last.
    private mutating func appendFrame(
        of entry: inout Entry, to buffer: inout [UInt8]
    ) -> Bool {
        if let compression {
            if !entry.hasBegun, entry.payloadBytes >= Compression.minBytes {
                entry.isCompressed = compression.begin()
            }
            if entry.isCompressed {
                return appendCompressedFrame(of: &entry, compression, to: &buffer)
            }
        }
        let length = entry.pieceBytes
        let isFinal = entry.sentBytes + length == entry.payloadBytes
        let mask = nextMask()
        FrameHeader.append(
            entry.opcode, isFinal: isFinal, length: length, mask: mask, to: &buffer)
        let start = buffer.count
        appendPayload(of: &entry, length: length, to: &buffer)
        Self.apply(mask, to: &buffer, from: start)
        return isFinal
    }

    /// RFC 6455 §5.3: another one for each frame.
    private func nextMask() -> FrameMask? { masks ? .random() : nil }

    private static func apply(_ mask: FrameMask?, to buffer: inout [UInt8], from start: Int) {
        guard let mask else { return }
        buffer.withUnsafeMutableBytes {
            mask.apply(to: UnsafeMutableRawBufferPointer(rebasing: $0[start...]), at: 0)
        }
    }

    /// RFC 7692 §6.1: RSV1 is set on the first frame only.
    private mutating func appendCompressedFrame(
        of entry: inout Entry, _ compression: Compression, to buffer: inout [UInt8]
    ) -> Bool {
        let (opcode, isFirst) = (entry.opcode, !entry.hasBegun)
        var payload: [UInt8] = []
        var compressed: [UInt8] = []
        var isFinal = false
        // The compressor may hold everything back until there is more.
        while compressed.isEmpty, !isFinal {
            let length = entry.pieceBytes
            isFinal = entry.sentBytes + length == entry.payloadBytes
            payload.removeAll(keepingCapacity: true)
            appendPayload(of: &entry, length: length, to: &payload)
            payload.withUnsafeBytes {
                compression.deflate($0, isFinal: isFinal, onto: &compressed)
            }
        }
        let mask = nextMask()
        FrameHeader.append(
            opcode, isFinal: isFinal, isCompressed: isFirst, length: compressed.count, mask: mask,
            to: &buffer)
        let start = buffer.count
        buffer.append(contentsOf: compressed)
        Self.apply(mask, to: &buffer, from: start)
        return isFinal
    }

    /// Hands out the next `length` bytes of a message.
    private mutating func appendPayload(
        of entry: inout Entry, length: Int, to buffer: inout [UInt8]
    ) {
        let end = entry.sentBytes + length
        let prefixBytes = entry.prefix.count
        if entry.sentBytes < prefixBytes {
            buffer.append(contentsOf: entry.prefix[entry.sentBytes..<min(end, prefixBytes)])
        }
        let from = max(entry.sentBytes, prefixBytes)
        if from < end {
            let base = entry.message.headerBytes - prefixBytes
            buffer.append(contentsOf: entry.message.frame[base + from..<base + end])
        }
        entry.sentBytes = end
        entry.hasBegun = true
        byteCount -= length
    }
}
