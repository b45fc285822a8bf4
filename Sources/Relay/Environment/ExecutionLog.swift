@_spi(Rooms) import RelayStore
@_spi(Rooms) import Threads

/// Delivers events to listeners, one at a time, in the order in which they were noted.
///
/// A delivered event is not kept, and without listeners nothing is noted. While listeners run on one thread, up to
/// ``waitingLimit`` events of other threads wait; beyond that the oldest are dropped, and the next event is a
/// `log.overflow` that counts them.
final class ExecutionLog: Sendable {
    typealias Listener = @Sendable (ExecutionEvent) -> Void

    private struct State {
        var listeners: [Int: Listener] = [:]
        var count = 0
        var waiting = FIFO<ExecutionEvent>()
        var droppedCount = 0
        var isDelivering = false
        /// The store's own events, observed while there are listeners.
        var observation: Retention?

        /// The next event and its listeners; nil ends the delivery.
        mutating func next() -> (event: ExecutionEvent, listeners: [Listener])? {
            if droppedCount > 0 {
                defer { droppedCount = 0 }
                return (
                    ExecutionEvent(.logOverflow, count: droppedCount), Array(listeners.values)
                )
            }
            guard let event = waiting.popFirst() else {
                isDelivering = false
                return nil
            }
            return (event, Array(listeners.values))
        }
    }

    private let store: Store
    private let state = Lock(State())
    /// How many events wait for slow listeners.
    static let waitingLimit = 1_024

    init(_ store: Store) { self.store = store }

    /// - Returns: what ends the listening.
    func listen(_ listener: @escaping Listener) -> Retention {
        let number = state.withLock { state in
            if state.observation == nil {
                state.observation = store.observe { [weak self] in self?.note(ExecutionEvent($0)) }
            }
            state.count += 1
            state.listeners[state.count] = listener
            return state.count
        }
        return Retention { [weak self] in self?.remove(number) }
    }

    private func remove(_ listener: Int) {
        let observation = state.withLock { state -> Retention? in
            state.listeners[listener] = nil
            guard state.listeners.isEmpty else { return nil }
            defer { state.observation = nil }
            return state.observation
        }
        observation?.cancel()
    }

    func stream(limit: Int) -> AsyncStream<ExecutionEvent> {
        AsyncStream(bufferingPolicy: .bufferingNewest(limit)) { continuation in
            let listening = listen { continuation.yield($0) }
            continuation.onTermination = { _ in listening.cancel() }
        }
    }

    /// Delivers an event. One that occurs during a delivery waits until that is done.
    func note(_ event: @autoclosure () -> ExecutionEvent) {
        let mustDeliver = state.withLock { state in
            if state.listeners.isEmpty { return false }
            if state.waiting.count == Self.waitingLimit {
                _ = state.waiting.popFirst()
                state.droppedCount += 1
            }
            state.waiting.append(event())
            defer { state.isDelivering = true }
            return !state.isDelivering
        }
        guard mustDeliver else { return }
        while let (event, listeners) = state.withLock({ $0.next() }) {
            for listener in listeners { listener(event) }
        }
    }

    /// The number of events that wait; for tests.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Notes what is wrong with fields that were read.
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
