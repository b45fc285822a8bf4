import EventLog
import LogTools

extension History {
    /// Copies the beginning of the log, through one event, into a new directory that a server can run on.
    /// Works while a server writes to this one.
    /// - Parameter directory: missing or empty.
    /// - Throws: `outOfRange`, `log(conflict)` if the directory is not empty, and read and write errors.
    package func fork(at sequence: UInt64, to directory: String) throws(EventStoreError) {
        // The state before the first kept event can also be copied, without an event.
        guard sequence > 0, sequence <= last, sequence + 1 >= first else {
            throw .outOfRange(sequence, extent)
        }
        let reader = try reader
        try onLog { () throws(LogError) in try reader.fork(through: sequence, into: directory) }
    }

    /// The first event in which this history and another one differ, or that only one of them has.
    ///
    /// For example, a log and its fork diverge at the first event after the fork. Contents and times of
    /// events are compared, not how they were grouped into writes. Events that a compacted log no longer has
    /// are assumed to be the same.
    /// - Returns: nil if both are the same history.
    package func parting(from other: History) throws(EventStoreError) -> UInt64? {
        let start = max(first, other.first)
        let end = min(last, other.last)
        if start <= end {
            let (reader, others) = (try reader, try other.reader)
            let (mine, theirs) = try onLog { () throws(LogError) in
                (try reader.events(from: start), try others.events(from: start))
            }
            for sequence in start...end {
                let (event, otherEvent) = try onLog { () throws(LogError) in
                    (try mine.next(), try theirs.next())
                }
                if event != otherEvent { return sequence }
                if sequence.isMultiple(of: Replay.watchInterval) {
                    watch?(sequence - start, end - start)
                }
            }
        }
        return last == other.last ? nil : end + 1
    }
}
