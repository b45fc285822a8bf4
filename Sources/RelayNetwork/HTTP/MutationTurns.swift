import RelayLink
import Threads

/// Lets so many mutations be under way at a time, in the order in which they were begun.
///
/// 1. Of those that wait, the one that was begun first goes first. 2. At most ``limit`` wait. 3. One that
/// has got a turn gives it up, whatever happens, and nothing waits for it any more then. 4. When one finds no server, those that waited when
/// it was let in have waited long enough, and end with it.
final class MutationTurns: Sendable {
    /// The place of one mutation.
    final class Turn: Sendable {
        /// Numbers rise in the order in which mutations were begun.
        fileprivate let number: UInt64
        /// Whether it waits for a server as long as it takes.
        fileprivate let waitsForServer: Bool
        /// Nil: go on.
        fileprivate let word = FirstValue<TransportError?>()

        fileprivate init(_ number: UInt64, waitsForServer: Bool) {
            self.number = number
            self.waitsForServer = waitsForServer
        }

        /// Waits until it is the mutation's turn, or it has left.
        /// - Returns: why it ends without.
        func comes() async -> TransportError? { await word.value(ifCancelled: nil) }
    }

    private struct State {
        /// The number of the next one to be begun.
        var begun: UInt64 = 0
        /// All below have been let in, or have gone.
        var next: UInt64 = 0
        /// With what `begun` was when it was let in.
        var underWay: [UInt64: UInt64] = [:]
        var waiting: [UInt64: Turn] = [:]

        /// Lets in whom it may.
        mutating func takeNext(_ maximum: Int) -> [Turn] {
            var turns: [Turn] = []
            while underWay.count < maximum, next < begun {
                if let turn = waiting.removeValue(forKey: next) {
                    underWay[next] = begun
                    turns.append(turn)
                }
                next += 1
            }
            return turns
        }
    }

    private let state = Lock(State())
    private let maximum: Int
    let limit: Int

    /// - Parameters:
    ///   - maximum: mutations under way at a time.
    ///   - limit: mutations that wait.
    init(maximum: Int, limit: Int) {
        self.maximum = max(1, maximum)
        self.limit = max(1, limit)
    }

    /// A mutation is begun.
    /// - Parameter waitsForServer: it does not end with others that find none.
    /// - Returns: nil when too many wait.
    func take(waitsForServer: Bool = false) -> Turn? {
        let (turn, next) = state.withLock { state -> (Turn?, [Turn]) in
            if state.waiting.count >= limit { return (nil, []) }
            let turn = Turn(state.begun, waitsForServer: waitsForServer)
            state.waiting[state.begun] = turn
            state.begun += 1
            return (turn, state.takeNext(maximum))
        }
        for turn in next { turn.word.give(nil) }
        return turn
    }

    /// The mutation has ended, or is cancelled. May be said again.
    func leave(_ turn: Turn) {
        let next = state.withLock { state in
            state.waiting[turn.number] = nil
            state.underWay[turn.number] = nil
            return state.takeNext(maximum)
        }
        turn.word.give(nil)
        for turn in next { turn.word.give(nil) }
    }

    /// Ends those that waited already when `turn`'s was let in, which has found no server.
    func end(behind turn: Turn, with error: TransportError) {
        let ended = state.withLock { state in
            let begun = state.underWay[turn.number] ?? 0
            let ended = state.waiting.values
                .filter { $0.number < begun && !$0.waitsForServer }
                .sorted { $0.number < $1.number }
            for turn in ended { state.waiting[turn.number] = nil }
            return ended
        }
        for turn in ended { turn.word.give(error) }
    }
}
