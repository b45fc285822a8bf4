package import Digests

/// Walks the frames of one segment, checking each, using a sliding window of memory.
///
/// The reader's algorithm: at a multiple of 8, take 72 bytes. If they are all zero, or no bytes are left,
/// nothing was written here yet. Otherwise they are a header; the frame it describes must be valid
/// (``FrameLayout``), and the next one begins right after it.
///
/// Not Sendable: every step overwrites the window.
package final class FrameScanner {
    /// What is at ``offset``.
    package enum Step {
        case frame(ScannedFrame)
        /// Nothing is written at `offset` yet. Calling `next` again checks again.
        case end
        /// The bytes at `offset` are not a valid frame.
        case fault(FrameFault)
    }

    package let source: any SegmentSource
    /// The offset of the next frame.
    package private(set) var offset: UInt64
    /// The next frame's first sequence; nil accepts any, as after damage.
    package private(set) var nextSequence: UInt64?
    private(set) var epoch: UInt32
    /// Frames that end before this event are checked by their headers only.
    var uncheckedBefore: UInt64 = 0
    private let window: SegmentWindow

    /// Starts at the segment's first frame, or at the frames that may contain an event.
    convenience init(_ source: any SegmentSource, lookingFor sequence: UInt64) {
        let start = source.start(of: sequence)
        self.init(
            source, at: start.offset, nextSequence: start.sequence, epoch: source.header.epoch)
        uncheckedBefore = sequence
    }

    /// Starts at the segment's first frame.
    package convenience init(_ source: any SegmentSource) {
        self.init(
            source, at: UInt64(SegmentHeader.size), nextSequence: source.header.firstSequence,
            epoch: source.header.epoch)
    }

    init(_ source: any SegmentSource, at offset: UInt64, nextSequence: UInt64?, epoch: UInt32) {
        self.source = source
        self.offset = offset
        self.nextSequence = nextSequence
        self.epoch = epoch
        window = SegmentWindow(source)
    }

    /// The frame at ``offset``, which then moves behind it; or why there is none, and ``offset`` stays.
    package func next() throws(LogError) -> Step {
        let step = try examine()
        if case .frame(let frame) = step {
            offset += UInt64(frame.header.size)
            nextSequence = frame.header.lastSequence + 1
            epoch = frame.header.epoch
        } else {
            // A writer may still write here, so do not answer from memory next time.
            window.forget()
        }
        return step
    }

    /// The step that ``next()`` would take, read from the file again.
    func peek() throws(LogError) -> Step {
        window.forget()
        return try examine()
    }

    /// Continues at `offset` with whatever valid frame is there.
    package func skip(to offset: UInt64) {
        self.offset = offset
        nextSequence = nil
        window.forget()
    }

    private func examine() throws(LogError) -> Step {
        let head = try window.bytes(at: offset, count: FrameLayout.headerSize)
        if head.isZero { return .end }
        guard head.count == FrameLayout.headerSize else { return .fault(.cutShort) }
        let header: FrameHeader
        do throws(FrameFault) {
            header = try FrameHeader.read(head)
            try checkOrder(header)
        } catch {
            return .fault(error)
        }
        if header.lastSequence < uncheckedBefore, header.count > 0 {
            return .frame(ScannedFrame(header: header, offset: offset, whole: head.part(0..<0)))
        }
        let bytes = try window.bytes(at: offset, count: header.size)
        guard bytes.count == header.size else { return .fault(.cutShort) }
        do throws(FrameFault) {
            try header.check(bytes)
            return .frame(
                ScannedFrame(header: header, offset: offset, whole: bytes))
        } catch {
            return .fault(error)
        }
    }

    private func checkOrder(_ header: FrameHeader) throws(FrameFault) {
        if let nextSequence, header.firstSequence != nextSequence {
            throw .sequence(expected: nextSequence, found: header.firstSequence)
        }
        guard header.epoch >= epoch else { throw .epoch(atLeast: epoch, found: header.epoch) }
    }
}

/// A valid frame. Its bytes are valid until the scanner's next step.
package struct ScannedFrame {
    package let header: FrameHeader
    let offset: UInt64
    /// The frame's bytes; empty if only its header was checked.
    package let whole: UnsafeRawBufferPointer

    package var payload: UnsafeRawBufferPointer { header.payload(of: whole) }

    /// Whether its chain hash follows from that of the frame before it.
    package func follows(_ previous: ChainHash, hasher: SHA256) -> Bool {
        header.chain == header.chain(after: previous, payload: payload, hasher: hasher)
    }
}

/// A section of a segment in memory, large enough for the current frame.
final class SegmentWindow {
    private let source: any SegmentSource
    private var memory = UnsafeMutableRawBufferPointer.allocate(
        byteCount: SegmentWindow.usualSize, alignment: 4096)
    private var start: UInt64 = 0
    private var count = 0

    private static let usualSize = 1 << 18

    init(_ source: any SegmentSource) {
        self.source = source
    }

    deinit { memory.deallocate() }

    func forget() {
        count = 0
    }

    /// The bytes from `offset` on; fewer than `count` only at the end of the segment.
    func bytes(at offset: UInt64, count wanted: Int) throws(LogError) -> UnsafeRawBufferPointer {
        if offset < start || offset + UInt64(wanted) > start + UInt64(count) {
            try load(at: offset, count: wanted)
        }
        let first = Int(offset - start)
        return UnsafeRawBufferPointer(memory).part(first..<min(first + wanted, count))
    }

    private func load(at offset: UInt64, count wanted: Int) throws(LogError) {
        if wanted > memory.count {
            // Trust a length, and allocate memory, only if the segment has the bytes.
            let available = try source.size()
            if offset + UInt64(wanted) <= available { grow(to: wanted) }
        }
        count = 0
        start = offset
        let usual = min(max(source.readAhead(at: offset), wanted), memory.count)
        count = try source.read(
            into: UnsafeMutableRawBufferPointer(rebasing: memory[..<usual]), at: offset)
    }

    private func grow(to size: Int) {
        memory.deallocate()
        memory = .allocate(byteCount: size, alignment: 4096)
    }
}
