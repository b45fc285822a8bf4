import Threads

/// Runs the background work of a log, and of a store on it: writing and syncing, housekeeping, checkpoints,
/// reading the past.
///
/// Without one, each has its own thread. The protocol exists so that a test can run all of it on one thread,
/// step by step, in an order of its choosing.
package protocol LogRunner: Sendable {
    /// Calls `step`, never concurrently, until it returns `ended`.
    func start(_ step: @escaping @Sendable () -> LogStep) -> any LogThread
}

/// The result of a step.
package enum LogStep: Sendable {
    case worked
    /// There was nothing to do.
    case idle
    case ended
}

/// Background work that was started and ends by itself.
package protocol LogThread: Sendable {
    /// Returns once it has ended.
    func join()
}

extension BlockingThread: LogThread {}
