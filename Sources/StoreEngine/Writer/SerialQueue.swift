import Threads

/// Messages that are handled one after the other, in the order in which they were posted, on the
/// concurrent pool; what piles up meanwhile is handed over as one batch.
///
/// Bounded: a message that finds the queue full is refused, and the caller says so to the sender.
/// And held back: while it is not open (`isOpen`) nothing is handed over, so that what is behind the
/// queue can be waited for.
final class SerialQueue<Message: Sendable>: Sendable {
    /// Takes messages from the front of the batch; what it leaves comes again. Must take at least one.
    typealias Handler = @Sendable (inout ArraySlice<Message>) -> Void

    private struct State {
        /// What is being handled, and the rest of the batch.
        var batch: ArraySlice<Message> = []
        var waiting: [Message] = []
        var isRunning = false

        var count: Int { batch.count + waiting.count }
    }

    private let state = Lock(State())
    private let limit: Int
    private let isOpen: @Sendable () -> Bool
    private let tasks: EngineTasks

    /// - Parameters:
    ///   - limit: messages that may wait.
    ///   - tasks: where messages are handled.
    ///   - isOpen: asked before each hand-over. When it becomes true again, ``resume(handle:)`` must be called.
    init(
        limit: Int, tasks: EngineTasks = EngineTasks(),
        isOpen: @escaping @Sendable () -> Bool = { true }
    ) {
        self.limit = limit
        self.tasks = tasks
        self.isOpen = isOpen
    }

    /// Messages that wait, or are being handled.
    var count: Int { state.withLock { $0.count } }

    /// Hands a message over. False when the queue is full, and the message was not taken.
    /// - Parameters:
    ///   - isLimited: false for what belongs to something that was taken before.
    ///   - handle: never called twice at once; the same in all calls.
    func post(_ message: Message, isLimited: Bool = true, handle: @escaping Handler) -> Bool {
        post(contentsOf: CollectionOfOne(message), isLimited: isLimited, handle: handle)
    }

    /// Hands several messages over, with nothing between them. All of them are taken, or none.
    func post(
        contentsOf messages: some Collection<Message>, isLimited: Bool = true,
        handle: @escaping Handler
    ) -> Bool {
        if messages.isEmpty { return true }
        let (isTaken, starts) = state.withLock { state in
            guard !isLimited || messages.count <= limit - state.count else {
                return (false, false)
            }
            state.waiting.append(contentsOf: messages)
            defer { state.isRunning = true }
            return (true, !state.isRunning)
        }
        if starts { start(handle) }
        return isTaken
    }

    /// Goes on if the queue was not open, and is now.
    func resume(handle: @escaping Handler) {
        let starts = state.withLock { state in
            guard !state.isRunning, state.count > 0 else { return false }
            state.isRunning = true
            return true
        }
        if starts { start(handle) }
    }

    private func start(_ handle: @escaping Handler) {
        tasks.start(.high) { self.run(handle) }
    }

    private func run(_ handle: Handler) {
        while var batch = nextBatch() {
            let count = batch.count
            handle(&batch)
            assert(batch.count < count, "a handler that takes nothing would be called for ever")
            // An empty slice would keep all that it once had.
            state.withLock { [batch] in $0.batch = batch.isEmpty ? [] : batch }
        }
    }

    private func nextBatch() -> ArraySlice<Message>? {
        state.withLock { state in
            assert(state.isRunning, "only the one task that runs takes a batch")
            if state.batch.isEmpty {
                state.batch = state.waiting[...]
                state.waiting = []
            }
            // Asked under the lock: a later opening of the queue finds that it does not run.
            guard !state.batch.isEmpty, isOpen() else {
                state.isRunning = false
                return nil
            }
            return state.batch
        }
    }
}
