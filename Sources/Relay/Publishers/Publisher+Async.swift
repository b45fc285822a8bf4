import Foundation
import Publishing

// The async counterparts of publishers.

/// Carries a value that one thread hands over to another.
struct Transfer<Value>: @unchecked Sendable {
    // Unchecked: the sender does not touch the value again.
    let value: Value
}

extension Publisher where Failure == any Error {
    /// Subscribes, and returns the last value when the publisher completes; nil if there was none.
    /// Cancelling the task cancels the subscription.
    func lastValue() async throws -> Output? {
        let wait = LastValue<Output>()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                wait.begin(self, continuation)
            }.value
        } onCancel: {
            wait.cancel()
        }
    }

    /// Subscribes at once; ending the iteration or releasing the sequence cancels the subscription. At
    /// most `limit` values wait; beyond that the oldest is dropped.
    func stream(limit: Int = 1_024) -> AsyncThrowingStream<Output, any Error> {
        AsyncThrowingStream(bufferingPolicy: .bufferingNewest(limit)) { continuation in
            let subscription = Transfer(
                value: sink(
                    receiveCompletion: { completion in
                        switch completion {
                        case .finished: continuation.finish()
                        case .failure(let error): continuation.finish(throwing: error)
                        }
                    },
                    receiveValue: { continuation.yield(Transfer(value: $0).value) }))
            continuation.onTermination = { _ in subscription.value.cancel() }
        }
    }
}

extension Publisher where Failure == Never {
    /// As `stream(limit:)`, for publishers that cannot fail.
    func elements(limit: Int) -> AsyncStream<Output> {
        AsyncStream(bufferingPolicy: .bufferingNewest(limit)) { continuation in
            let subscription = Transfer(
                value: sink(
                    receiveCompletion: { _ in continuation.finish() },
                    receiveValue: { continuation.yield(Transfer(value: $0).value) }))
            continuation.onTermination = { _ in subscription.value.cancel() }
        }
    }
}

/// Waits for the completion of one publisher.
private final class LastValue<Output>: @unchecked Sendable {
    // Unchecked: everything is behind the lock.

    private let lock = NSLock()
    private var continuation: CheckedContinuation<Transfer<Output?>, any Error>?
    private var subscription: AnyCancellable?
    private var newest: Output?
    private var isCancelled = false

    func begin<P: Publisher>(
        _ publisher: P, _ continuation: CheckedContinuation<Transfer<Output?>, any Error>
    ) where P.Output == Output, P.Failure == any Error {
        let isCancelled = lock.withLock {
            self.continuation = continuation
            return self.isCancelled
        }
        if isCancelled { return end(.failure(CancellationError())) }
        let subscription = publisher.sink { [self] completion in
            switch completion {
            case .finished: end(.success(lock.withLock { newest }))
            case .failure(let error): end(.failure(error))
            }
        } receiveValue: { [self] value in
            lock.withLock { newest = value }
        }
        let isOver = lock.withLock {
            self.subscription = subscription
            return self.isCancelled
        }
        if isOver { cancel() }
    }

    func cancel() {
        let subscription = lock.withLock {
            isCancelled = true
            defer { self.subscription = nil }
            return self.subscription
        }
        subscription?.cancel()
        end(.failure(CancellationError()))
    }

    private func end(_ result: Result<Output?, any Error>) {
        let continuation = lock.withLock {
            defer { self.continuation = nil }
            return self.continuation
        }
        continuation?.resume(with: result.map { Transfer(value: $0) })
    }
}
