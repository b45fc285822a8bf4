/// Whether a log has the beginning and the end that META, and its checkpoints, say that it has.
///
/// Segments link to each other, so that one that is missing between two is seen. What is missing at
/// either end leaves a shorter log behind that looks whole; only what is recorded elsewhere tells.
struct LogEnds {
    let directory: LogDirectory
    let metadata: LogMetadata
    /// First sequences of all segments, rising.
    let segments: [UInt64]

    /// What is missing at the beginning.
    var missingBeginning: LogDamage? {
        guard let begins = metadata.beginning?.sequence, let first = segments.first,
            first > begins
        else { return nil }
        return LogDamage(
            file: directory.segmentsPath, offset: 0, length: nil, sequence: begins,
            reason: FrameFault.missing(begins..<first).sentence
                + ", with which META says that the log begins")
    }

    /// The segment that META says was the last, when it is missing.
    var missingLastSegment: LogDamage? {
        guard let reached = metadata.reached, let last = segments.last, last < reached.segment
        else { return nil }
        return LogDamage(
            file: directory.segmentPath(reached.segment), offset: 0, length: nil,
            sequence: reached.segment,
            reason: "the segment is missing, which META says was the last")
    }

    /// What is missing at the end.
    /// - Parameters:
    ///   - head: the last event that was found.
    ///   - place: the file and the byte where the next one belongs.
    ///   - checkpoints: sequences of valid checkpoints.
    func missingEnd(
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
        // Where events are acknowledged before they are on the disk, a state may outlive its events.
        guard !metadata.acknowledgesEarly, let latest = checkpoints.last, latest > head.sequence
        else { return nil }
        return damage("\(end), but there is a checkpoint of the state after event \(latest)")
    }
}
