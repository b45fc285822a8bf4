import Disk
import EventLog
import Threads

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Everything there is to know about a log: what `verify` reports and `repair` bases its decisions on.
struct LogExamination: Sendable {
    let directory: LogDirectory
    let metadata: LogMetadata
    /// In log order.
    private(set) var segments: [SegmentExamination] = []
    /// In order of their events.
    let checkpoints: [CheckpointFinding]

    /// Reads the whole log, with segments in parallel. Changes nothing.
    ///
    /// Checkpoints are read first: any that a server writes in the meantime are of events already in the
    /// segments.
    /// - Parameter allowsNoSegments: treat a log without segments as ordinary damage; otherwise that is an
    ///   error.
    /// - Throws: `inputOutput`; damage is in the result.
    init(
        _ directory: LogDirectory, _ metadata: LogMetadata, judge: CheckpointJudge,
        allowsNoSegments: Bool = false,
        progress: @escaping @Sendable (_ done: UInt64, _ total: UInt64) -> Void = { _, _ in }
    ) throws(LogError) {
        self.directory = directory
        self.metadata = metadata
        checkpoints = try CheckpointFiles(directory, storeID: metadata.storeID).examine(judge)
        let names = try directory.firstSequences()
        guard !names.isEmpty || allowsNoSegments else { throw .damaged(.allMissing(directory)) }
        segments = try Self.examine(names, directory, metadata.storeID, progress)
        try lookAgainAtHeaders()
    }

    /// The correct contents of a segment's header follow from the segment before it.
    private mutating func lookAgainAtHeaders() throws(LogError) {
        for index in segments.indices where !segments[index].wrapperDamages.isEmpty {
            let first = segments[index].header.firstSequence
            guard index > 0 || first == 1 else { continue }
            let previous = index > 0 ? segments[index - 1] : nil
            let expected = SegmentHeader(
                storeID: metadata.storeID, epoch: previous?.end.epoch ?? 1, firstSequence: first,
                previousFirstSequence: previous?.header.firstSequence ?? 0,
                previousChain: previous?.end.hash ?? .zero)
            let again = try SegmentExamination.examine(
                first, in: directory, storeID: metadata.storeID, expected: expected,
                isLast: index == segments.count - 1)
            // Otherwise it does not follow the one before it, and the first finding stands.
            if again.damages.count <= segments[index].damages.count { segments[index] = again }
        }
    }

    /// The log's head. Its epoch is at least META's, which can also rise without an event. There must be a
    /// segment.
    var head: LogHead {
        let end = segments[segments.count - 1].end
        return LogHead(
            sequence: end.sequence, epoch: max(end.epoch, metadata.epoch), hash: end.hash)
    }

    /// There must be a segment.
    var firstSequence: UInt64 { segments[0].header.firstSequence }

    // MARK: Damage

    /// Everything that is not as it was written, in log order.
    var damages: [LogDamage] {
        if segments.isEmpty {
            return [.allMissing(directory)] + checkpoints.compactMap(\.damage) + alteredCheckpoints
        }
        var damages: [LogDamage] = []
        if let missing = ends.missingBeginning { damages.append(missing) }
        if let missing = missingState ?? missingFirstStates { damages.append(missing) }
        damages += Self.damages(of: segments)
        if let missing = missingEnd { damages.append(missing) }
        return damages + checkpoints.compactMap(\.damage) + alteredCheckpoints
    }

    /// What is wrong in consecutive segments, and between them.
    static func damages(of segments: [SegmentExamination]) -> [LogDamage] {
        var damages: [LogDamage] = []
        var previous: SegmentExamination?
        for segment in segments {
            if let previous { damages += segment.breaks(after: previous) }
            damages += segment.wrapperDamages + segment.damages
            previous = segment
        }
        return damages
    }

    private var ends: LogEnds {
        LogEnds(
            directory: directory, metadata: metadata, segments: segments.map(\.header.firstSequence)
        )
    }

    private var missingEnd: LogDamage? {
        guard let last = segments.last else { return nil }
        // Damage inside is more informative than an end in the wrong place.
        guard last.damages.isEmpty else { return ends.missingLastSegment }
        return ends.missingEnd(
            behind: last.end, at: (last.path, last.endOffset),
            checkpoints: checkpoints.filter { !$0.isDamaged }.map(\.sequence))
    }

    /// A log that begins later than event 1 begins with a state.
    private var missingState: LogDamage? {
        guard firstSequence > 1, base == nil else { return nil }
        let others = checkpoints.contains {
            if case .otherVersion = $0.verdict { true } else { false }
        }
        let state = others ? "that this program can use" : "that is good"
        let mark = metadata.beginning?.checkpoint
        return LogDamage(
            file: mark.map { directory.checkpointPath($0.sequence) } ?? directory.checkpointsPath,
            offset: 0, length: nil, sequence: nil,
            reason: "the log begins with event \(firstSequence), and there is no checkpoint "
                + "\(state) of the state before it")
    }

    /// The checkpoint with which the log begins is gone, and so are the states up to a later one.
    private var missingFirstStates: LogDamage? {
        guard let (mark, base) = laterBase,
            !checkpoints.contains(where: { $0.sequence == mark.sequence })
        else { return nil }
        return LogDamage(
            file: directory.checkpointPath(mark.sequence), offset: 0, length: nil, sequence: nil,
            reason:
                "the checkpoint is missing, with which META says that the log begins, so that no "
                + "state before event \(base.sequence) can be rebuilt")
    }

    /// The checkpoint that META says the log begins with, and the later one that provides the first state.
    var laterBase: (mark: CheckpointMark, base: CheckpointFinding)? {
        guard let mark = metadata.beginning?.checkpoint, let base, base.sequence > mark.sequence
        else { return nil }
        return (mark, base)
    }

    /// The earliest state from which events can be folded; nil if a log that begins later than event 1 has
    /// none.
    var base: CheckpointFinding? {
        checkpoints.first {
            $0.isUsable && $0.sequence + 1 >= firstSequence && $0.sequence <= head.sequence
        }
    }

    /// The checkpoint with which the log begins, if it holds a different state from the one META names.
    private var alteredCheckpoints: [LogDamage] {
        guard let mark = metadata.beginning?.checkpoint,
            let found = checkpoints.first(where: { $0.sequence == mark.sequence }),
            let header = found.header, header.stateHash != mark.stateHash
        else { return [] }
        return [
            LogDamage(
                file: found.file, offset: 0, length: nil, sequence: nil,
                reason: "the checkpoint holds a different state from the one META names"
            )
        ]
    }

    // MARK: Reading segments

    /// Reads segments in parallel. The last may end with an unfinished write.
    static func examine(
        _ names: [UInt64], _ directory: LogDirectory, _ storeID: StoreID,
        _ progress: @escaping @Sendable (UInt64, UInt64) -> Void = { _, _ in }
    ) throws(LogError) -> [SegmentExamination] {
        var total: UInt64 = 0
        for first in names {
            total += try reading { () throws(FileSystemError) in
                try directory.fileSystem.open(directory.segmentPath(first), .read).size()
            }
        }
        let (size, last) = (total, names.count - 1)
        let work = Monitor(ExaminationWork(names))
        let threads = (0..<min(names.count, processorCount)).map { _ in
            BlockingThread {
                while let (number, first) = work.withLock({ $0.next() }) {
                    let result = Result { () throws(LogError) in
                        try SegmentExamination.examine(
                            first, in: directory, storeID: storeID, isLast: number == last
                        ) { bytes in
                            work.withLock {
                                $0.done += bytes
                                progress(min($0.done, size), size)
                            }
                        }
                    }
                    work.withLock { $0.results[number] = result }
                }
            }
        }
        for thread in threads { thread.join() }
        let results = work.withLock { $0.results }
        var segments: [SegmentExamination] = []
        for number in names.indices {
            if let segment = try results[number]?.get() { segments.append(segment) }
        }
        return segments
    }

    private static var processorCount: Int {
        max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
    }
}

private struct ExaminationWork {
    private var waiting: ArraySlice<(Int, UInt64)>
    var done: UInt64 = 0
    var results: [Int: Result<SegmentExamination, LogError>] = [:]

    init(_ segments: [UInt64]) {
        waiting = Array(zip(segments.indices, segments))[...]
    }

    mutating func next() -> (number: Int, first: UInt64)? {
        waiting.popFirst()
    }
}
