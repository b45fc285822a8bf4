import Threads

/// How far a journal is durable, and a way to wait for more.
package final class DurableSequence: Sendable {
    private struct State {
        var sequence: UInt64
        var isClosed = false
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
        var nextWaiter = 0
    }

    private let state: Lock<State>

    package init(_ sequence: UInt64) { state = Lock(State(sequence: sequence)) }

    package var sequence: UInt64 { state.withLock { $0.sequence } }

    package func advance(to sequence: UInt64) {
        wake { $0.sequence = max($0.sequence, sequence) }
    }

    /// No more will become durable: waiters are notified.
    package func close() {
        wake { $0.isClosed = true }
    }

    private func wake(_ change: (inout State) -> Void) {
        let waiters = state.withLock { state in
            change(&state)
            defer { state.waiters.removeAll() }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Waits until the log is durable beyond a sequence.
    /// - Returns: false if it never will be, or the task is cancelled.
    package func passes(_ sequence: UInt64) async -> Bool {
        while !Task.isCancelled {
            let (current, isClosed) = state.withLock { ($0.sequence, $0.isClosed) }
            if current > sequence { return true }
            if isClosed { return false }
            await change(from: sequence)
        }
        return false
    }

    private func change(from sequence: UInt64) async {
        let waiter = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    // If it has happened since the caller looked, there is nothing to wait for.
                    if Task.isCancelled || state.isClosed || state.sequence > sequence {
                        return true
                    }
                    state.waiters[waiter] = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: waiter) }?.resume()
        }
    }
}
