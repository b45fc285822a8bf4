import RelayLink
import Threads

/// Limits the number of mutations in flight, in the order in which they were started.
///
/// 1. Of the waiting mutations, the one started first goes first.
/// 2. At most ``limit`` wait.
/// 3. A mutation that got its turn always leaves, and then nothing waits for it.
/// 4. When one cannot reach the server, those that were waiting when it was let in fail with it.
final class MutationTurns: Sendable {
    /// The place of one mutation.
    final class Turn: Sendable {
        /// Numbers increase in the order in which mutations were started.
        fileprivate let number: UInt64
        /// Whether it waits for a server as long as it takes.
        fileprivate let waitsForServer: Bool
        /// nil: go on.
        fileprivate let word = FirstValue<TransportError?>()

        fileprivate init(_ number: UInt64, waitsForServer: Bool) {
            self.number = number
            self.waitsForServer = waitsForServer
        }

        /// Waits until it is the mutation's turn, or it has left.
        /// - Returns: the error if it ends without a turn.
        func comes() async -> TransportError? { await word.value(ifCancelled: nil) }
    }

    private struct State {
        /// The number of the next mutation to be started.
        var begun: UInt64 = 0
        /// All below were let in, or have left.
        var next: UInt64 = 0
        /// With the value of `begun` when it was let in.
        var underWay: [UInt64: UInt64] = [:]
        var waiting: [UInt64: Turn] = [:]

        /// Lets in as many as possible.
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
    ///   - maximum: mutations in flight.
    ///   - limit: mutations that wait.
    init(maximum: Int, limit: Int) {
        self.maximum = max(1, maximum)
        self.limit = max(1, limit)
    }

    /// A mutation starts.
    /// - Parameter waitsForServer: it does not fail with others that cannot reach the server.
    /// - Returns: nil if too many are waiting.
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

    /// The mutation has ended or was cancelled. May be called more than once.
    func leave(_ turn: Turn) {
        let next = state.withLock { state in
            state.waiting[turn.number] = nil
            state.underWay[turn.number] = nil
            return state.takeNext(maximum)
        }
        turn.word.give(nil)
        for turn in next { turn.word.give(nil) }
    }

    /// Fails those that were already waiting when `turn`'s mutation, which could not reach the server, was let in.
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
