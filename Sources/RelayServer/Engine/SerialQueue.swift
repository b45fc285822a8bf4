import Synchronization

/// Messages that are handled one after the other, in the order in which they were posted, on the
/// concurrent pool; what piles up meanwhile is handed over as one batch.
///
/// Bounded: a message that finds the queue full is refused, and the caller says so to whoever sent it.
final class SerialQueue<Message: Sendable>: Sendable {
    private struct State {
        var messages: [Message] = []
        var isRunning = false
    }

    private let state = Mutex(State())
    private let limit: Int

    /// - Parameter limit: messages that may wait.
    init(limit: Int) { self.limit = limit }

    /// Messages that wait.
    var count: Int { state.withLock { $0.messages.count } }

    /// Hands a message over. False when the queue is full, and the message was not taken.
    /// - Parameters:
    ///   - isLimited: false for what belongs to something that was taken before.
    ///   - handle: called with everything that waits, never twice at once; the same in all calls.
    func post(
        _ message: Message, isLimited: Bool = true,
        handle: @escaping @Sendable ([Message]) -> Void
    ) -> Bool {
        let (isTaken, starts) = state.withLock { state in
            guard !isLimited || state.messages.count < limit else { return (false, false) }
            state.messages.append(message)
            defer { state.isRunning = true }
            return (true, !state.isRunning)
        }
        if starts { Task.detached(priority: .high) { self.run(handle) } }
        return isTaken
    }

    private func run(_ handle: @Sendable ([Message]) -> Void) {
        while true {
            let batch = state.withLock { state in
                defer { state.messages = [] }
                if state.messages.isEmpty { state.isRunning = false }
                return state.messages
            }
            if batch.isEmpty { return }
            handle(batch)
        }
    }
}
