@_spi(Rooms) import RelayRecords
import Threads

/// The state that readers may see: all of it is durable.
///
/// Written only when an append completes, in log order; read from anywhere.
final class DurableHead: Sendable {
    private typealias Waiter = @Sendable (_ isReached: Bool) -> Void

    private struct State {
        var snapshot: Snapshot
        /// The event up to which subscriptions have been given everything.
        var published: UInt64
        /// By the event that they wait for, and a number each.
        var waiters: [UInt64: [Int: Waiter]] = [:]
        /// No event before this one is waited for.
        var nextAwaited = UInt64.max
        var waiterCount = 0
        var lastNumber = 0

        mutating func takeWaiters(through sequence: UInt64) -> [Waiter] {
            var taken: [Waiter] = []
            for awaited in waiters.keys where awaited <= sequence {
                if let them = waiters.removeValue(forKey: awaited) { taken += them.values }
            }
            waiterCount -= taken.count
            nextAwaited = waiters.keys.min() ?? .max
            return taken
        }

        mutating func takeWaiter(_ number: Int, of sequence: UInt64) -> Waiter? {
            guard let waiter = waiters[sequence]?.removeValue(forKey: number) else { return nil }
            if waiters[sequence]?.isEmpty == true { waiters[sequence] = nil }
            waiterCount -= 1
            return waiter
        }
    }

    /// Requests that may wait for a state.
    static let waiterLimit = 65_536

    private let state: Lock<State>

    init(_ snapshot: Snapshot) {
        state = Lock(State(snapshot: snapshot, published: snapshot.sequence))
    }

    var snapshot: Snapshot { state.withLock { $0.snapshot } }

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
        let reached = state.withLock { state -> [Waiter] in
            state.published = snapshot.sequence
            guard state.nextAwaited <= snapshot.sequence else { return [] }
            return state.takeWaiters(through: snapshot.sequence)
        }
        for waiter in reached { waiter(true) }
    }

    /// Calls back once: when the state has reached an event, or with false when the time is up.
    ///
    /// Called at once if it has, otherwise on a task of the engine's.
    /// - Parameter isBounded: false for what is counted elsewhere.
    /// - Returns: false if too many wait already; then nothing is called.
    func whenReached(
        _ sequence: UInt64, within time: Duration, isBounded: Bool = true, _ tasks: EngineTasks,
        _ body: @escaping @Sendable (_ isReached: Bool) -> Void
    ) -> Bool {
        enum Place {
            case reached
            case full
            case waits(Int)
        }
        let place = state.withLock { state -> Place in
            if state.published >= sequence { return .reached }
            guard !isBounded || state.waiterCount < Self.waiterLimit else { return .full }
            state.waiterCount += 1
            state.lastNumber += 1
            state.nextAwaited = min(state.nextAwaited, sequence)
            state.waiters[sequence, default: [:]][state.lastNumber] = { isReached in
                tasks.start { body(isReached) }
            }
            return .waits(state.lastNumber)
        }
        switch place {
        case .reached: body(true)
        case .full: return false
        case .waits(let number):
            tasks.later(time) { [weak self] in
                self?.state.withLock { $0.takeWaiter(number, of: sequence) }?(false)
            }
        }
        return true
    }
}
