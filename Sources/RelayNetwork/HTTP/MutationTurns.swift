import Synchronization

/// Lets so many mutations be under way at a time, in the order in which they were begun.
///
/// 1. Of those that wait, the one that was begun first goes first. 2. At most ``limit`` wait. 3. Who has got a number
/// gives it back, whatever happens.
final class MutationTurns: Sendable {
    /// Numbers rise in the order in which mutations were begun.
    typealias Number = UInt64

    private enum Waiter {
        /// It has not come to the place where it waits.
        case coming
        case waiting(CheckedContinuation<Void, Never>)

        func resume() {
            if case .waiting(let continuation) = self { continuation.resume() }
        }
    }

    private struct State {
        /// The number of the next one to be begun.
        var begun: Number = 0
        /// All below have been let in, or have gone.
        var next: Number = 0
        var underWay: Set<Number> = []
        var waiting: [Number: Waiter] = [:]

        /// Lets in whom it may.
        mutating func takeNext(_ maximum: Int) -> [Waiter] {
            var waiters: [Waiter] = []
            while underWay.count < maximum, next < begun {
                if let waiter = waiting.removeValue(forKey: next) {
                    underWay.insert(next)
                    waiters.append(waiter)
                }
                next += 1
            }
            return waiters
        }
    }

    private let state = Mutex(State())
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
    /// - Returns: nil when too many wait.
    func take() -> Number? {
        state.withLock { state in
            if state.waiting.count >= limit { return nil }
            let number = state.begun
            state.begun += 1
            state.waiting[number] = .coming
            // Nobody is waiting for a turn that comes now.
            _ = state.takeNext(maximum)
            return number
        }
    }

    /// Returns when it is the mutation's turn, or it has left.
    func wait(_ number: Number) async {
        await withCheckedContinuation { continuation in
            let isDue = state.withLock { state in
                guard state.waiting[number] != nil else { return true }
                state.waiting[number] = .waiting(continuation)
                return false
            }
            if isDue { continuation.resume() }
        }
    }

    /// The mutation is cancelled. If it waits, others wait in its place.
    func leave(_ number: Number) {
        state.withLock { $0.waiting.removeValue(forKey: number) }?.resume()
    }

    /// The mutation has ended, or has left.
    func giveBack(_ number: Number) {
        let next = state.withLock { state in
            state.underWay.remove(number)
            return state.takeNext(maximum)
        }
        for waiter in next { waiter.resume() }
    }
}
