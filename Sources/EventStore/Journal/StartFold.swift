import EventLog
@_spi(Rooms) import RelayRecords

/// How a start reaches the state after the last event.
///
/// Subscriptions resume from the newest commits, each with the state after it. So the fold starts before
/// these, even if there is a later checkpoint. The extra cost of a start is bounded by the interval between
/// two checkpoints, and the cost of a resume depends on what was missed, however the last run ended.
struct StartFold {
    /// The state after the last event.
    let snapshot: Snapshot
    let tail: HistoryTail
    /// The event of the checkpoint from which it started; 0 if none.
    let restored: UInt64
    /// The event of the newest checkpoint, which may be a later one; 0 if none.
    let newest: UInt64
    /// Bytes of events after the newest checkpoint.
    let tailBytes: UInt64
    /// A sentence for each checkpoint that could not be used, and one if the tail is shorter than requested.
    let remarks: [String]

    /// - Parameters:
    ///   - first: the first kept event.
    ///   - head: the last event.
    ///   - limits: how many of the newest events are requested.
    init(
        _ reader: EventLogReader, from first: UInt64, through head: UInt64,
        tail limits: HistoryTail.Limits,
        indexes: [IndexDefinition]
    ) throws(EventStoreError) {
        let earliest = try reader.earliestState(from: first)
        let wanted = min(max(head - min(limits.events, head), earliest), head)
        do throws(EventStoreError) {
            try self.init(
                reader, near: wanted, through: head, tail: limits, indexes: indexes)
        } catch  where wanted < head {
            // A later checkpoint may still lead to the end.
            try self.init(
                reader, near: head, through: head, tail: limits, indexes: indexes,
                remarks: ["Not all of the newest commits are at hand: \(error.message)"])
        }
    }

    private init(
        _ reader: EventLogReader, near sequence: UInt64, through head: UInt64,
        tail limits: HistoryTail.Limits,
        indexes: [IndexDefinition], remarks: [String] = []
    ) throws(EventStoreError) {
        let replay = try Replay(
            HistorySource(reader), near: sequence, through: head, indexes: indexes)
        restored = replay.snapshot.sequence
        let found = try onLog { () throws(LogError) in
            try reader.checkpoints.newestSequence(
                foldVersions: StateFormat.versions, through: head)
        }
        newest = max(found ?? 0, restored)
        if newest > restored { replay.mark = newest }
        tail = try HistoryTail(replay, through: head, limits: limits)
        try replay.advance(to: head)
        snapshot = replay.snapshot
        assert(snapshot.sequence == head, "the start ends where the log does")
        assert(tail.commits.base.sequence <= head, "a tail begins in its log")
        tailBytes = replay.readBytes
        self.remarks = remarks + replay.ignoredCheckpoints
    }
}

extension EventLogReader {
    /// The first event for which there is a state. If the log's beginning is gone, events before it may still
    /// be kept.
    /// - Parameter first: the first kept event.
    func earliestState(from first: UInt64) throws(EventStoreError) -> UInt64 {
        if first <= 1 { return 0 }
        let sequences = try onLog { () throws(LogError) in try checkpoints.sequences() }
        return sequences.first { $0 >= first - 1 } ?? first - 1
    }
}
