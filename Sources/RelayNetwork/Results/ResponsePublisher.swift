import Foundation
import Synchronization

#if canImport(OpenCombine)
    import OpenCombine
#else
    import Combine
#endif

/// The responses to an operation as a publisher; each subscriber has an operation of its own.
///
/// One task takes responses as the subscriber demands them, so a slow subscriber holds the stream up.
struct ResponsePublisher: Publisher {
    typealias Output = Data
    typealias Failure = any Error

    private let begin: @Sendable () -> Responses

    init(_ begin: @escaping @Sendable () -> Responses) { self.begin = begin }

    func receive<S: Subscriber<Data, any Error>>(subscriber: S) {
        let subscription = ResponseSubscription(AnySubscriber(subscriber), begin())
        subscriber.receive(subscription: subscription)
    }
}

/// What connects one operation to one subscriber.
private final class ResponseSubscription: Subscription, @unchecked Sendable {
    // Unchecked: a subscriber is used by one task at a time, and never under the lock.
    private struct State {
        var subscriber: AnySubscriber<Data, any Error>?
        var demand = Subscribers.Demand.none
        var isRunning = false
    }

    private let lock = Mutex<Void>(())
    private var state: State
    private let responses: Responses

    init(_ subscriber: AnySubscriber<Data, any Error>, _ responses: Responses) {
        state = State(subscriber: subscriber)
        self.responses = responses
    }

    private func withState<Value>(_ body: (inout State) -> Value) -> Value {
        lock.withLock { _ in body(&state) }
    }

    func request(_ demand: Subscribers.Demand) {
        let starts = withState { state in
            state.demand += demand
            guard !state.isRunning, state.demand > .none, state.subscriber != nil else {
                return false
            }
            state.isRunning = true
            return true
        }
        if starts { Task { await self.run() } }
    }

    func cancel() {
        // Given up outside the lock, as it may end in user code.
        let subscriber = withState { state in
            defer { state.subscriber = nil }
            return state.subscriber
        }
        _ = subscriber
        responses.cancel()
    }

    /// Delivers as long as there is demand.
    private func run() async {
        let iterator = responses.makeAsyncIterator()
        while takeDemand() {
            do {
                guard let response = try await iterator.next() else { return end(.finished) }
                guard let subscriber = withState({ $0.subscriber }) else { return }
                let more = subscriber.receive(Data(response))
                withState { $0.demand += more }
            } catch {
                return end(.failure(error))
            }
        }
    }

    /// - Returns: whether one more may be delivered; if not, the task ends.
    private func takeDemand() -> Bool {
        withState { state in
            guard state.subscriber != nil, state.demand > .none else {
                state.isRunning = false
                return false
            }
            state.demand -= 1
            return true
        }
    }

    private func end(_ completion: Subscribers.Completion<any Error>) {
        let subscriber = withState { state in
            defer { state.subscriber = nil }
            return state.subscriber
        }
        subscriber?.receive(completion: completion)
    }
}
