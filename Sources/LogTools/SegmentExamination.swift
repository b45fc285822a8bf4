import Digests
import EventLog

/// Consecutive frames of one segment, with no event missing between them.
struct FrameRun: Sendable {
    let firstSequence: UInt64
    /// Their byte ranges: one, or several if there is damage in between.
    private(set) var extents: [Range<UInt64>]
    /// The chain hash before the first frame; nil if damage hides it.
    let previousChain: ChainHash?
    let firstEpoch: UInt32
    var end: LogHead

    mutating func add(_ extent: Range<UInt64>) {
        if let last = extents.last, last.upperBound == extent.lowerBound {
            extents[extents.count - 1] = last.lowerBound..<extent.upperBound
        } else {
            extents.append(extent)
        }
    }
}

/// Everything there is to know about one segment: every frame checked, including its chain hash.
struct SegmentExamination: Sendable {
    let path: String
    /// As in the file; if that is damaged, the header the caller expected.
    let header: SegmentHeader
    var frames: UInt64 = 0
    var events: UInt64 = 0
    /// Uncompressed size, up to the end of its last frame.
    var byteCount: UInt64 = 0
    var endOffset: UInt64 { byteCount }
    /// The head after the last valid frame.
    var end: LogHead
    /// The good frames, in runs between damage. Closing frames are not counted.
    var runs: [FrameRun] = []
    /// Damage that loses events.
    var damages: [LogDamage] = []
    /// Damage to the segment's header or index, despite which every frame can be read.
    var wrapperDamages: [LogDamage] = []
    /// An unfinished write at the end of the log.
    var tornTail: Range<UInt64>?

    /// - Parameters:
    ///   - expected: the header that the segment should have, in case its own is damaged.
    ///   - isLast: whether the log ends with it, so that it may end with an unfinished write.
    ///   - progress: called with the bytes examined since the last call.
    static func examine(
        _ firstSequence: UInt64, in directory: LogDirectory, storeID: StoreID,
        expected: SegmentHeader? = nil, isLast: Bool, progress: (UInt64) -> Void = { _ in }
    ) throws(LogError) -> SegmentExamination {
        var wrapperDamages: [LogDamage] = []
        let source: any SegmentSource
        do throws(LogError) {
            source = try directory.openSegment(firstSequence, of: storeID)
        } catch {
            guard let damage = error.damage else { throw error }
            wrapperDamages.append(damage)
            source = try directory.openSegment(
                firstSequence,
                assuming: expected ?? .unknown(storeID: storeID, firstSequence: firstSequence))
        }
        let knowsChain = source.header.knowsPreviousChain
        if let damage = source.indexDamage { wrapperDamages.append(damage) }
        let head = LogHead(
            sequence: firstSequence - 1, epoch: source.header.epoch,
            hash: source.header.previousChain)
        var examination = SegmentExamination(
            path: source.path, header: source.header, end: head, wrapperDamages: wrapperDamages)
        try examination.run(source, knowsChain: knowsChain, isLast: isLast, progress: progress)
        return examination
    }

    private mutating func run(
        _ source: any SegmentSource, knowsChain: Bool, isLast: Bool, progress: (UInt64) -> Void
    ) throws(LogError) {
        let scanner = FrameScanner(source)
        let hasher = SHA256()
        var knowsChain = knowsChain
        var goesOn = false
        var reported = scanner.offset
        while true {
            let offset = scanner.offset
            let step: FrameScanner.Step
            do throws(LogError) {
                step = try scanner.next()
            } catch {
                guard let damage = error.damage else { throw error }
                damages.append(damage)
                guard let readable = source.readable(after: offset) else { break }
                scanner.skip(to: readable)
                (knowsChain, goesOn) = (false, false)
                continue
            }
            switch step {
            case .frame(let frame):
                let follows = follows(frame, knowingChain: knowsChain, hasher)
                if knowsChain, !follows {
                    damages.append(
                        damage(
                            source, at: offset, .chain, sequence: frame.header.firstSequence))
                    goesOn = false
                } else {
                    goesOn = note(
                        frame.header, at: offset..<scanner.offset,
                        goingOn: follows && (goesOn || !knowsChain),
                        after: knowsChain ? end.hash : nil)
                }
                knowsChain = true
                frames += 1
                events += UInt64(frame.header.count)
                end = LogHead(
                    sequence: frame.header.lastSequence, epoch: frame.header.epoch,
                    hash: frame.header.chain)
            case .end, .fault:
                switch try pass(step, in: scanner, isLast: isLast) {
                case .ends:
                    byteCount = scanner.offset
                    progress(scanner.offset - reported)
                    return
                case .isWritten: break
                case .goesOnBehind: (knowsChain, goesOn) = (false, false)
                }
            }
            if scanner.offset - reported >= 1 << 20 {
                progress(scanner.offset - reported)
                reported = scanner.offset
            }
        }
        byteCount = scanner.offset
    }

    /// Whether a frame's chain hash follows from the frame before it; after damage, from the last good frame,
    /// if no event is missing between the two.
    private func follows(
        _ frame: ScannedFrame, knowingChain knowsChain: Bool, _ hasher: SHA256
    ) -> Bool {
        let header = frame.header
        var previous: ChainHash? = end.hash
        if !knowsChain {
            previous = runs.last.flatMap {
                $0.end.sequence + 1 == header.firstSequence ? $0.end.hash : nil
            }
        }
        guard let previous else { return false }
        return frame.follows(previous, hasher: hasher)
    }

    /// A good frame: continues the previous run, or starts another. A closing frame, which has no events,
    /// starts none.
    ///
    /// - Returns: whether what follows may continue the last run.
    private mutating func note(
        _ header: FrameHeader, at extent: Range<UInt64>, goingOn: Bool, after chain: ChainHash?
    ) -> Bool {
        let head = LogHead(
            sequence: header.lastSequence, epoch: header.epoch, hash: header.chain)
        if goingOn, let last = runs.indices.last {
            runs[last].add(extent)
            runs[last].end = head
            return true
        }
        guard header.count > 0 else { return false }
        runs.append(
            FrameRun(
                firstSequence: header.firstSequence, extents: [extent], previousChain: chain,
                firstEpoch: header.epoch, end: head))
        return true
    }

    /// What to do where the scanner found no valid frame.
    private enum Passed {
        /// The segment ends here.
        case ends
        /// A writer has written a frame here since.
        case isWritten
        /// There is damage here; frames follow.
        case goesOnBehind
    }

    private mutating func pass(
        _ step: FrameScanner.Step, in scanner: FrameScanner, isLast: Bool
    ) throws(LogError) -> Passed {
        let source = scanner.source
        var fault: FrameFault?
        if case .fault(let found) = step { fault = found }
        let next = scanner.nextSequence ?? end.sequence + 1
        switch try scanner.tail(fault: fault, nextSequence: next) {
        case nil: return .isWritten
        case .clean: return .ends
        case .torn(let extent) where isLast:
            tornTail = extent
            return .ends
        case .torn, .damaged: break
        }
        let resume = try scanner.frameBehindFault()
        damages.append(
            damage(
                source, at: scanner.offset, fault ?? .magic, sequence: next,
                length: resume.map { $0 - scanner.offset }))
        guard let resume else { return .ends }
        scanner.skip(to: resume)
        return .goesOnBehind
    }

    private func damage(
        _ source: any SegmentSource, at offset: UInt64, _ fault: FrameFault, sequence: UInt64,
        length: UInt64? = nil
    ) -> LogDamage {
        LogDamage(
            file: source.path, offset: offset, length: length, sequence: sequence,
            reason: fault.sentence)
    }
}
