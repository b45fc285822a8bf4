@_spi(Rooms) import RelayRecords
import Threads

/// States of a history that were passed when it was asked about, so that the next question is answered from near by:
/// reading a checkpoint, or folding what lies between two of them, takes longer.
///
/// States that were folded one from another share what is the same in them. Kept are those at even distances, which grow
/// when there are too many, and where somebody went last. States restored from different checkpoints share nothing: of
/// these families the one that was not used for longest is dropped when all have too many records.
///
/// The states of a family have one writer at a time, so histories that share this must be asked one after the other.
package final class PassedStates: Sendable {
    /// States folded one from another.
    private struct Family {
        var states = SpacedStates()
        /// Where somebody went last.
        var latest: Snapshot
        var lastUse = 0
        /// Of the events between the states: at most so much of it is in one state and not in the next.
        private var byteCount: UInt64 = 0

        init(_ first: Snapshot, limit: Int) {
            latest = first
            states.keep(first, limit: limit)
        }

        func nearest(through sequence: UInt64) -> Snapshot? {
            let state = states.nearest(through: sequence)
            guard latest.sequence <= sequence else { return state }
            return latest.sequence > state?.sequence ?? 0 ? latest : state
        }

        mutating func keep(_ snapshot: Snapshot, _ bytes: UInt64, limit: Int) {
            // Of what was folded for the first time.
            if snapshot.sequence > farthest {
                byteCount += min(bytes, .max - byteCount)
                farthest = snapshot.sequence
            }
            latest = snapshot
            let isLarge = byteCount > PassedStates.byteLimit
            states.keep(snapshot, limit: isLarge ? PassedStates.fewStates : limit)
        }

        /// The last event that was folded.
        private var farthest: UInt64 = 0
    }

    private struct State {
        var families: [Family] = []
        var uses = 0
        var isUsed = false

        mutating func use(_ index: Int) {
            uses += 1
            families[index].lastUse = uses
            isUsed = true
        }

        mutating func dropFamilies(until recordLimit: Int) {
            while families.count > 1,
                families.count > PassedStates.familyLimit
                    || families.reduce(0, { $0 + $1.latest.recordCount }) > recordLimit,
                let oldest = families.indices.min(by: {
                    families[$0].lastUse < families[$1].lastUse
                })
            {
                families.remove(at: oldest)
            }
        }
    }

    private let state = Lock(State())
    private let stateLimit: Int
    private let recordLimit: Int

    /// More than there are checkpoints, usually.
    static let familyLimit = 16
    /// If the events between a family's states have more bytes, it keeps only ``fewStates``: each may be as large as the
    /// whole.
    static let byteLimit: UInt64 = 128 << 20
    static let fewStates = 4
    /// - Parameters:
    ///   - stateLimit: on the states of a family; at least 2.
    ///   - recordLimit: on the records of all families together, if there is more than one.
    package init(stateLimit: Int = 256, recordLimit: Int = 2_000_000) {
        self.stateLimit = max(stateLimit, 2)
        self.recordLimit = recordLimit
    }

    /// The nearest kept state at or before an event; nil if a checkpoint is nearer, which may also be the only way
    /// around damage.
    /// - Parameter checkpoint: the nearest one; 0 if there is none.
    func nearest(through sequence: UInt64, checkpoint: UInt64) -> Snapshot? {
        state.withLock { state in
            let found = state.families.indices
                .compactMap { index in
                    state.families[index].nearest(through: sequence).map { (index, $0) }
                }
                .max { $0.1.sequence < $1.1.sequence }
            guard let (index, nearest) = found, nearest.sequence >= checkpoint else { return nil }
            state.use(index)
            return nearest
        }
    }

    /// Keeps a state that a fold has passed, if it is at an even distance, or where it begins or ends.
    /// - Parameter bytes: of the events since the last one that was passed on.
    func keep(_ snapshot: Snapshot, bytes: UInt64 = 0) {
        state.withLock { state in
            let index = state.families.firstIndex { $0.latest.symbols === snapshot.symbols }
            guard let index else {
                state.families.append(Family(snapshot, limit: stateLimit))
                state.use(state.families.count - 1)
                return state.dropFamilies(until: recordLimit)
            }
            state.families[index].keep(snapshot, bytes, limit: stateLimit)
            state.use(index)
        }
    }

    /// The states that are kept, for tests.
    var sequences: [[UInt64]] {
        state.withLock { $0.families.map { $0.states.states.map(\.sequence) } }
    }

    /// Drops the states unless one was used since the last call.
    /// - Returns: whether there still are any.
    package func dropUnused() -> Bool {
        // What goes is released behind the lock: it may be large.
        let (left, dropped) = state.withLock { state in
            var dropped: [Family] = []
            if !state.isUsed { swap(&dropped, &state.families) }
            state.isUsed = false
            return (state.families.count, dropped)
        }
        _ = dropped
        return left > 0
    }
}
