import Threads

/// Runs what a log, and a store on it, do in the background: writing and syncing, housekeeping, checkpoints,
/// reading the past.
///
/// Otherwise each has a thread of its own. The seam exists so that a test can run all of it on one thread, step by
/// step, in an order of its choosing.
package protocol LogRunner: Sendable {
    /// Calls `step`, never twice at once, until it says that it has ended.
    func start(_ step: @escaping @Sendable () -> LogStep) -> any LogThread
}

/// What a call of a step has done.
package enum LogStep: Sendable {
    case worked
    /// There was nothing to do.
    case idle
    case ended
}

/// Something that was started, and ends by itself.
package protocol LogThread: Sendable {
    /// Returns when it has ended.
    func join()
}

extension BlockingThread: LogThread {}
