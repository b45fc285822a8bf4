import Publishing
import RelayLink
@_spi(Rooms) import Threads

/// The responses to an operation as a publisher; each subscriber has its own operation.
///
/// Responses are read as the subscriber demands them, so a slow subscriber exerts back-pressure on its
/// stream; responses of one network are delivered in order of arrival.
struct ResponsePublisher: Publisher {
    typealias Output = [UInt8]
    typealias Failure = any Error

    private let order: DeliveryOrder
    private let patched: WholeResults?
    private let begin: @Sendable () -> Responses

    /// - Parameter patched: for a stream that may send patches of records.
    init(
        in order: DeliveryOrder, patched: WholeResults? = nil,
        _ begin: @escaping @Sendable () -> Responses
    ) {
        self.order = order
        self.patched = patched
        self.begin = begin
    }

    func receive<S: Subscriber<[UInt8], any Error>>(subscriber: S) {
        let subscription = ResponseSubscription(
            AnySubscriber(subscriber), begin(), order, patched)
        subscriber.receive(subscription: subscription)
        subscription.start()
    }
}

/// Connects one operation to one subscriber.
private final class ResponseSubscription: Subscription, @unchecked Sendable {
    // Unchecked: a subscriber is used only in the network's delivery order, and never under the lock.
    private struct State {
        var subscriber: AnySubscriber<[UInt8], any Error>?
        var demand = Subscribers.Demand.none
        /// Responses, including the end, whose turn has come.
        var dueCount = 0
    }

    private let lock = Lock<Void>(())
    private var state: State
    private let responses: Responses
    private let order: DeliveryOrder
    /// Used only in the delivery order, as is what it has left when the stream has ended.
    private var patched: WholeResults?
    private var rest: (responses: FIFO<[UInt8]>, end: Result<Void, TransportError>)?

    init(
        _ subscriber: AnySubscriber<[UInt8], any Error>, _ responses: Responses,
        _ order: DeliveryOrder, _ patched: WholeResults?
    ) {
        self.patched = patched
        state = State(subscriber: subscriber)
        self.responses = responses
        self.order = order
    }

    /// Not before the subscriber has its subscription: an operation may have ended at once, and operators drop an end
    /// that comes first.
    func start() {
        // Retained until the end of the responses, which releases the listener.
        responses.channel.listen {
            self.order.perform {
                self.withState { $0.dueCount += 1 }
                self.deliver()
            }
        }
    }

    private func withState<Value>(_ body: (inout State) -> Value) -> Value {
        lock.withLock { _ in body(&state) }
    }

    func request(_ demand: Subscribers.Demand) {
        withState { $0.demand += demand }
        order.perform { self.deliver() }
    }

    func cancel() {
        // Released outside the lock, as this may call user code.
        let subscriber = withState { state in
            defer { state.subscriber = nil }
            return state.subscriber
        }
        _ = subscriber
        responses.cancel()
    }

    /// Delivers what is due: responses while there is demand, the end even without.
    private func deliver() {
        while let (subscriber, hasDemand) = takeDue() {
            switch next(hasDemand) {
            case .response(let response, _):
                // A response that is not delivered leaves the demand unchanged.
                let more = whole(response).map { subscriber.receive($0) } ?? .max(1)
                withState { $0.demand += more }
            case .end(.success): return end(.finished)
            case .end(.failure(let error)): return end(.failure(error))
            case .waits:
                return withState { state in
                    if hasDemand { state.demand += 1 } else { state.dueCount += 1 }
                }
            }
        }
    }

    /// What can be delivered now.
    private func next(_ hasDemand: Bool) -> ResponseChannel.Next {
        if rest == nil {
            let next = hasDemand ? responses.channel.poll() : responses.channel.pollEnd()
            guard case .end(let end) = next, let left = patched?.end() else { return next }
            var waiting = FIFO<[UInt8]>()
            waiting.append(contentsOf: left.responses)
            rest = (waiting, end.flatMap { left.loss.map(Result.failure) ?? .success(()) })
            withState { $0.dueCount += left.responses.count }
        }
        guard let end = rest?.end else { return .waits }
        if rest?.responses.isEmpty ?? true { return .end(end) }
        guard hasDemand, let response = rest?.responses.popFirst() else { return .waits }
        return .response(response, wasFull: false)
    }

    /// A response in the form the subscriber gets it; nil if it gets none.
    private func whole(_ response: [UInt8]) -> [UInt8]? {
        guard let step = patched?.receive(response) else { return response }
        if step.renounces { responses.renounceRecords(step.cursor) }
        return step.response
    }

    /// - Returns: the subscriber, if something can be delivered, and whether that may be a response.
    private func takeDue() -> (AnySubscriber<[UInt8], any Error>, hasDemand: Bool)? {
        withState { state in
            guard let subscriber = state.subscriber, state.dueCount > 0 else { return nil }
            let hasDemand = state.demand > .none
            if hasDemand { state.demand -= 1 }
            state.dueCount -= 1
            return (subscriber, hasDemand)
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
