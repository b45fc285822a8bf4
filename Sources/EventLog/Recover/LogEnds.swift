/// Whether a log begins and ends where META and its checkpoints say.
///
/// Segments link to each other, so a missing one in the middle is detected. If one is missing at either end,
/// the rest is a shorter log that looks complete; only records elsewhere reveal it.
package struct LogEnds {
    private let directory: LogDirectory
    private let metadata: LogMetadata
    private let segments: [UInt64]

    /// - Parameter segments: first sequences of all segments, in ascending order.
    package init(directory: LogDirectory, metadata: LogMetadata, segments: [UInt64]) {
        self.directory = directory
        self.metadata = metadata
        self.segments = segments
    }

    /// Missing events at the beginning.
    package var missingBeginning: LogDamage? {
        guard let begins = metadata.beginning?.sequence, let first = segments.first,
            first > begins
        else { return nil }
        return LogDamage(
            file: directory.segmentsPath, offset: 0, length: nil, sequence: begins,
            reason: FrameFault.missing(begins..<first).sentence
                + ", with which META says that the log begins")
    }

    /// The segment that META names as the last, if it is missing.
    package var missingLastSegment: LogDamage? {
        guard let reached = metadata.reached, let last = segments.last, last < reached.segment
        else { return nil }
        return LogDamage(
            file: directory.segmentPath(reached.segment), offset: 0, length: nil,
            sequence: reached.segment,
            reason: "the segment is missing, which META says was the last")
    }

    /// Missing events at the end.
    /// - Parameters:
    ///   - head: the last event found.
    ///   - place: the file and the byte where the next event belongs.
    ///   - checkpoints: sequences of valid checkpoints.
    package func missingEnd(
        behind head: LogHead, at place: (file: String, offset: UInt64), checkpoints: [UInt64]
    ) -> LogDamage? {
        func damage(_ reason: String) -> LogDamage {
            LogDamage(
                file: place.file, offset: place.offset, length: nil, sequence: head.sequence + 1,
                reason: reason)
        }
        let end = "the log ends with event \(head.sequence)"
        if let reached = metadata.reached {
            if head.sequence < reached.sequence {
                return damage("\(end), but META says that event \(reached.sequence) was written")
            }
            if head.sequence == reached.sequence, head.hash != reached.chain {
                return damage("\(end), but not with the one that META says was written")
            }
            if let missing = missingLastSegment { return missing }
        }
        // If events are acknowledged before they are on the disk, a checkpoint may outlive its events.
        guard !metadata.acknowledgesEarly, let latest = checkpoints.last, latest > head.sequence
        else { return nil }
        return damage("\(end), but there is a checkpoint of the state after event \(latest)")
    }
}
