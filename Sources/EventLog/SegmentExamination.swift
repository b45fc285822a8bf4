/// Everything there is to know about one segment: each frame checked, chain hash included.
struct SegmentExamination: Sendable {
    let path: String
    /// As the file's header says; when that is damaged, what the caller expected of it.
    let header: SegmentHeader
    var frames: UInt64 = 0
    var events: UInt64 = 0
    /// Of the segment before compression.
    var byteCount: UInt64 = 0
    /// Behind the last valid frame.
    var end: LogHead
    /// Where the first damage begins, or the valid frames end.
    var goodThrough: UInt64
    /// What stood before that damage.
    var goodHead: LogHead
    /// Damage that takes events away.
    var damages: [LogDamage] = []
    /// Damage to the segment's header or index, behind which every frame can be read.
    var wrapperDamages: [LogDamage] = []
    /// An unfinished write at the log's end.
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
        let knowsChain = wrapperDamages.isEmpty || expected != nil
        if let damage = source.indexDamage { wrapperDamages.append(damage) }
        let head = LogHead(
            sequence: firstSequence - 1, epoch: source.header.epoch,
            hash: source.header.previousChain)
        var examination = SegmentExamination(
            path: source.path, header: source.header, end: head,
            goodThrough: UInt64(SegmentHeader.size), goodHead: head,
            wrapperDamages: wrapperDamages)
        try examination.run(source, knowsChain: knowsChain, isLast: isLast, progress: progress)
        return examination
    }

    private mutating func run(
        _ source: any SegmentSource, knowsChain: Bool, isLast: Bool, progress: (UInt64) -> Void
    ) throws(LogError) {
        let scanner = FrameScanner(source)
        let hasher = ChainHasher()
        var knowsChain = knowsChain
        var reported = scanner.offset
        var isGood = true
        while true {
            let offset = scanner.offset
            let step: FrameScanner.Step
            do throws(LogError) {
                step = try scanner.next()
            } catch {
                guard let damage = error.damage else { throw error }
                note(damage, isGood: &isGood)
                guard let readable = source.readable(after: offset) else { break }
                scanner.skip(to: readable)
                knowsChain = false
                continue
            }
            switch step {
            case .frame(let frame):
                let header = frame.header
                let chain = header.chain(
                    after: end.hash, payload: frame.payload, hasher: hasher)
                if knowsChain && chain != header.chain {
                    note(
                        damage(source, at: offset, .chain, sequence: header.firstSequence),
                        isGood: &isGood)
                }
                knowsChain = true
                frames += 1
                events += UInt64(header.count)
                end = LogHead(
                    sequence: header.lastSequence, epoch: header.epoch, hash: header.chain)
                if isGood {
                    goodThrough = scanner.offset
                    goodHead = end
                }
            case .end, .fault:
                guard try pass(step, in: scanner, isLast: isLast, isGood: &isGood) else {
                    byteCount = scanner.offset
                    progress(scanner.offset - reported)
                    return
                }
                knowsChain = false
            }
            if scanner.offset - reported >= 1 << 20 {
                progress(scanner.offset - reported)
                reported = scanner.offset
            }
        }
        byteCount = scanner.offset
    }

    /// - Returns: false when the segment ends here.
    private mutating func pass(
        _ step: FrameScanner.Step, in scanner: FrameScanner, isLast: Bool, isGood: inout Bool
    ) throws(LogError) -> Bool {
        let source = scanner.source
        var fault: FrameFault?
        if case .fault(let found) = step { fault = found }
        let next = scanner.nextSequence ?? end.sequence + 1
        switch try SegmentTail.examine(
            source, at: scanner.offset, fault: fault, nextSequence: next)
        {
        case .clean: return false
        case .torn(let extent) where isLast:
            tornTail = extent
            return false
        case .torn, .damaged: break
        }
        let resume = try FrameSearch(source).frame(
            from: scanner.offset + 8, through: try source.size(), where: { _ in true })
        var found = damage(source, at: scanner.offset, fault ?? .magic, sequence: next)
        found.length = resume.map { $0 - scanner.offset }
        note(found, isGood: &isGood)
        guard let resume else { return false }
        scanner.skip(to: resume)
        return true
    }

    private func damage(
        _ source: any SegmentSource, at offset: UInt64, _ fault: FrameFault, sequence: UInt64
    ) -> LogDamage {
        LogDamage(
            file: source.path, offset: offset, length: nil, sequence: sequence,
            reason: fault.sentence)
    }

    private mutating func note(_ damage: LogDamage, isGood: inout Bool) {
        isGood = false
        damages.append(damage)
    }
}
