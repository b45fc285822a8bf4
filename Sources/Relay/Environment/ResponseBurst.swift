import RelayStore
import Synchronization

/// Responses that have come together: they are written to the store in one step, with one notification,
/// and then given to their subscribers one by one.
///
/// A network that finds several responses waiting hands them over inside ``gather(_:)``. It never waits for
/// more to come, so that a lone response is not delayed:
///
///     ResponseBurst.gather {
///         for (subscriber, response) in waiting { subscriber.send(response) }
///     }
///
/// At most 256 responses are one step. Responses of mutations are steps of their own.
public final class ResponseBurst: Sendable {
    /// Responses to be written in one step; then a screen gets its turn.
    static let limit = 256

    @TaskLocal private static var current: ResponseBurst?

    private let thread = currentThread()
    private let state = Mutex(State())

    private struct State {
        var waiting: [Arrival] = []
        var isOpen = true

        mutating func takeWaiting() -> [Arrival] {
            defer { waiting = [] }
            return waiting
        }
    }

    /// A response, and who is waiting for it.
    struct Arrival {
        let executor: OperationExecutor
        let operation: OperationDescriptor
        let response: [UInt8]
    }

    private init() {}

    /// Calls the body; the responses that it hands over are written when it returns.
    public static func gather(_ body: () -> Void) {
        if gathering != nil { return body() }
        let burst = ResponseBurst()
        $current.withValue(burst, operation: body)
        burst.write()
        burst.state.withLock { $0.isOpen = false }
    }

    /// The burst that this very call is part of; tasks that were begun in it are not.
    private static var gathering: ResponseBurst? {
        guard let current, current.thread == currentThread(),
            current.state.withLock({ $0.isOpen })
        else { return nil }
        return current
    }

    // MARK: From executions

    /// Has a response written: with those it came with, or at once.
    static func add(_ arrival: Arrival) {
        guard let burst = gathering else { return write([arrival]) }
        let isFull = burst.state.withLock { state in
            state.waiting.append(arrival)
            return state.waiting.count >= limit
        }
        if isFull { burst.write() }
    }

    /// Has everything written that came before something else.
    static func flush() { gathering?.write() }

    private func write() {
        while case let waiting = state.withLock({ $0.takeWaiting() }), !waiting.isEmpty {
            Self.write(waiting)
        }
    }

    private static func write(_ arrivals: [Arrival]) {
        // One network may serve several environments, each with a store of its own.
        var rest = arrivals[...]
        while let store = rest.first?.executor.environment.store {
            let same = rest.prefix { $0.executor.environment.store === store }
            rest = rest.dropFirst(same.count)
            write(same, to: store)
        }
    }

    private static func write(_ arrivals: ArraySlice<Arrival>, to store: Store) {
        let payloads = arrivals.map { arrival in
            ArrivedPayload(
                arrival.operation.selector, arrival.response,
                updater: arrival.executor.storeUpdater)
        }
        do {
            for (arrival, result) in zip(arrivals, try store.commitPayloads(payloads)) {
                arrival.executor.written(arrival, result)
            }
        } catch {
            for arrival in arrivals { arrival.executor.written(arrival, .failure(error)) }
        }
    }
}
