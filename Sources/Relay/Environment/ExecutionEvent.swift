import Foundation

/// Something that happened to an operation, under the name that Relay's developer tools know.
public struct ExecutionEvent: Sendable {
    /// What happened.
    public enum Name: String, Hashable, Sendable {
        /// The network was asked.
        case networkStart = "network.start"
        /// The network gave a response.
        case networkNext = "network.next"
        /// The network failed.
        case networkError = "network.error"
        /// The network has nothing more to give.
        case networkComplete = "network.complete"
        /// Nobody waited any longer.
        case networkUnsubscribe = "network.unsubscribe"
        /// An optimistic change is shown.
        case executeOptimistic = "execute.optimistic"
        /// A response was written to the store.
        case executeNext = "execute.next"
        /// The operation failed.
        case executeError = "execute.error"
        /// The operation is done.
        case executeComplete = "execute.complete"
    }

    /// What happened.
    public var name: Name
    /// Names the execution; the same for all its events.
    public var transactionID: String
    /// The operation's name.
    public var operation: String
    /// Why, for the events of errors.
    public var error: (any Error)?
}

/// Hands events to those who listen.
final class ExecutionLog: @unchecked Sendable {
    // Unchecked: everything is behind the lock.

    private let lock = NSLock()
    private var listeners: [Int: AsyncStream<ExecutionEvent>.Continuation] = [:]
    private var count = 0

    func stream() -> AsyncStream<ExecutionEvent> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1_024)) { continuation in
            let number = lock.withLock {
                count += 1
                listeners[count] = continuation
                return count
            }
            continuation.onTermination = { [weak self] _ in
                self?.lock.withLock { _ = self?.listeners.removeValue(forKey: number) }
            }
        }
    }

    func note(
        _ name: ExecutionEvent.Name, _ transactionID: String, _ operation: String,
        _ error: (any Error)? = nil
    ) {
        let listeners = lock.withLock { Array(self.listeners.values) }
        for listener in listeners {
            listener.yield(
                ExecutionEvent(
                    name: name, transactionID: transactionID, operation: operation, error: error))
        }
    }
}
