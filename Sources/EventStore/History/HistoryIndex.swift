@_spi(Rooms) package import RelayRecords
import Threads

/// What makes each moment of a history quick to reach, and each write of a field quick to find.
///
/// One pass over the log makes it, in the background: what the pass has reached can be used meanwhile. It is in memory
/// only, and has bounds: of the states at even distances each second one is dropped when there are too many, and if
/// there are too many writes none is remembered, so that they are looked for in the log. So they are in a log with
/// damage in its middle, behind which the pass goes on with the next checkpoint.
package final class HistoryIndex: Sendable {
    private struct Write {
        /// Counted from the first state.
        let event: UInt32
        /// Nil: all of them, because the record came or went.
        let field: NameIndex?
    }

    private struct State {
        let landmarkLimit: Int
        let writeLimit: Int
        var landmarks = SpacedStates()
        /// By the record's number, in log order.
        var writes: [[Write]]? = []
        var writeCount = 0
        /// Where somebody went last: the next event is a step away.
        var latest: Snapshot?
        var reached: UInt64 = 0
        var isComplete = false

        /// The nearest state; nil if the pass has not come to the event.
        func landmark(before sequence: UInt64) -> Snapshot? {
            guard sequence <= reached, let landmark = landmarks.nearest(through: sequence) else {
                return nil
            }
            guard let latest, latest.sequence <= sequence else { return landmark }
            return latest.sequence > landmark.sequence ? latest : landmark
        }

        mutating func note(_ changes: ChangeSet, _ event: UInt32) {
            guard var writes else { return }
            self.writes = nil
            func note(_ record: RecordIndex, _ field: NameIndex?) {
                let record = Int(record.rawValue)
                while writes.count <= record { writes.append([]) }
                writes[record].append(Write(event: event, field: field))
            }
            for record in changes.created { note(record, nil) }
            for field in changes.fields { note(field.record, field.key) }
            for record in changes.deleted { note(record, nil) }
            writeCount +=
                changes.fields.count + changes.created.count + changes.deleted.count
            if writeCount <= writeLimit { self.writes = writes }
        }
    }

    /// The earliest state.
    package let start: Snapshot
    private let history: History
    private let state: Lock<State>
    /// The states share names and shapes, which have one writer at a time.
    private let folding = Lock<Void>(())

    /// - Parameters:
    ///   - landmarkLimit: states that are kept; they share what is the same in them.
    ///   - writeLimit: writes that are remembered, of 12 bytes.
    /// - Throws: read errors, and `notRebuildable` if no state of the log can be rebuilt.
    package init(
        _ history: History, landmarkLimit: Int = 512, writeLimit: Int = 32 << 20
    ) throws(EventStoreError) {
        self.history = history
        state = Lock(State(landmarkLimit: landmarkLimit, writeLimit: writeLimit))
        start = try Replay(fromEarliest: history.source, through: history.lastReadable).snapshot
    }

    /// The last event that can be reached quickly; 0 at first.
    package var reached: UInt64 { state.withLock { $0.reached } }

    /// Whether the whole history can be.
    package var isComplete: Bool { state.withLock { $0.isComplete } }

    /// Passes over the log. Takes as long as a fold of it; ends early when its task is cancelled.
    /// - Parameter watch: is called now and then, with the event that can be reached.
    package func build(_ watch: (UInt64) -> Void = { _ in }) throws(EventStoreError) {
        state.withLock { $0.landmarks.keep(start, limit: $0.landmarkLimit) }
        var next: Replay? = try Replay(
            history.source, from: start, through: history.lastReadable)
        while let replay = next {
            do throws(EventStoreError) {
                guard try pass(replay, watch) else { return }
                next = nil
            } catch  where error.isDamage {
                next = try replayBehindDamage(after: replay.snapshot.sequence)
            }
        }
        state.withLock {
            $0.reached = history.lastReadable
            $0.isComplete = true
        }
    }

    /// - Returns: nil if no checkpoint leads behind the damage.
    private func replayBehindDamage(after sequence: UInt64) throws(EventStoreError) -> Replay? {
        // What is damaged may have written anything, and behind it the numbers of records are others.
        state.withLock { $0.writes = nil }
        do throws(EventStoreError) {
            let replay = try history.replay(at: try history.nextState(after: sequence))
            state.withLock { $0.landmarks.keep(replay.snapshot, limit: $0.landmarkLimit) }
            return replay
        } catch  where error.isDamage {
            return nil
        }
    }

    /// - Returns: whether it came to the end.
    private func pass(
        _ replay: Replay, _ watch: (UInt64) -> Void
    ) throws(EventStoreError) -> Bool {
        var turns = 0
        while !Task.isCancelled {
            // Others may want to go somewhere meanwhile.
            let isAtEnd = try folding.withLock { _ throws(EventStoreError) in
                try pass(replay, eventCount: 256)
            }
            if isAtEnd { return true }
            if turns.isMultiple(of: 64) { watch(replay.snapshot.sequence) }
            turns += 1
        }
        return false
    }

    /// - Returns: whether there are no more events.
    private func pass(_ replay: Replay, eventCount: Int) throws(EventStoreError) -> Bool {
        for _ in 0..<eventCount {
            guard let step = try replay.step() else { return true }
            let offset = UInt32(exactly: step.event.sequence - start.sequence)
            let snapshot = replay.snapshot
            state.withLock { state in
                if let offset { state.note(step.changes, offset) } else { state.writes = nil }
                state.landmarks.keep(snapshot, limit: state.landmarkLimit)
                state.reached = snapshot.sequence
            }
        }
        return false
    }

    /// Goes to the state after an event, from the nearest one that is kept.
    /// - Parameter body: may go on event by event.
    /// - Returns: nil if the pass has not come there yet.
    package func replay<Result: Sendable>(
        at sequence: UInt64, _ body: (Replay) throws -> Result
    ) throws -> Result? {
        guard let near = state.withLock({ $0.landmark(before: sequence) }) else { return nil }
        return try folding.withLock { _ in
            let replay = try Replay(history.source, from: near, through: history.lastReadable)
            try replay.advance(to: sequence)
            let reached = replay.snapshot
            state.withLock { $0.latest = reached }
            return try body(replay)
        }
    }

    /// The events that may have changed a field, or any field of a record, in log order: those that wrote it, and those
    /// with which the record came or went.
    /// - Returns: nil if that is not known: the pass is not complete, or there were too many writes.
    package func writes(of field: String?, record: String) -> [UInt64]? {
        state.withLock { state in
            guard state.isComplete, let writes = state.writes,
                let symbols = state.landmarks.states.first?.symbols
            else { return nil }
            guard let number = symbols.findRecord(record).map({ Int($0.rawValue) }),
                number < writes.count
            else { return [] }
            let key = field.map(symbols.findName)
            var events: [UInt64] = []
            for write in writes[number]
            where key == nil || write.field == nil || write.field == key ?? nil {
                let event = start.sequence + UInt64(write.event)
                if events.last != event { events.append(event) }
            }
            return events
        }
    }
}
