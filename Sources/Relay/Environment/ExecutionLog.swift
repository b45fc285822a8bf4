import Foundation
@_spi(Rooms) import RelayStore

/// Hands events to those who listen, one after the other, in the order in which they were noted.
///
/// Nothing is kept of an event that was handed over, and nothing is noted while there are no listeners. While listeners are at
/// work on one thread, up to ``waitingLimit`` events of others wait; beyond that the oldest are dropped, and what comes
/// next is a `log.overflow` that counts them.
final class ExecutionLog: @unchecked Sendable {
    // Unchecked: everything is behind the lock.

    typealias Listener = @Sendable (ExecutionEvent) -> Void

    private let lock = NSLock()
    private let store: Store
    private var listeners: [Int: Listener] = [:]
    private var count = 0
    private var waiting: [ExecutionEvent] = []
    private var droppedCount = 0
    /// Events that wait for listeners that are slower than what they listen to.
    static let waitingLimit = 1_024
    private var isDelivering = false
    /// The store's own events, from the first listener on.
    private var observation: Retention?

    init(_ store: Store) { self.store = store }

    /// - Returns: what ends it.
    func listen(_ listener: @escaping Listener) -> Retention {
        let number = lock.withLock {
            if observation == nil {
                observation = store.observe { [weak self] in self?.note(ExecutionEvent($0)) }
            }
            count += 1
            listeners[count] = listener
            return count
        }
        return Retention { [weak self] in
            self?.lock.withLock { _ = self?.listeners.removeValue(forKey: number) }
        }
    }

    func stream(limit: Int) -> AsyncStream<ExecutionEvent> {
        AsyncStream(bufferingPolicy: .bufferingNewest(limit)) { continuation in
            let listening = listen { continuation.yield($0) }
            continuation.onTermination = { _ in listening.cancel() }
        }
    }

    /// Tells of an event. One that comes up while listeners are told waits until they were.
    func note(_ event: @autoclosure () -> ExecutionEvent) {
        lock.lock()
        guard !listeners.isEmpty else { return lock.unlock() }
        if waiting.count == Self.waitingLimit {
            waiting.removeFirst()
            droppedCount += 1
        }
        waiting.append(event())
        guard !isDelivering else { return lock.unlock() }
        isDelivering = true
        while let event = next() {
            let listeners = Array(self.listeners.values)
            lock.unlock()
            for listener in listeners { listener(event) }
            lock.lock()
        }
        isDelivering = false
        lock.unlock()
    }

    /// Only under the lock.
    private func next() -> ExecutionEvent? {
        if droppedCount > 0 {
            defer { droppedCount = 0 }
            return ExecutionEvent(.logOverflow, count: droppedCount)
        }
        return waiting.isEmpty ? nil : waiting.removeFirst()
    }

    /// Events that wait; for tests.
    var waitingCount: Int { lock.withLock { waiting.count } }

    /// Tells of what is wrong with fields that were read.
    func noteFields(of read: SelectorSnapshot) {
        if read.required == nil, read.errors.isEmpty { return }
        let fragment = read.selector.fragment.name
        if let required = read.required {
            note(
                ExecutionEvent(
                    required.action == .throw
                        ? .missingRequiredFieldThrow : .missingRequiredFieldLog,
                    operation: fragment, path: required.path))
        }
        for error in read.errors {
            note(
                ExecutionEvent(
                    .fieldPayloadError, operation: fragment,
                    error: error.graphQLErrors.first, path: error.path))
        }
    }
}
