import Threads

/// A value that one task waits for, set by the first of several: an answer, a timeout, the end of the task.
package final class FirstValue<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        var waiter: CheckedContinuation<Value, Never>?
    }

    private let state = Lock(State())

    package init() {}

    /// Only the first one counts.
    package func give(_ value: Value) {
        let waiter = state.withLock { state -> CheckedContinuation<Value, Never>? in
            guard state.value == nil else { return nil }
            state.value = value
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume(returning: value)
    }

    /// Waits for the value. One task, once.
    /// - Parameter ifCancelled: the value if the task is cancelled before there is one.
    package func value(ifCancelled cancelled: Value) async -> Value {
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let value = state.withLock { state -> Value? in
                    if state.value == nil { state.waiter = waiter }
                    return state.value
                }
                if let value { waiter.resume(returning: value) }
            }
        } onCancel: {
            give(cancelled)
        }
    }
}
