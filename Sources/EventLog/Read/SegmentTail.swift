/// What follows the valid frames of the last segment.
///
/// Unwritten space reads as zero, and a sync that did not finish leaves some of its sectors
/// unwritten. So anything that is not a valid frame is one of two things:
///
/// - a torn write, if and only if part of it is still unwritten (a whole sector of it is zero, or
///   its end is zero or beyond the file) and no later frame says that it had been synced.
///   Its events were not acknowledged, so it may be cut.
/// - otherwise damage: bytes changed after they were written. Cutting would lose acknowledged
///   events, so a damaged log is not opened.
///
/// The one mistake this can make: a last frame whose payload itself holds a whole sector of zeros,
/// damaged after a crash, counts as torn. It is still copied aside and reported.
package enum SegmentTail: Equatable {
    /// Only unwritten space follows.
    case clean
    /// Bytes from where the next frame belongs to the last non-zero byte.
    case torn(Range<UInt64>)
    case damaged(LogDamage)

    /// An aligned write of this many bytes is atomic.
    static let sectorSize: UInt64 = 512

    /// Examines what follows the last valid frame.
    ///
    /// - Parameters:
    ///   - offset: where the next frame belongs.
    ///   - fault: what the scanner found there; nil if it found a zero header.
    ///   - nextSequence: the next frame's first sequence.
    ///   - reach: how many bytes to examine; a reader that follows the log calls this repeatedly and cannot
    ///     look through all the space yet to be written.
    static func examine(
        _ source: any SegmentSource, at offset: UInt64, fault: FrameFault?, nextSequence: UInt64,
        reach: UInt64 = .max
    ) throws(LogError) -> SegmentTail {
        do throws(LogError) {
            return try look(
                source, at: offset, fault: fault, nextSequence: nextSequence, reach: reach)
        } catch {
            // A deflated block that cannot be inflated is not an unfinished write.
            guard let damage = error.damage else { throw error }
            return .damaged(damage)
        }
    }

    private static func look(
        _ source: any SegmentSource, at offset: UInt64, fault: FrameFault?, nextSequence: UInt64,
        reach: UInt64
    ) throws(LogError) -> SegmentTail {
        guard let written = try writtenExtent(of: source, from: offset, reach: reach) else {
            return .clean
        }
        func damaged(length: UInt64?) -> SegmentTail {
            .damaged(
                LogDamage(
                    file: source.path, offset: offset, length: length, sequence: nextSequence,
                    reason: (fault ?? .magic).sentence))
        }
        let search = FrameSearch(source)
        if let proof = try search.frame(
            from: offset + 8, through: written.upperBound,
            where: { $0.durableThrough >= nextSequence })
        {
            return damaged(length: proof - offset)
        }
        switch fault {
        case nil:
            return .torn(written)
        case .sequence, .epoch, .fields, .events, .chain, .missing:
            // The checksums are right, so it was written like this; it never belonged here.
            return damaged(length: nil)
        case .magic, .headerChecksum, .payloadChecksum, .endMarker, .cutShort:
            return try hasUnwrittenPart(source, at: offset) ? .torn(written) : damaged(length: nil)
        }
    }

    /// From `offset` to the last non-zero byte; nil if all are zero.
    private static func writtenExtent(
        of source: any SegmentSource, from offset: UInt64, reach: UInt64
    ) throws(LogError) -> Range<UInt64>? {
        var end: UInt64?
        var position = offset
        let window = SegmentWindow(source)
        while true {
            let bytes = try window.bytes(at: position, count: 1 << 16)
            if !bytes.isZero, let last = bytes.lastIndex(where: { $0 != 0 }) {
                end = position + UInt64(last) + 1
            }
            position += UInt64(bytes.count)
            if bytes.count < 1 << 16 || position - offset >= reach { break }
        }
        return end.map { offset..<$0 }
    }

    private static func hasUnwrittenPart(
        _ source: any SegmentSource, at offset: UInt64
    ) throws(LogError) -> Bool {
        let window = SegmentWindow(source)
        let headSize = FrameLayout.headerSize + 8
        let head = try window.bytes(at: offset, count: headSize)
        // The eight bytes after a header are never all zero: they hold an event's kind or the marker.
        guard head.count == headSize, !head.part(FrameLayout.headerSize..<headSize).isZero
        else { return true }
        guard let header = try? FrameHeader.read(head) else {
            return hasZeroSector(head.part(0..<FrameLayout.headerSize), at: offset)
        }
        let frame = try window.bytes(at: offset, count: header.size)
        // The marker at the end has no zero byte.
        guard frame.count == header.size, frame[frame.count - 1] != 0 else { return true }
        return hasZeroSector(frame, at: offset)
    }

    private static func hasZeroSector(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) -> Bool {
        var start = 0
        while start < bytes.count {
            let position = offset + UInt64(start)
            let sectorEnd = (position / sectorSize + 1) * sectorSize
            let end = min(Int(sectorEnd - offset), bytes.count)
            if bytes.part(start..<end).isZero { return true }
            start = end
        }
        return false
    }
}

extension FrameScanner {
    /// Examines the bytes where ``next()`` found no valid frame.
    ///
    /// A writer may append in between, and the window may hold old, unwritten space that was read along with
    /// the previous frame. So nothing counts as torn or damaged until the scanner has looked again.
    ///
    /// - Parameters:
    ///   - fault: what `next` found; nil if it found a zero header.
    ///   - sequence: the next frame's first sequence.
    ///   - reach: how many bytes to examine.
    /// - Returns: nil if there is a valid frame by now: `next` returns it.
    package func tail(
        fault: FrameFault?, nextSequence sequence: UInt64, reach: UInt64 = .max
    ) throws(LogError) -> SegmentTail? {
        let tail = try SegmentTail.examine(
            source, at: offset, fault: fault, nextSequence: sequence, reach: reach)
        if tail == .clean { return tail }
        return try isFrameNext() ? nil : tail
    }

    /// The offset of the first valid frame after the bytes where ``next()`` found none, whichever it is; nil if
    /// there is none.
    package func frameBehindFault() throws(LogError) -> UInt64? {
        try FrameSearch(source).frame(
            from: offset + 8, through: try source.size(), where: { _ in true })
    }

    /// Whether there is a valid frame by now. Something unreadable is not one.
    func isFrameNext() throws(LogError) -> Bool {
        do throws(LogError) {
            if case .frame = try peek() { return true }
        } catch {
            guard error.damage != nil else { throw error }
        }
        return false
    }
}

/// Searches other bytes for valid frames, at every multiple of 8.
struct FrameSearch {
    private let source: any SegmentSource
    private let window: SegmentWindow

    init(_ source: any SegmentSource) {
        self.source = source
        window = SegmentWindow(source)
    }

    /// The offset of the first valid frame in a range that satisfies `condition`. Unreadable parts are
    /// skipped.
    func frame(
        from start: UInt64, through end: UInt64, where condition: (FrameHeader) -> Bool
    ) throws(LogError) -> UInt64? {
        var offset = start
        while offset < end {
            do throws(LogError) {
                let head = try window.bytes(at: offset, count: FrameLayout.headerSize)
                if head.count == FrameLayout.headerSize {
                    if try isFrame(head, at: offset, where: condition) { return offset }
                    offset += 8
                    continue
                }
                // The bytes end here, whatever size the segment claims.
            } catch {
                guard error.damage != nil else { throw error }
            }
            guard let readable = source.readable(after: offset) else { return nil }
            offset = readable
        }
        return nil
    }

    private func isFrame(
        _ head: UnsafeRawBufferPointer, at offset: UInt64, where condition: (FrameHeader) -> Bool
    ) throws(LogError) -> Bool {
        guard let header = try? FrameHeader.read(head), condition(header) else { return false }
        let frame = try window.bytes(at: offset, count: header.size)
        return frame.count == header.size && (try? header.check(frame)) != nil
    }
}
