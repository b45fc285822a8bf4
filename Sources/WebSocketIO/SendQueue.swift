/// The messages that a connection has still to send, oldest first, and how to cut them into writes.
///
/// A pure value. Invariants:
/// 1. `byteCount` is the number of payload bytes that `next` has not handed out yet.
/// 2. Once a piece of a message has been handed out, its other pieces follow before anything else.
struct SendQueue {
    struct Entry {
        let prefix: [UInt8]
        let message: OutgoingMessage
        /// Payload bytes, prefix included, that have been handed out.
        var sentBytes = 0

        var payloadBytes: Int { prefix.count + message.payloadBytes }
    }

    /// Messages up to this size travel in one frame and share writes; larger ones are cut into
    /// fragments, because the library copies what the socket does not take at once.
    static let fragmentBytes = 65_536

    private var entries: [Entry] = []
    /// Entries before this one are done with.
    private var head = 0
    private(set) var byteCount = 0

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

    // MARK: - Server frames

    /// What to give to the socket next, as a server's frames.
    enum Frames {
        /// A message that needs nothing put together: its own frame, as it is.
        case shared(OutgoingMessage)
        /// What has been put together in the buffer.
        case assembled
    }

    /// Takes out the next write: one shared frame, or as many small messages as fit in one
    /// fragment's size, or one fragment of a large message. Nil when the queue is empty.
    mutating func nextFrames(into buffer: inout [UInt8]) -> Frames? {
        if isEmpty { return nil }
        if count == 1 || entries[head].payloadBytes >= Self.fragmentBytes / 2 {
            let entry = entries[head]
            if entry.prefix.isEmpty, entry.payloadBytes <= Self.fragmentBytes {
                removeFirst()
                return .shared(entry.message)
            }
        }
        buffer.removeAll(keepingCapacity: true)
        if entries[head].payloadBytes > Self.fragmentBytes {
            appendFragment(to: &buffer)
            return .assembled
        }
        while !isEmpty {
            let entry = entries[head]
            if entry.payloadBytes > Self.fragmentBytes
                || !buffer.isEmpty && buffer.count + entry.payloadBytes > Self.fragmentBytes
            {
                break
            }
            FrameHeader.append(
                opcode: FrameHeader.opcode(of: entry.message.kind), length: entry.payloadBytes,
                to: &buffer)
            buffer.append(contentsOf: entry.prefix)
            buffer.append(contentsOf: entry.message.frame[entry.message.headerBytes...])
            removeFirst()
        }
        return .assembled
    }

    /// RFC 6455 §5.4: the first fragment carries the opcode, the last one the final bit.
    private mutating func appendFragment(to buffer: inout [UInt8]) {
        let entry = entries[head]
        let length = min(entry.payloadBytes - entry.sentBytes, Self.fragmentBytes)
        let isFinal = entry.sentBytes + length == entry.payloadBytes
        FrameHeader.append(
            opcode: entry.sentBytes == 0
                ? FrameHeader.opcode(of: entry.message.kind) : FrameHeader.continuation,
            isFinal: isFinal, length: length, to: &buffer)
        appendPayload(of: entry, length: length, to: &buffer)
        advance(by: length, isFinal: isFinal)
    }

    // MARK: - Pieces for the library to frame

    /// A piece of a message, for connections whose frames the library makes (masked, compressed).
    struct Piece {
        let kind: OutgoingMessage.Kind
        let isFirst: Bool
        let isFinal: Bool
    }

    /// Takes out the next piece and appends its bytes to `buffer`. Nil when the queue is empty.
    mutating func nextPiece(into buffer: inout [UInt8]) -> Piece? {
        if isEmpty { return nil }
        let entry = entries[head]
        let length = min(entry.payloadBytes - entry.sentBytes, Self.fragmentBytes)
        let isFinal = entry.sentBytes + length == entry.payloadBytes
        let piece = Piece(
            kind: entry.message.kind, isFirst: entry.sentBytes == 0, isFinal: isFinal)
        appendPayload(of: entry, length: length, to: &buffer)
        advance(by: length, isFinal: isFinal)
        return piece
    }

    // MARK: - Parts

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
            byteCount += entries[head].sentBytes
            removeFirst()
        } else {
            entries[head].sentBytes += length
            byteCount -= length
        }
    }

    private mutating func removeFirst() {
        byteCount -= entries[head].payloadBytes
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
