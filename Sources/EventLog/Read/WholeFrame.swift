package import Digests

/// A frame as its bytes, apart from a segment: what a journal elsewhere keeps and hands back.
package struct WholeFrame: Sendable {
    /// As in a segment (docs/log-format.md).
    package let bytes: [UInt8]
    private let header: FrameHeader

    /// Checks everything that can be checked of a frame alone: its checksums, its end, its events.
    /// - Throws: why the bytes are not a frame with events.
    package init(_ bytes: [UInt8]) throws(FrameFault) {
        header = try bytes.withUnsafeBytes { frame in
            Result { () throws(FrameFault) in
                guard frame.count >= FrameLayout.headerSize else { throw .cutShort }
                let header = try FrameHeader.read(frame.part(0..<FrameLayout.headerSize))
                guard header.size == frame.count, header.count > 0 else { throw .fields }
                try header.check(frame)
                return header
            }
        }.get()
        self.bytes = bytes
    }

    fileprivate init(_ frame: ScannedFrame) {
        bytes = Array(frame.whole)
        header = frame.header
    }

    package var sequences: ClosedRange<UInt64> { header.firstSequence...header.lastSequence }
    package var chain: ChainHash { header.chain }
    var payloadLength: Int { header.payloadLength }
    /// The head of a history that ends with it.
    package var head: LogHead {
        LogHead(sequence: header.lastSequence, epoch: header.epoch, hash: header.chain)
    }

    /// Its events, in order.
    package var events: [RecordedEvent] {
        bytes.withUnsafeBytes { frame in
            var rest = header.payload(of: frame)
            return sequences.map { sequence in
                let length = Int(rest.littleEndian(UInt32.self, at: 0))
                let end = EventLayout.headerSize + length
                defer { rest = rest.part(end..<rest.count) }
                return RecordedEvent(
                    sequence: sequence,
                    event: LogEvent(
                        kind: LogEventKind(rawValue: rest[4]),
                        timeMicroseconds: rest.littleEndian(Int64.self, at: 8),
                        payload: [UInt8](rest.part(EventLayout.headerSize..<end))))
            }
        }
    }

    /// Whether its chain hash follows from that of the frame before it.
    package func follows(_ previous: ChainHash, hasher: SHA256) -> Bool {
        bytes.withUnsafeBytes { frame in
            header.chain
                == header.chain(after: previous, payload: header.payload(of: frame), hasher: hasher)
        }
    }

    /// Whether it continues a history.
    /// - Parameters:
    ///   - head: how far the history is.
    ///   - knowsChain: false if nobody knows the hash before the frame; then any is right.
    /// - Throws: why it does not.
    package func check(
        after head: LogHead, knowsChain: Bool = true, hasher: SHA256
    ) throws(FrameFault) {
        guard header.firstSequence == head.sequence + 1 else {
            throw .sequence(expected: head.sequence + 1, found: header.firstSequence)
        }
        guard header.epoch >= head.epoch else {
            throw .epoch(atLeast: head.epoch, found: header.epoch)
        }
        guard !knowsChain || follows(head.hash, hasher: hasher) else { throw .chain }
    }
}

/// Iterates over a log's frames, bytes and all, checking that each follows from the one before.
///
/// Not Sendable, because it is stateful.
package final class WholeFrameCursor {
    /// The head after the last frame that was returned.
    package private(set) var head: LogHead
    private var knowsChain: Bool
    private let frames: FrameCursor
    private let hasher = SHA256()

    init(_ frames: FrameCursor, after head: LogHead, knowsChain: Bool) {
        self.frames = frames
        self.head = head
        self.knowsChain = knowsChain
    }

    /// The next frame; nil at the end, until more is appended.
    /// - Throws: `damaged`, `outOfRange` if a server dropped it in the meantime, `inputOutput`.
    package func next() throws(LogError) -> WholeFrame? {
        guard let scanned = try frames.next() else { return nil }
        let frame = WholeFrame(scanned)
        do throws(FrameFault) {
            try frame.check(after: head, knowsChain: knowsChain, hasher: hasher)
        } catch {
            throw .damaged(
                LogDamage(
                    file: frames.segmentPath ?? "", offset: scanned.offset, length: nil,
                    sequence: head.sequence + 1, reason: error.sentence))
        }
        head = frame.head
        knowsChain = true
        return frame
    }
}

/// What a log's frames begin after.
package struct LogBase: Sendable, Hashable {
    /// The event before the first; the epoch is that of the first segment.
    package let head: LogHead
    /// False if a repair made the log begin after damage: any hash is then accepted before the first frame.
    package let knowsChain: Bool

    package init(head: LogHead, knowsChain: Bool) {
        self.head = head
        self.knowsChain = knowsChain
    }

    /// Of a complete log.
    package static let genesis = LogBase(
        head: LogHead(sequence: 0, epoch: 1, hash: .zero), knowsChain: true)
}

extension EventLogReader {
    /// What the log's first frame follows.
    package func base() throws(LogError) -> LogBase {
        let first = try firstSequence()
        let header = try directory.openSegment(first, of: metadata.storeID).header
        return LogBase(
            head: LogHead(
                sequence: first - 1, epoch: header.epoch, hash: header.previousChain),
            knowsChain: header.knowsPreviousChain)
    }

    /// All frames of the log, in order.
    /// - Parameter base: what ``base()`` returned.
    package func wholeFrames(after base: LogBase) -> WholeFrameCursor {
        WholeFrameCursor(
            FrameCursor(
                directory, storeID: metadata.storeID, from: base.head.sequence + 1,
                skipsDamage: false),
            after: base.head, knowsChain: base.knowsChain)
    }
}
