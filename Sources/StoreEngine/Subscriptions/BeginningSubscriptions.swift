import GraphQLExecution
import Threads

/// The subscriptions that wait to begin: their requests, which may be large and which their connections no longer count
/// once they are ended, and what is prepared for them, which is a thousand times as much at worst. Bounded in bytes.
final class BeginningSubscriptions: Sendable {
    private struct State {
        var memory = SharedMemory()
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Lock(State())
    private let byteLimit: Int

    /// - Parameter byteLimit: the last one to be taken may exceed it.
    init(byteLimit: Int) { self.byteLimit = byteLimit }

    /// Takes a new subscription.
    /// - Returns: what is to be given back once it has begun; nil if there is no room.
    func admit(_ subscription: PreparedSubscription) -> SharedMemory.Share? {
        let share = subscription.memoryShare
        return state.withLock { state in
            guard state.memory.byteCount < byteLimit else { return nil }
            state.memory.add(share)
            return share
        }
    }

    /// Takes one that was accepted before, after ``room()``.
    func add(_ subscription: PreparedSubscription) -> SharedMemory.Share {
        let share = subscription.memoryShare
        state.withLock { $0.memory.add(share) }
        return share
    }

    /// What has begun needs no room here any more.
    func remove(_ shares: [SharedMemory.Share]) {
        if shares.isEmpty { return }
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
            ownByteCount: variables.subscriptionByteCount + request.request.approximateByteCount)
    }
}
