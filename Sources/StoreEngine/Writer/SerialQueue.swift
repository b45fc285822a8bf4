import Threads

/// Handles messages one after another, in the order in which they were posted, on the concurrent pool.
/// Messages that pile up are handed over as one batch.
///
/// The queue is bounded: when it is full, a message is refused, and the caller reports that to the sender. It
/// can also be paused: while `isOpen` is false nothing is handed over, which gives back-pressure from what is
/// downstream.
final class SerialQueue<Message: Sendable>: Sendable {
    /// Takes messages from the front of the batch; what it leaves is handed over again. Must take at least
    /// one.
    typealias Handler = @Sendable (inout ArraySlice<Message>) -> Void

    private struct State {
        /// The messages being handled, and the rest of the batch.
        var batch: ArraySlice<Message> = []
        /// The batches to come: all are full but the last.
        var waiting: [[Message]] = []
        var count = 0
        var isRunning = false
    }

    private let state = Lock(State())
    private let limit: Int
    private let batchLimit: Int
    private let isOpen: @Sendable () -> Bool
    private let tasks: EngineTasks

    /// - Parameters:
    ///   - limit: on waiting messages.
    ///   - batchLimit: on messages that are handed over together.
    ///   - tasks: where messages are handled.
    ///   - isOpen: checked before each hand-over. When it becomes true again, ``resume(handle:)`` must be
    ///     called.
    init(
        limit: Int, batchLimit: Int = .max, tasks: EngineTasks = EngineTasks(),
        isOpen: @escaping @Sendable () -> Bool = { true }
    ) {
        self.limit = limit
        self.batchLimit = batchLimit
        self.tasks = tasks
        self.isOpen = isOpen
    }

    /// Messages waiting or being handled.
    var count: Int { state.withLock { $0.count } }

    /// Whether messages are being handled, or are about to be.
    var isRunning: Bool { state.withLock { $0.isRunning } }

    /// Posts a message. False if the queue is full and the message was not taken.
    /// - Parameters:
    ///   - isLimited: false for messages that belong to something accepted earlier.
    ///   - handle: never called concurrently; must be the same in all calls.
    func post(_ message: Message, isLimited: Bool = true, handle: @escaping Handler) -> Bool {
        post(contentsOf: CollectionOfOne(message), isLimited: isLimited, handle: handle)
    }

    /// Posts several messages with nothing between them: all of them, or none.
    func post(
        contentsOf messages: some Collection<Message>, isLimited: Bool = true,
        handle: @escaping Handler
    ) -> Bool {
        if messages.isEmpty { return true }
        let (isTaken, starts) = state.withLock { state in
            guard !isLimited || messages.count <= limit - state.count else {
                return (false, false)
            }
            for message in messages {
                if state.waiting.last.map({ $0.count >= batchLimit }) ?? true {
                    state.waiting.append([])
                }
                state.waiting[state.waiting.count - 1].append(message)
            }
            state.count += messages.count
            defer { state.isRunning = true }
            return (true, !state.isRunning)
        }
        if starts { start(handle) }
        return isTaken
    }

    /// Continues if the queue was closed and is open now.
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
            // A slice keeps what was handled alive. Copying a long one each time would take quadratic time.
            let isCopied = batchLimit < .max || batch.startIndex >= batch.count
            let rest = isCopied ? Array(batch)[...] : batch
            let handledCount = count - batch.count
            state.withLock { state in
                state.batch = rest
                state.count -= handledCount
            }
        }
    }

    private func nextBatch() -> ArraySlice<Message>? {
        state.withLock { state in
            assert(state.isRunning, "only the one task that runs takes a batch")
            if state.batch.isEmpty {
                state.batch = state.waiting.isEmpty ? [] : state.waiting.removeFirst()[...]
            }
            // Checked under the lock, so that if the queue opens later, `resume` sees that it is not running.
            guard !state.batch.isEmpty, isOpen() else {
                state.isRunning = false
                return nil
            }
            return state.batch
        }
    }
}
