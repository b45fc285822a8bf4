import Dispatch
import EventLog
@_spi(Rooms) import Threads

/// Does one thing after the other, in the background: a dispatch queue, or what runs in its place.
final class BackgroundQueue: Sendable {
    private struct Steps {
        var waiting = FIFO<@Sendable () -> Void>()
    }

    private let queue: DispatchQueue?
    private let steps = Lock(Steps())

    /// - Parameters:
    ///   - isUtility: others go first.
    ///   - runner: runs what is handed over; nil for a dispatch queue.
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

    /// Hands something over and does not wait.
    func async(_ work: @escaping @Sendable () -> Void) {
        if let queue { return queue.async(execute: work) }
        steps.withLock { $0.waiting.append(work) }
    }

    /// Does something when everything that was handed over before is done.
    func sync<Result>(_ work: () throws -> Result) rethrows -> Result {
        if let queue { return try queue.sync(execute: work) }
        while case .worked = step() {}
        return try work()
    }
}
