import HeapModule
@_spi(Rooms) import RelayRecords
import Threads

/// The state that readers may see: all of it is durable.
///
/// Written only when an append completes, in log order; read from anywhere.
final class DurableHead: Sendable {
    private struct Waiter {
        let sequence: UInt64
        let isBounded: Bool
        /// The round in which it came.
        let round: Int
        let body: @Sendable (_ isReached: Bool) -> Void
    }

    private struct Awaited: Comparable {
        let sequence: UInt64
        let number: Int

        static func < (one: Awaited, other: Awaited) -> Bool {
            (one.sequence, one.number) < (other.sequence, other.number)
        }
    }

    private struct State {
        var snapshot: Snapshot
        /// The event up to which subscriptions have been given everything.
        var published: UInt64
        /// By number.
        var waiters: [Int: Waiter] = [:]
        /// What they wait for, and what those have waited for whose time was up.
        private var awaited = Heap<Awaited>()
        var boundedCount = 0
        var lastNumber = 0
        /// Those that are not bounded have one timer together, which ends a round.
        var round = 0
        var isTimed = false

        mutating func add(_ waiter: Waiter) -> Int {
            lastNumber += 1
            waiters[lastNumber] = waiter
            if waiter.isBounded { boundedCount += 1 }
            awaited.insert(Awaited(sequence: waiter.sequence, number: lastNumber))
            return lastNumber
        }

        mutating func remove(_ number: Int) -> Waiter? {
            guard let waiter = forget(number) else { return nil }
            if awaited.count > 2 * waiters.count + 1_024 {
                awaited = Heap(awaited.unordered.filter { waiters[$0.number] != nil })
            }
            return waiter
        }

        mutating func removeReached() -> [Waiter] {
            var reached: [Waiter] = []
            while let next = awaited.min, next.sequence <= published {
                awaited.removeMin()
                if let waiter = forget(next.number) { reached.append(waiter) }
            }
            return reached
        }

        /// Those that are not bounded and have waited for a whole round.
        mutating func endRound() -> [Waiter] {
            let late = waiters.filter { !$0.value.isBounded && $0.value.round < round }
            round += 1
            return late.keys.sorted().compactMap { remove($0) }
        }

        var hasUnbounded: Bool { waiters.count > boundedCount }

        private mutating func forget(_ number: Int) -> Waiter? {
            guard let waiter = waiters.removeValue(forKey: number) else { return nil }
            if waiter.isBounded { boundedCount -= 1 }
            return waiter
        }

        init(_ snapshot: Snapshot) {
            self.snapshot = snapshot
            published = snapshot.sequence
        }
    }

    /// Requests that may wait for a state.
    static let waiterLimit = 65_536

    private let state: Lock<State>

    init(_ snapshot: Snapshot) {
        state = Lock(State(snapshot))
    }

    var snapshot: Snapshot { state.withLock { $0.snapshot } }

    /// Requests that wait for a state.
    var waitingCount: Int { state.withLock { $0.waiters.count } }

    /// The event that requests find here, and subscriptions too.
    var published: UInt64 { state.withLock { $0.published } }

    /// - Parameter publish: gives subscriptions what led to the state. Whoever waits for it goes on afterwards, so that a
    ///   subscription does not begin before.
    func advance(to snapshot: Snapshot, publish: () -> Void) {
        state.withLock { state in
            assert(snapshot.sequence >= state.snapshot.sequence, "what is durable stays so")
            state.snapshot = snapshot
        }
        publish()
        let reached = state.withLock { state in
            state.published = snapshot.sequence
            return state.removeReached()
        }
        for waiter in reached { waiter.body(true) }
    }

    /// Calls back once: when the state has reached an event, or with false when the time is up.
    ///
    /// Called at once if it has, otherwise on a task of the engine's.
    /// - Parameters:
    ///   - time: always the same.
    ///   - isBounded: false for what is counted elsewhere, and may wait for up to twice the time.
    /// - Returns: false if too many wait already; then nothing is called.
    func whenReached(
        _ sequence: UInt64, within time: Duration, isBounded: Bool = true, _ tasks: EngineTasks,
        _ body: @escaping @Sendable (_ isReached: Bool) -> Void
    ) -> Bool {
        enum Place {
            case reached
            case full
            case waits(Int)
            case waitsForRound(isTimed: Bool)
        }
        let place = state.withLock { state -> Place in
            if state.published >= sequence { return .reached }
            guard !isBounded || state.boundedCount < Self.waiterLimit else { return .full }
            let number = state.add(
                Waiter(sequence: sequence, isBounded: isBounded, round: state.round) { isReached in
                    tasks.start { body(isReached) }
                })
            if isBounded { return .waits(number) }
            defer { state.isTimed = true }
            return .waitsForRound(isTimed: state.isTimed)
        }
        switch place {
        case .reached: body(true)
        case .full: return false
        case .waits(let number):
            tasks.later(time) { [weak self] in
                self?.state.withLock { $0.remove(number) }?.body(false)
            }
        case .waitsForRound(let isTimed):
            if !isTimed { endRound(after: time, tasks) }
        }
        return true
    }

    private func endRound(after time: Duration, _ tasks: EngineTasks) {
        tasks.later(time) { [weak self] in
            guard let self else { return }
            let (late, goesOn) = state.withLock { state in
                let late = state.endRound()
                state.isTimed = state.hasUnbounded
                return (late, state.isTimed)
            }
            for waiter in late { waiter.body(false) }
            if goesOn { endRound(after: time, tasks) }
        }
    }
}
