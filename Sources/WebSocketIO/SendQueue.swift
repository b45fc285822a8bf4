/// The messages that a connection has still to send, oldest first, and how to cut them into writes.
///
/// A value, and pure but for the compressor that it is lent. Invariants:
/// 1. `byteCount` is the number of payload bytes that `next` has not handed out yet.
/// 2. Once a fragment of a message has been handed out, its others follow before any other message.
struct SendQueue {
    private struct Entry {
        let prefix: [UInt8]
        var message: OutgoingMessage
        /// Payload bytes, prefix included, that have been handed out.
        var sentBytes = 0
        /// Whether a frame of it has been handed out.
        var hasBegun = false
        var isCompressed = false

        var payloadBytes: Int { prefix.count + message.payloadBytes }
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
    private var entries: [Entry] = []
    /// Entries before this one are done with.
    private var head = 0
    private(set) var byteCount = 0

    init(masks: Bool = false, compression: Compression? = nil) {
        self.masks = masks
        self.compression = compression
    }

    var isEmpty: Bool { head == entries.count }
    var count: Int { entries.count - head }

    mutating func append(_ message: OutgoingMessage, prefix: [UInt8]) {
        entries.append(Entry(prefix: prefix, message: message))
        byteCount += prefix.count + message.payloadBytes
    }

    /// Forgets everything that has not been handed out.
    mutating func removeAll() {
        entries = []
        head = 0
        byteCount = 0
    }

    /// Takes out the next write: one shared frame, or as many small messages as fit in one fragment's size, or
    /// one fragment of a large message. Nil when the queue is empty.
    mutating func next(into buffer: inout [UInt8]) -> Write? {
        if isEmpty { return nil }
        if let message = takeShared() { return .shared(message) }
        buffer.removeAll(keepingCapacity: true)
        repeat {
            if buffer.isEmpty == false, buffer.count + pieceBytes > Self.fragmentBytes { break }
            appendFrame(to: &buffer)
        } while !isEmpty && buffer.count < Self.fragmentBytes
        return .assembled
    }

    /// The first message, if it can travel as it is and nothing small could share its write.
    private mutating func takeShared() -> OutgoingMessage? {
        if masks || compression != nil { return nil }
        let entry = entries[head]
        guard entry.prefix.isEmpty, !entry.hasBegun, entry.payloadBytes <= Self.fragmentBytes,
            count == 1 || entry.payloadBytes >= Self.fragmentBytes / 2
        else { return nil }
        removeFirst()
        return entry.message
    }

    /// Payload bytes of the next frame.
    private var pieceBytes: Int {
        min(entries[head].payloadBytes - entries[head].sentBytes, Self.fragmentBytes)
    }

    // MARK: - Frames

    /// RFC 6455 §5.4: the first fragment carries the opcode, the last one the final bit.
    private mutating func appendFrame(to buffer: inout [UInt8]) {
        if let compression {
            if !entries[head].hasBegun, entries[head].payloadBytes >= Compression.minBytes {
                entries[head].isCompressed = compression.begin()
            }
            if entries[head].isCompressed { return appendCompressedFrame(compression, to: &buffer) }
        }
        let entry = entries[head]
        let length = pieceBytes
        let isFinal = entry.sentBytes + length == entry.payloadBytes
        let mask = nextMask()
        FrameHeader.append(
            opcode(of: entry), isFinal: isFinal, length: length, mask: mask, to: &buffer)
        let start = buffer.count
        appendPayload(of: entry, length: length, to: &buffer)
        Self.apply(mask, to: &buffer, from: start)
        advance(by: length, isFinal: isFinal)
    }

    /// RFC 6455 §5.3: another one for each frame.
    private func nextMask() -> FrameMask? { masks ? .random() : nil }

    private static func apply(_ mask: FrameMask?, to buffer: inout [UInt8], from start: Int) {
        guard let mask else { return }
        buffer.withUnsafeMutableBytes {
            mask.apply(to: UnsafeMutableRawBufferPointer(rebasing: $0[start...]), at: 0)
        }
    }

    /// RFC 7692 §6.1: RSV1 stands on the first frame only.
    private mutating func appendCompressedFrame(
        _ compression: Compression, to buffer: inout [UInt8]
    ) {
        var payload: [UInt8] = []
        var compressed: [UInt8] = []
        var isFinal = false
        let entry = entries[head]
        // The compressor may hold everything back until there is more.
        while compressed.isEmpty, !isFinal {
            let length = pieceBytes
            isFinal = entries[head].sentBytes + length == entry.payloadBytes
            payload.removeAll(keepingCapacity: true)
            appendPayload(of: entries[head], length: length, to: &payload)
            payload.withUnsafeBytes {
                compression.deflate($0, isFinal: isFinal, onto: &compressed)
            }
            if !isFinal { advance(by: length, isFinal: false) }
        }
        let mask = nextMask()
        FrameHeader.append(
            opcode(of: entry), isFinal: isFinal, isCompressed: !entry.hasBegun,
            length: compressed.count, mask: mask, to: &buffer)
        let start = buffer.count
        buffer.append(contentsOf: compressed)
        Self.apply(mask, to: &buffer, from: start)
        if isFinal { removeFirst() }
    }

    private func opcode(of entry: Entry) -> FrameHeader.Opcode {
        entry.hasBegun ? .continuation : FrameHeader.Opcode(entry.message.kind)
    }

    /// The next `length` bytes that `entry` has not handed out.
    private func appendPayload(of entry: Entry, length: Int, to buffer: inout [UInt8]) {
        var from = entry.sentBytes
        let end = from + length
        if from < entry.prefix.count {
            let prefixEnd = min(end, entry.prefix.count)
            buffer.append(contentsOf: entry.prefix[from..<prefixEnd])
            from = prefixEnd
        }
        if from < end {
            let base = entry.message.headerBytes - entry.prefix.count
            buffer.append(contentsOf: entry.message.frame[base + from..<base + end])
        }
    }

    private mutating func advance(by length: Int, isFinal: Bool) {
        if isFinal {
            removeFirst()
        } else {
            entries[head].sentBytes += length
            entries[head].hasBegun = true
            byteCount -= length
        }
    }

    /// Stands where a message was that has been sent.
    private static let sentMessage = OutgoingMessage(.text, [])

    private mutating func removeFirst() {
        byteCount -= entries[head].payloadBytes - entries[head].sentBytes
        // What is sent is kept by nobody, however long the queue is not empty.
        entries[head].message = Self.sentMessage
        head += 1
        if head == entries.count {
            entries.removeAll(keepingCapacity: entries.count <= 16)
            head = 0
        } else if head >= 64, head * 2 >= entries.count {
            entries.removeFirst(head)
            head = 0
        }
    }
}
