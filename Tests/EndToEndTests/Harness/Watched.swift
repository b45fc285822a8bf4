import BoundedTesting
import Dispatch
import Threads

/// A value that changes on other threads and can be waited on. Every wait has a deadline.
final class Watched<Value: Sendable>: Sendable {
    private struct State {
        var value: Value
        var nextWaiter = 0
        /// Each looks at the value and says whether it is done waiting.
        var waiters: [Int: @Sendable (inout Value) -> Bool] = [:]
    }

    private let state: Lock<State>

    init(_ value: Value) { state = Lock(State(value: value)) }

    var value: Value { state.withLock { $0.value } }

    /// Changes the value and wakes those whose condition holds now.
    func update(_ body: @Sendable (inout Value) -> Void) {
        state.withLock { state in
            body(&state.value)
            for (number, isDone) in state.waiters.sorted(by: { $0.key < $1.key })
            where isDone(&state.value) {
                state.waiters[number] = nil
            }
        }
    }

    /// Waits until `condition` gives something, which it may take out of the value.
    /// - Parameter what: completes "Waited in vain for …".
    func wait<Result: Sendable>(
        for what: String, within limit: Duration = .testDeadline,
        until condition: @escaping @Sendable (inout Value) -> Result?
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            let number = state.withLock { state -> Int? in
                if let result = condition(&state.value) {
                    continuation.resume(returning: result)
                    return nil
                }
                state.nextWaiter += 1
                state.waiters[state.nextWaiter] = { value in
                    guard let result = condition(&value) else { return false }
                    continuation.resume(returning: result)
                    return true
                }
                return state.nextWaiter
            }
            guard let number else { return }
            let nanoseconds = Int(limit / .nanoseconds(1))
            DispatchQueue.global().asyncAfter(deadline: .now() + .nanoseconds(nanoseconds)) {
                let (isLate, value) = self.state.withLock { state in
                    (state.waiters.removeValue(forKey: number) != nil, state.value)
                }
                if isLate {
                    continuation.resume(
                        throwing: Failure("Waited \(limit) in vain for \(what): \(value)"))
                }
            }
        }
    }
}

/// Why a test cannot go on.
struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
