import Disk
import Threads

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Everything there is to know about a log: what `verify` tells and `repair` decides by.
struct LogExamination: Sendable {
    let directory: LogDirectory
    let metadata: LogMetadata
    /// In log order.
    private(set) var segments: [SegmentExamination] = []
    /// In the order of their events.
    let checkpoints: [CheckpointFinding]

    /// Reads all of it, segments side by side. Changes nothing.
    ///
    /// Checkpoints are read first: a server that writes to the log meanwhile writes them of events
    /// that are in the segments already.
    /// - Parameter allowsNoSegments: a log without any is damage like other damage; otherwise an error.
    /// - Throws: `inputOutput`; damage is in the result.
    init(
        _ directory: LogDirectory, _ metadata: LogMetadata, judge: CheckpointJudge,
        allowsNoSegments: Bool = false,
        progress: @escaping @Sendable (_ done: UInt64, _ total: UInt64) -> Void = { _, _ in }
    ) throws(LogError) {
        self.directory = directory
        self.metadata = metadata
        checkpoints = try CheckpointFiles(directory, storeID: metadata.storeID).examine(judge)
        let names = try reading { () throws(FileSystemError) in try directory.segments().first }
        guard !names.isEmpty || allowsNoSegments else { throw .missingSegments(directory) }
        segments = try Self.examine(names, directory, metadata.storeID, progress)
        try lookAgainAtHeaders()
    }

    /// What a segment's header has to say follows from the segment before it.
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
            // Otherwise it does not follow the one before it, and stays as it was found.
            if again.damages.count <= segments[index].damages.count { segments[index] = again }
        }
    }

    /// Where the log stands; its epoch is the one of META, which also rises without an event. There must be a
    /// segment.
    var head: LogHead {
        let end = segments[segments.count - 1].end
        return LogHead(
            sequence: end.sequence, epoch: max(end.epoch, metadata.epoch), hash: end.hash)
    }

    /// There must be a segment.
    var firstSequence: UInt64 { segments[0].header.firstSequence }

    // MARK: Damage

    /// Everything that is not as it was written, in the order of the log.
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

    /// What is wrong in segments that follow each other, and between them.
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
        // Damage inside says more than that the end is not where it should be.
        guard last.damages.isEmpty else { return ends.missingLastSegment }
        return ends.missingEnd(
            behind: last.end, at: (last.path, last.endOffset),
            checkpoints: checkpoints.filter { !$0.isDamaged }.map(\.sequence))
    }

    /// A log that begins later than with event 1 begins with a state.
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

    /// The checkpoint with which the log begins is gone, and the states are with it up to a later one.
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

    /// The checkpoint that META says the log begins with, and the later one from which its first state is made.
    var laterBase: (mark: CheckpointMark, base: CheckpointFinding)? {
        guard let mark = metadata.beginning?.checkpoint, let base, base.sequence > mark.sequence
        else { return nil }
        return (mark, base)
    }

    /// The earliest state from which events can be folded; nil when a log that begins later than
    /// with event 1 has none.
    var base: CheckpointFinding? {
        checkpoints.first {
            $0.isUsable && $0.sequence + 1 >= firstSequence && $0.sequence <= head.sequence
        }
    }

    /// The checkpoint with which the log begins, when it holds another state than META says.
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

    /// Reads segments, side by side. The last of them may end with an unfinished write.
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
