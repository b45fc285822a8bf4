import Threads

/// One thread on which all network work of a server or of a group of clients happens.
///
/// The thread runs a libev loop with a libwebsockets context of its own; only it touches the
/// library. Handlers are called on it, so they must not block. Other threads hand work over with
/// `perform`, which wakes the thread once per batch.
///
/// The loop is also an executor: an actor that names it as its `unownedExecutor` runs on the
/// loop's thread, and handlers reach that actor's state by `assumeIsolated`, without a hop.
///
/// A loop lives until `stop()` has been awaited, also without other references.
package final class IOLoop: SerialExecutor, Sendable {
    let mailbox = Mailbox()
    private let thread = LoopThread()
    /// Runs an actor's jobs once the thread has done its last work, so that none waits for ever.
    private let afterlife = SerialJobQueue()

    private init() {}

    /// Makes a loop and starts its thread.
    ///
    /// - Parameter resolver: finds the addresses of hosts that are connected to.
    ///
    /// Throws `IOError.Code.loopUnavailable` when libwebsockets or its libev plugin cannot be used.
    package static func start(resolver: HostResolver = .system) throws(IOError) -> IOLoop {
        let loop = IOLoop()
        // Handed over to the new thread here; no other sees it. The thread releases it before it is known
        // that the loop has stopped: with it go OpenSSL's contexts, which must not outlive the program's main
        // function.
        nonisolated(unsafe) var core: LoopCore? = try LoopCore(loop: loop, resolver: resolver)
        do {
            try loop.thread.start {
                core.take()?.run()
            } then: {
                loop.beginAfterlife()
            }
        } catch {
            core.take()?.destroy()
            loop.beginAfterlife()
            throw error
        }
        return loop
    }

    private func beginAfterlife() { afterlife.begin(on: asUnownedSerialExecutor()) }

    /// Whether the caller runs on the loop's thread.
    package var isCurrent: Bool { thread.isCurrent }

    /// Runs `action` on the loop's thread, after what was posted before it. Never waits.
    ///
    /// Returns false, and does nothing, once the loop has stopped.
    @discardableResult
    package func perform(_ action: @escaping @Sendable () -> Void) -> Bool {
        mailbox.post(.perform { _ in action() })
    }

    /// Runs `action` at once on the loop's thread, and posts it from any other.
    func performSoon(_ action: @escaping @Sendable () -> Void) {
        if isCurrent { action() } else { perform(action) }
    }

    /// As `perform`, for code of this room, which gets at what belongs to the thread.
    @discardableResult
    func performOnCore(_ action: @escaping @Sendable (LoopCore) -> Void) -> Bool {
        mailbox.post(.perform(action))
    }

    /// Runs `action` on the loop's thread and gives its value back.
    ///
    /// Throws what `action` throws, or `IOError.Code.stopped`.
    package func run<Value: Sendable>(
        _ action: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await runOnCore { _ in try action() }
    }

    /// As `run`, for code of this room.
    func runOnCore<Value: Sendable>(
        _ action: @escaping @Sendable (LoopCore) throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let isTaken = performOnCore { core in
                continuation.resume(with: Result { try action(core) })
            }
            if !isTaken { continuation.resume(throwing: IOError.stopped("use the network loop")) }
        }
    }

    /// Runs `action` on the loop's thread after a while, unless the loop stops first.
    package func perform(after delay: Duration, _ action: @escaping @Sendable () -> Void) {
        let deadline = monotonicMilliseconds() + delay.wholeMilliseconds
        performOnCore { core in core.schedule(at: deadline, action) }
    }

    /// Ends all connections at once, tells their handlers, and ends the thread. Idempotent.
    ///
    /// For an orderly end, stop the servers and close the clients first.
    package func stop() async {
        performOnCore { core in core.requestStop() }
        await thread.ended()
    }

    func assertIsCurrent() {
        assert(isCurrent, "this belongs to the network loop's thread")
    }

    // MARK: - SerialExecutor

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if !mailbox.post(.job(job)) {
            afterlife.run(job, on: asUnownedSerialExecutor())
        }
    }

    package func checkIsolated() {
        precondition(isCurrent, "expected to run on the network loop's thread")
    }
}

/// Runs jobs one at a time on whichever threads bring them, from ``begin(on:)`` on; those that come before wait
/// for it.
private final class SerialJobQueue: Sendable {
    private struct State {
        var waiting: [UnownedJob] = []
        /// In the beginning it is the loop's thread that runs.
        var isRunning = true
    }

    private let state = Lock(State())

    func begin(on executor: UnownedSerialExecutor) { drain(on: executor) }

    func run(_ job: UnownedJob, on executor: UnownedSerialExecutor) {
        let isMine = state.withLock { state in
            state.waiting.append(job)
            if state.isRunning { return false }
            state.isRunning = true
            return true
        }
        if isMine { drain(on: executor) }
    }

    private func drain(on executor: UnownedSerialExecutor) {
        while let next = takeNext() { next.runSynchronously(on: executor) }
    }

    private func takeNext() -> UnownedJob? {
        state.withLock { state in
            if state.waiting.isEmpty {
                state.isRunning = false
                return nil
            }
            return state.waiting.removeFirst()
        }
    }
}
