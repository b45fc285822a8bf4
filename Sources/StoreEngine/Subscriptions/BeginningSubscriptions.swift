import GraphQLExecution
import Threads

/// What is prepared for the subscriptions that wait to begin: a thousand times their requests, at worst, so it is
/// bounded in bytes.
final class BeginningSubscriptions: Sendable {
    private struct State {
        var memory = SharedMemory()
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Lock(State())
    private let byteLimit: Int

    /// - Parameter byteLimit: the last one to be taken may exceed it.
    init(byteLimit: Int) { self.byteLimit = byteLimit }

    /// Takes a new subscription; false if there is no room.
    func admit(_ subscription: PreparedSubscription) -> Bool {
        let share = subscription.memoryShare
        return state.withLock { state in
            guard state.memory.byteCount < byteLimit else { return false }
            state.memory.add(share)
            return true
        }
    }

    /// Takes one that was accepted before, after ``room()``.
    func add(_ subscription: PreparedSubscription) {
        let share = subscription.memoryShare
        state.withLock { $0.memory.add(share) }
    }

    /// They have begun.
    func remove(_ subscriptions: [PreparedSubscription]) {
        if subscriptions.isEmpty { return }
        let shares = subscriptions.map(\.memoryShare)
        let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            for share in shares { state.memory.remove(share) }
            guard state.memory.byteCount < byteLimit else { return [] }
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Returns once there is room. Whoever has waited may then add one subscription, even if new ones came first.
    func room() async {
        if state.withLock({ $0.memory.byteCount < byteLimit }) { return }
        await withCheckedContinuation { continuation in
            let hasRoom = state.withLock { state in
                if state.memory.byteCount < byteLimit { return true }
                state.waiting.append(continuation)
                return false
            }
            if hasRoom { continuation.resume() }
        }
    }

    /// Those that wait for room.
    var waitingCount: Int { state.withLock { $0.waiting.count } }
}

extension PreparedSubscription {
    fileprivate var memoryShare: SharedMemory.Share {
        let document = operation.documentPart
        let planned = (document.id, document.byteCount + 512 * operation.compiledSelectionCount)
        return SharedMemory.Share(
            parts: [planned] + (normalization.map { [$0.part] } ?? []),
            ownByteCount: variables.subscriptionByteCount)
    }
}
