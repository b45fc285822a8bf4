#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// What `verify` found.
package struct LogVerification: Sendable {
    package let segments: Int
    package let frames: UInt64
    package let events: UInt64
    /// Of all segments as they were before compression.
    package let byteCount: UInt64
    /// The first and the last event; nil in a log without events.
    package let sequences: ClosedRange<UInt64>?
    /// Where the log stands. Its hash names the history.
    package let head: LogHead
    /// In the order of the log. Empty when the log is as it was written.
    package let damages: [LogDamage]
    /// Bytes of an unfinished write at the end, which opening the log would cut.
    package let tornBytes: UInt64

    package var isIntact: Bool { damages.isEmpty }
}

extension EventLogReader {
    /// Checks every byte of the log: checksums, chain hashes, gaps, and how the segments follow
    /// each other. Changes nothing. Segments are checked side by side, so that a large log takes
    /// all processors.
    ///
    /// - Parameter progress: called now and then, by one thread at a time, with the bytes checked
    ///   and the bytes of all segment files together.
    /// - Throws: `inputOutput`, `damaged` when there are no segments at all; damage that is found
    ///   is in the result.
    package func verify(
        progress: @escaping @Sendable (_ done: UInt64, _ total: UInt64) -> Void = { _, _ in }
    ) throws(LogError) -> LogVerification {
        let segments = try segments()
        guard !segments.isEmpty else { throw .missingSegments(directory) }
        let total = try totalSize(of: segments)
        let work = Monitor(VerificationWork(segments))
        let threads = (0..<min(segments.count, Self.processorCount)).map { _ in
            BlockingThread {
                while let (number, first) = work.withLock({ $0.next() }) {
                    let result = examine(first, isLast: number == segments.count - 1) { bytes in
                        work.withLock {
                            $0.done += bytes
                            progress(min($0.done, total), total)
                        }
                    }
                    work.withLock { $0.results[number] = result }
                }
            }
        }
        for thread in threads { thread.join() }
        let results = work.withLock { $0.results }
        return try summarize(segments.indices.compactMap { results[$0] })
    }

    private func examine(
        _ first: UInt64, isLast: Bool, progress: (UInt64) -> Void
    ) -> Result<SegmentExamination, LogError> {
        do throws(LogError) {
            return .success(
                try SegmentExamination.examine(
                    first, in: directory, storeID: metadata.storeID, isLast: isLast,
                    progress: progress))
        } catch {
            return .failure(error)
        }
    }

    private func summarize(
        _ results: [Result<SegmentExamination, LogError>]
    ) throws(LogError) -> LogVerification {
        var examinations: [SegmentExamination] = []
        for result in results { examinations.append(try result.get()) }
        var damages: [LogDamage] = []
        var previous: SegmentExamination?
        for examination in examinations {
            if let previous { damages += examination.breaks(after: previous) }
            damages += examination.wrapperDamages + examination.damages
            previous = examination
        }
        guard let first = examinations.first, let last = examinations.last else {
            throw .missingSegments(directory)
        }
        let start = first.header.firstSequence
        return LogVerification(
            segments: examinations.count,
            frames: examinations.reduce(0) { $0 + $1.frames },
            events: examinations.reduce(0) { $0 + $1.events },
            byteCount: examinations.reduce(0) { $0 + $1.byteCount },
            sequences: last.end.sequence >= start ? start...last.end.sequence : nil,
            head: last.end, damages: damages,
            tornBytes: last.tornTail.map { $0.upperBound - $0.lowerBound } ?? 0)
    }

    private func totalSize(of segments: [UInt64]) throws(LogError) -> UInt64 {
        var total: UInt64 = 0
        for first in segments {
            total += try reading { () throws(FileSystemError) in
                try directory.fileSystem.open(directory.segmentPath(first), .read).size()
            }
        }
        return total
    }

    private static var processorCount: Int {
        max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
    }
}

extension SegmentExamination {
    /// What is wrong between this segment and the one before it.
    func breaks(after previous: SegmentExamination) -> [LogDamage] {
        // Damage inside says more than that the pieces around it do not meet.
        guard damages.isEmpty, wrapperDamages.isEmpty, previous.damages.isEmpty else { return [] }
        var reason: String?
        if header.previousFirstSequence != previous.header.firstSequence {
            reason =
                SegmentFault.predecessor(
                    expected: header.previousFirstSequence,
                    found: previous.header.firstSequence
                ).sentence
        } else if header.firstSequence != previous.end.sequence + 1 {
            let expected = previous.end.sequence + 1
            reason =
                FrameFault.missing(
                    min(expected, header.firstSequence)..<header.firstSequence
                ).sentence
        } else if header.previousChain != previous.end.hash {
            reason = FrameFault.chain.sentence
        } else if header.epoch < previous.end.epoch {
            reason =
                FrameFault.epoch(atLeast: previous.end.epoch, found: header.epoch).sentence
        }
        return reason.map {
            [
                LogDamage(
                    file: path, offset: 0, length: nil, sequence: header.firstSequence, reason: $0)
            ]
        } ?? []
    }
}

private struct VerificationWork {
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
