@_spi(Rooms) package import RelayRecords
import SchemaService

/// The engine's inputs from the outside world, which tests can replace.
package struct EngineInputs: Sendable {
    /// Microseconds since 1970-01-01 00:00 UTC.
    package var now: @Sendable () -> Int64
    /// Makes the id of a new record of a type.
    package var makeID: @Sendable (_ type: String) -> DataID
    package var tasks: EngineTasks

    package init(
        now: @escaping @Sendable () -> Int64,
        makeID: @escaping @Sendable (_ type: String) -> DataID = GlobalID.random,
        tasks: EngineTasks = EngineTasks()
    ) {
        self.now = now
        self.makeID = makeID
        self.tasks = tasks
    }
}

/// Runs the engine's work, and schedules what has to happen later.
package struct EngineTasks: Sendable {
    private let executor: (any TaskExecutor)?
    /// Calls back once, after a delay. The process may end without waiting for it.
    package let later: @Sendable (Duration, @escaping @Sendable () -> Void) -> Void

    /// - Parameter executor: runs every task of the engine; nil for the concurrent pool.
    package init(
        executor: (any TaskExecutor)? = nil,
        later: @escaping @Sendable (Duration, @escaping @Sendable () -> Void) -> Void = {
            time, action in
            Task.detached {
                try? await Task.sleep(for: time)
                action()
            }
        }
    ) {
        self.executor = executor
        self.later = later
    }

    /// Starts some work without waiting for it.
    @discardableResult
    package func start(
        _ priority: TaskPriority? = nil, _ work: @escaping @Sendable () async -> Void
    ) -> Task<Void, Never> {
        Task.detached(executorPreference: executor, priority: priority, operation: work)
    }
}
