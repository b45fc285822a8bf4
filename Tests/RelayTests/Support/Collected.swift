import Foundation
import OpenCombine

/// Everything that a publisher has said so far.
final class Collected<Output>: @unchecked Sendable {
    // Unchecked: everything is behind the lock.

    private let lock = NSLock()
    private var received: [Output] = []
    private var ends: [Subscribers.Completion<any Error>] = []
    private var subscription: AnyCancellable?

    init<P: Publisher>(_ publisher: P) where P.Output == Output, P.Failure: Error {
        let subscription = publisher.sink(
            receiveCompletion: { [self] end in
                lock.withLock {
                    switch end {
                    case .finished: ends.append(.finished)
                    case .failure(let error): ends.append(.failure(error))
                    }
                }
            },
            receiveValue: { [self] value in lock.withLock { received.append(value) } })
        lock.withLock { self.subscription = subscription }
    }

    var values: [Output] { lock.withLock { received } }
    var isFinished: Bool {
        lock.withLock {
            ends.count == 1 && { if case .finished = ends[0] { true } else { false } }()
        }
    }
    var error: (any Error)? {
        lock.withLock {
            if case .failure(let error)? = ends.first { error } else { nil }
        }
    }

    func cancel() {
        let subscription = lock.withLock { self.subscription }
        subscription?.cancel()
    }
}
