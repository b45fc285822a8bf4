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
package final class KeptStates: Sendable {
    /// States folded one from another, by their events.
    private struct Family {
        var states: [Snapshot]
        /// Where somebody went last.
        var latest: Snapshot
        var lastUse: Int

        func nearest(through sequence: UInt64) -> Snapshot? {
            let next = states.indices.firstIndex(whereNot: { states[$0].sequence <= sequence })
            let state = next == 0 ? nil : states[next - 1]
            guard latest.sequence <= sequence else { return state }
            return latest.sequence > state?.sequence ?? 0 ? latest : state
        }
    }

    private struct State {
        var families: [Family] = []
        var spacing = KeptStates.firstSpacing
        var uses = 0
        var isUsed = false

        /// Every second state is dropped when there are too many.
        mutating func thin(to limit: Int) {
            while families.reduce(0, { $0 + $1.states.count }) > max(limit, families.count) {
                spacing *= 2
                for index in families.indices {
                    let first = families[index].states.first?.sequence
                    families[index].states.removeAll {
                        !$0.sequence.isMultiple(of: spacing) && $0.sequence != first
                    }
                }
            }
        }

        mutating func dropFamilies(until recordLimit: Int) {
            while families.count > 1,
                families.count > KeptStates.familyLimit
                    || families.reduce(0, { $0 + $1.latest.recordCount }) > recordLimit,
                let oldest = families.indices.min(by: {
                    families[$0].lastUse < families[$1].lastUse
                })
            {
                families.remove(at: oldest)
            }
        }
    }

    private let state: Lock<State>
    private let stateLimit: Int
    private let recordLimit: Int

    /// More than there are checkpoints, usually.
    static let familyLimit = 16

    /// Events between two states, at first.
    static let firstSpacing: UInt64 = 64

    /// A checkpoint is read instead of folding this many events: about the time that the one and the other take.
    static let checkpointWorth: UInt64 = 20_000

    /// - Parameters:
    ///   - stateLimit: on the states that are kept.
    ///   - recordLimit: on the records of all families together, if there is more than one.
    package init(stateLimit: Int = 256, recordLimit: Int = 2_000_000) {
        self.stateLimit = stateLimit
        self.recordLimit = recordLimit
        state = Lock(State())
    }

    /// The nearest kept state at or before an event; nil if a checkpoint is much nearer.
    /// - Parameter checkpoint: the nearest one; 0 if there is none.
    func nearest(through sequence: UInt64, checkpoint: UInt64) -> Snapshot? {
        state.withLock { state in
            let found = state.families.indices
                .compactMap { index in
                    state.families[index].nearest(through: sequence).map { (index, $0) }
                }
                .max { $0.1.sequence < $1.1.sequence }
            guard let (index, nearest) = found,
                nearest.sequence >= checkpoint
                    || checkpoint - nearest.sequence < Self.checkpointWorth
            else { return nil }
            state.uses += 1
            state.families[index].lastUse = state.uses
            state.isUsed = true
            return nearest
        }
    }

    /// Keeps a state that a fold has passed, if it is at an even distance, or where it begins or ends.
    func keep(_ snapshot: Snapshot, isEnd: Bool = true) {
        state.withLock { state in
            guard isEnd || snapshot.sequence.isMultiple(of: state.spacing) else { return }
            state.uses += 1
            state.isUsed = true
            let index = state.families.firstIndex { $0.latest.symbols === snapshot.symbols }
            guard let index else {
                state.families.append(
                    Family(states: [snapshot], latest: snapshot, lastUse: state.uses))
                state.dropFamilies(until: recordLimit)
                return
            }
            state.families[index].latest = snapshot
            state.families[index].lastUse = state.uses
            guard snapshot.sequence.isMultiple(of: state.spacing) else { return }
            let states = state.families[index].states
            let place = states.indices.firstIndex(whereNot: {
                states[$0].sequence < snapshot.sequence
            })
            guard place == states.endIndex || states[place].sequence > snapshot.sequence else {
                return
            }
            state.families[index].states.insert(snapshot, at: place)
            state.thin(to: stateLimit)
        }
    }

    /// The states that are kept, for tests.
    var sequences: [[UInt64]] {
        state.withLock { $0.families.map { $0.states.map(\.sequence) } }
    }

    /// Drops the states unless one was used since the last call.
    /// - Returns: whether there still are any.
    package func dropUnused() -> Bool {
        state.withLock { state in
            if !state.isUsed { state.families = [] }
            state.isUsed = false
            return !state.families.isEmpty
        }
    }
}
