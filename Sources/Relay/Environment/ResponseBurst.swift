@_spi(Rooms) import RelayStore
import Threads

/// Responses that arrived together: they are written to the store in one step, with one notification, and
/// then passed to their subscribers one by one, completions included. Each is read as it was written,
/// whatever later ones do to the same records.
///
/// A network that finds several responses waiting hands them over inside ``gather(_:)``. It never waits for
/// more, so that a lone response is not delayed:
///
///     ResponseBurst.gather {
///         for (subscriber, response) in waiting { subscriber.send(response) }
///     }
///
/// A step has at most 256 responses. Each response of a mutation is a step of its own.
public final class ResponseBurst: Sendable {
    /// Responses written in one step; then a screen gets its turn.
    static let limit = 256

    @TaskLocal private static var current: ResponseBurst?

    private let thread = currentThread()
    private let state = Lock(State())

    private struct State {
        var waiting: [Arrival] = []
        var isOpen = true

        mutating func takeWaiting() -> [Arrival] {
            defer { waiting = [] }
            return waiting
        }
    }

    /// What arrived from the network, and its recipient.
    enum Arrival {
        /// A response that answers no mutation.
        /// - Parameter isPart: whether it is a part of an earlier one.
        case response(OperationExecutor, OperationDescriptor, [UInt8], isPart: Bool)
        /// The end, with an error or without.
        case end(OperationExecutor, (any Error)?)

        var executor: OperationExecutor {
            switch self {
            case .response(let executor, _, _, _), .end(let executor, _): executor
            }
        }
    }

    private init() {}

    /// Calls the body; the responses that it passes on are written when it returns.
    public static func gather(_ body: () -> Void) {
        if gathering != nil { return body() }
        let burst = ResponseBurst()
        $current.withValue(burst, operation: body)
        burst.write()
        burst.state.withLock { $0.isOpen = false }
    }

    /// The burst that this call is part of; tasks started in it are not.
    private static var gathering: ResponseBurst? {
        guard let current, current.thread == currentThread(),
            current.state.withLock({ $0.isOpen })
        else { return nil }
        return current
    }

    // MARK: From executions

    /// Writes a response or reports an end: together with the burst that it is part of, or at once.
    static func add(_ arrival: Arrival) {
        guard let burst = gathering else { return write([arrival]) }
        let isFull = burst.state.withLock { state in
            state.waiting.append(arrival)
            return state.waiting.count >= limit
        }
        if isFull { burst.write() }
    }

    /// Writes and reports everything that arrived before something else.
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
        let payloads = arrivals.compactMap { arrival -> ArrivedPayload? in
            guard case .response(let executor, let operation, let response, let isPart) = arrival
            else { return nil }
            // As in Relay, the updater runs for the response, not for its parts.
            return ArrivedPayload(
                operation, response, updater: isPart ? nil : executor.storeUpdater,
                parts: executor.parts, taken: executor.noteOthers)
        }
        let results = Result { payloads.isEmpty ? [] : try store.commitPayloads(payloads) }
        var count = 0
        for arrival in arrivals {
            switch arrival {
            case .response(let executor, _, let response, _):
                executor.written(response, results.flatMap { $0[count] })
                count += 1
            case .end(let executor, let error): executor.networkEnded(error)
            }
        }
    }
}
