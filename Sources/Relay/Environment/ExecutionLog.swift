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
        var waiting = WaitingEvents(limit: ExecutionLog.waitingLimit)
        var isDelivering = false
        /// The store's own events, observed while there are listeners.
        var observation: Retention?

        /// The next event and its listeners; nil ends the delivery.
        mutating func next() -> (event: ExecutionEvent, listeners: [Listener])? {
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
        let reading = EventReading(limit: limit)
        let listening = listen { reading.add($0) }
        // The stream holds both.
        return AsyncStream {
            withExtendedLifetime(listening) {}
            return await reading.next()
        } onCancel: {
            listening.cancel()
            reading.end()
        }
    }

    /// Delivers an event. One that occurs during a delivery waits until that is done.
    func note(_ event: @autoclosure () -> ExecutionEvent) {
        let mustDeliver = state.withLock { state in
            if state.listeners.isEmpty { return false }
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

/// Events that wait, the oldest first. Beyond a limit the oldest are dropped, and the next event is a `log.overflow` that
/// counts them.
private struct WaitingEvents {
    let limit: Int
    private var events = FIFO<ExecutionEvent>()
    private var droppedCount = 0

    init(limit: Int) { self.limit = limit }

    var count: Int { events.count }

    mutating func append(_ event: ExecutionEvent) {
        if events.count == limit {
            _ = events.popFirst()
            droppedCount += 1
        }
        events.append(event)
    }

    mutating func popFirst() -> ExecutionEvent? {
        if droppedCount == 0 { return events.popFirst() }
        defer { droppedCount = 0 }
        return ExecutionEvent(.logOverflow, count: droppedCount)
    }
}

/// Events for one who asks for them.
private final class EventReading: Sendable {
    private typealias Reader = CheckedContinuation<ExecutionEvent?, Never>

    private struct State {
        var waiting: WaitingEvents
        var readers = FIFO<Reader>()
        var isEnded = false
    }

    private let state: Lock<State>

    init(limit: Int) { state = Lock(State(waiting: WaitingEvents(limit: limit))) }

    func add(_ event: ExecutionEvent) {
        let reader = state.withLock { state -> Reader? in
            if let reader = state.readers.popFirst() { return reader }
            state.waiting.append(event)
            return nil
        }
        reader?.resume(returning: event)
    }

    /// The next event, as soon as there is one; nil at the end.
    func next() async -> ExecutionEvent? {
        await withCheckedContinuation { reader in
            let event = state.withLock { state -> ExecutionEvent?? in
                if let event = state.waiting.popFirst() { return event }
                if state.isEnded { return .some(nil) }
                state.readers.append(reader)
                return nil
            }
            if let event { reader.resume(returning: event) }
        }
    }

    func end() {
        let readers = state.withLock { state in
            state.isEnded = true
            defer { state.readers = FIFO() }
            return state.readers
        }
        for reader in readers { reader.resume(returning: nil) }
    }
}
