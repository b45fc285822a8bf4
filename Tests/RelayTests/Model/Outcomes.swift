import Foundation
import OpenCombine

/// What an execution has told its subscriber so far, a line each, so that whole histories can be compared.
final class Outcomes: @unchecked Sendable {
    // Unchecked: everything is behind the lock.

    private let lock = NSLock()
    private var told: [String] = []
    private var subscription: AnyCancellable?

    /// - Parameter line: writes a value as a line.
    init<P: Publisher>(_ publisher: P, _ line: @escaping (P.Output) -> String) {
        let subscription = publisher.sink(
            receiveCompletion: { [weak self] end in
                switch end {
                case .finished: self?.add("finished")
                case .failure: self?.add("failed")
                }
            },
            receiveValue: { [weak self] in self?.add(line($0)) })
        lock.withLock { self.subscription = subscription }
    }

    var lines: [String] { lock.withLock { told } }

    func cancel() { lock.withLock { subscription }?.cancel() }

    private func add(_ line: String) { lock.withLock { told.append(line) } }
}
