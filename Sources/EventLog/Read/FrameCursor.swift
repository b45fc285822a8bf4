/// Walks the frames of a log across its segments, even while a writer appends to it.
///
/// Not Sendable: it is stateful, and what it returns points into its window.
final class FrameCursor {
    private let directory: LogDirectory
    private let storeID: StoreID
    private let skipsDamage: Bool
    private var scanner: FrameScanner?
    /// The first sequence not yet passed.
    private(set) var nextSequence: UInt64
    /// What could not be read so far, if damage is skipped.
    private(set) var damages: [LogDamage] = []

    init(_ directory: LogDirectory, storeID: StoreID, from sequence: UInt64, skipsDamage: Bool) {
        self.directory = directory
        self.storeID = storeID
        self.skipsDamage = skipsDamage
        nextSequence = sequence
    }

    /// The segment that contains the last returned frame.
    var segmentPath: String? { scanner?.source.path }

    /// The next frame with events from ``nextSequence`` on; nil if no more is written yet.
    func next() throws(LogError) -> ScannedFrame? {
        while true {
            guard let scanner = try currentScanner() else { return nil }
            do throws(LogError) {
                switch try scanner.next() {
                case .frame(let frame):
                    if let delivered = deliver(frame) { return delivered }
                case .end:
                    if try leave(scanner, fault: nil) { return nil }
                case .fault(let fault):
                    if try leave(scanner, fault: fault) { return nil }
                }
            } catch {
                guard skipsDamage, let damage = error.damage else { throw error }
                damages.append(damage)
                guard try goOn(behind: scanner) else { return nil }
            }
        }
    }

    private func deliver(_ frame: ScannedFrame) -> ScannedFrame? {
        let header = frame.header
        guard header.count > 0, header.lastSequence >= nextSequence else { return nil }
        nextSequence = header.lastSequence + 1
        return frame
    }

    private func currentScanner() throws(LogError) -> FrameScanner? {
        if let scanner { return scanner }
        let segments = try directory.firstSequences()
        guard let first = segments.first else { return nil }
        guard let last = segments.last(where: { $0 <= nextSequence }) else {
            throw .dropped(nextSequence, first: first)
        }
        return try enter(last)
    }

    private func enter(_ firstSequence: UInt64) throws(LogError) -> FrameScanner {
        let scanner = FrameScanner(try open(firstSequence), lookingFor: nextSequence)
        self.scanner = scanner
        return scanner
    }

    /// Frames are self-describing enough to be read even if the segment header is damaged.
    private func open(_ firstSequence: UInt64) throws(LogError) -> any SegmentSource {
        do throws(LogError) {
            return try directory.openSegment(firstSequence, of: storeID)
        } catch {
            guard let damage = error.damage else { throw error }
            try note(damage)
            return try directory.openSegment(
                firstSequence,
                assuming: .unknown(storeID: storeID, firstSequence: firstSequence))
        }
    }

    /// There is no valid frame at the scanner's position: continues after it, if possible.
    ///
    /// - Returns: true if this is the end of what is written.
    private func leave(_ scanner: FrameScanner, fault: FrameFault?) throws(LogError) -> Bool {
        let expected = scanner.nextSequence ?? nextSequence
        let later = try directory.firstSequences().filter {
            $0 > scanner.source.header.firstSequence
        }
        if fault == nil, later.first == expected {
            _ = try enter(expected)
            return false
        }
        if let next = later.first {
            // Since then, a writer may have filled this segment and started the next.
            if try scanner.isFrameNext() { return false }
            return try passDamage(
                in: scanner, fault: fault ?? .missing(min(expected, next)..<next), nextSegment: next
            )
        }
        switch try scanner.tail(
            fault: fault, nextSequence: expected, reach: fault == nil ? 1 << 16 : .max)
        {
        case nil: return false
        case .clean, .torn: return true
        case .damaged:
            return try passDamage(in: scanner, fault: fault ?? .magic, nextSegment: nil)
        }
    }

    /// Throws the damage, or records it and continues with the next valid frame.
    private func passDamage(
        in scanner: FrameScanner, fault: FrameFault, nextSegment: UInt64?
    ) throws(LogError) -> Bool {
        let source = scanner.source
        let resume = try scanner.frameBehindFault()
        try note(
            LogDamage(
                file: source.path, offset: scanner.offset,
                length: resume.map { $0 - scanner.offset }, sequence: scanner.nextSequence,
                reason: fault.sentence))
        if let resume {
            scanner.skip(to: resume)
            return false
        }
        guard let nextSegment else { return true }
        nextSequence = max(nextSequence, nextSegment)
        _ = try enter(nextSegment)
        return false
    }

    /// Part of the segment is unreadable: continues with what follows.
    private func goOn(behind scanner: FrameScanner) throws(LogError) -> Bool {
        let source = scanner.source
        if let offset = source.readable(after: scanner.offset) {
            scanner.skip(to: offset)
            return true
        }
        let later = try directory.firstSequences().first { $0 > source.header.firstSequence }
        guard let next = later else { return false }
        nextSequence = max(nextSequence, next)
        _ = try enter(next)
        return true
    }

    private func note(_ damage: LogDamage) throws(LogError) {
        guard skipsDamage else { throw .damaged(damage) }
        damages.append(damage)
    }
}
