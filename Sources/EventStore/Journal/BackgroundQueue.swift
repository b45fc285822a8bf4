import Dispatch
import EventLog
@_spi(Rooms) import Threads

/// Runs work serially in the background: a dispatch queue, or a runner in its place.
final class BackgroundQueue: Sendable {
    private struct Steps {
        var waiting = FIFO<@Sendable () -> Void>()
    }

    private let queue: DispatchQueue?
    private let steps = Lock(Steps())

    /// - Parameters:
    ///   - isUtility: other work goes first.
    ///   - runner: runs the work; nil for a dispatch queue.
    init(_ label: String, isUtility: Bool = false, runner: (any LogRunner)?) {
        guard let runner else {
            queue = DispatchQueue(label: label, qos: isUtility ? .utility : .unspecified)
            return
        }
        queue = nil
        _ = runner.start { [weak self] in self?.step() ?? .ended }
    }

    private func step() -> LogStep {
        guard let work = steps.withLock({ $0.waiting.popFirst() }) else { return .idle }
        work()
        return .worked
    }

    /// Submits work without waiting for it.
    func async(_ work: @escaping @Sendable () -> Void) {
        if let queue { return queue.async(execute: work) }
        steps.withLock { $0.waiting.append(work) }
    }

    /// Runs work after everything submitted earlier is done, and waits for it.
    func sync<Result>(_ work: () throws -> Result) rethrows -> Result {
        if let queue { return try queue.sync(execute: work) }
        while case .worked = step() {}
        return try work()
    }
}
