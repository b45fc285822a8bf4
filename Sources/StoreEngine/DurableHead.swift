@_spi(Rooms) import RelayRecords
import Threads

/// The state that readers may see: all of it is durable.
///
/// Written only when an append completes, in log order; read from anywhere.
final class DurableHead: Sendable {
    private struct Waiter {
        let sequence: UInt64
        let body: @Sendable (Bool) -> Void
    }

    private struct State {
        var snapshot: Snapshot
        var waiters: [Int: Waiter] = [:]
        var waiterCount = 0
    }

    /// Requests that may wait for a state.
    static let waiterLimit = 65_536

    private let state: Lock<State>

    init(_ snapshot: Snapshot) { state = Lock(State(snapshot: snapshot)) }

    var snapshot: Snapshot { state.withLock { $0.snapshot } }

    func advance(to snapshot: Snapshot) {
        let reached = state.withLock { state -> [Waiter] in
            assert(snapshot.sequence >= state.snapshot.sequence, "what is durable stays so")
            state.snapshot = snapshot
            if state.waiters.isEmpty { return [] }
            let reached = state.waiters.filter { $0.value.sequence <= snapshot.sequence }
            for number in reached.keys { state.waiters[number] = nil }
            return Array(reached.values)
        }
        for waiter in reached { waiter.body(true) }
    }

    /// Calls back once: when the state has reached an event, or with false when the time is up.
    ///
    /// Called at once if it has, otherwise on a task of the engine's.
    /// - Returns: false if too many wait already; then nothing is called.
    func whenReached(
        _ sequence: UInt64, within time: Duration, _ tasks: EngineTasks,
        _ body: @escaping @Sendable (_ isReached: Bool) -> Void
    ) -> Bool {
        enum Place {
            case reached
            case full
            case waits(Int)
        }
        let place = state.withLock { state -> Place in
            if state.snapshot.sequence >= sequence { return .reached }
            guard state.waiters.count < Self.waiterLimit else { return .full }
            state.waiterCount += 1
            state.waiters[state.waiterCount] = Waiter(sequence: sequence) { isReached in
                tasks.start { body(isReached) }
            }
            return .waits(state.waiterCount)
        }
        switch place {
        case .reached: body(true)
        case .full: return false
        case .waits(let number):
            tasks.later(time) { [weak self] in
                self?.state.withLock { $0.waiters.removeValue(forKey: number) }?.body(false)
            }
        }
        return true
    }
}
