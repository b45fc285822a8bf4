package import GraphQLExecution
import RelayJSON
@_spi(Rooms) import RelayRecords
import ResultPatches
import SchemaService

/// Who gets the results of a subscription. The front has one for each operation of each connection.
package protocol SubscriptionSink: AnyObject, Sendable {
    /// False once results are not wanted any more; for good.
    var isWanted: Bool { get }

    /// More waits for the peer than a stream that catches up should add to. What was said to be on its way waits, too.
    var isFull: Bool { get }

    /// So many bytes of what the subscription has missed are about to be delivered.
    func expect(missedBytes: Int)

    /// Calls back, once, when there is room again, or at once when there is. Not called when the sink is
    /// no longer wanted before that.
    func whenDrained(_ action: @escaping @Sendable () -> Void)
}

extension SubscriptionSink {
    package var isWanted: Bool { true }
    package var isFull: Bool { false }
    package func expect(missedBytes: Int) {}
    package func whenDrained(_ action: @escaping @Sendable () -> Void) { action() }
}

/// Something to be told to one sink.
package struct Delivery: Sendable {
    package enum Event: Sendable {
        /// A sequence of events begins behind this cursor; a client that takes none in time can go on there.
        case began(at: String)
        /// One of a sequence of results, each of which counts. One response is shared by all who get it.
        case next(Response)
        /// The same, of those that the subscription has missed. The sink was asked for room before, and takes it.
        case missed(Response)
        /// A result that takes the place of those before it: one that waits may be dropped for it.
        case latest(Response)
        /// What has changed since the result before it, and, for sinks that did not get that one, the result itself: made
        /// only if it is needed.
        case patch(Response, full: @Sendable () -> Response)
        /// A subscription that was to go on has been told everything that it had missed.
        case caughtUp
        /// The subscription ends with errors, and nothing follows.
        case failed([ExecutionError])
        /// The subscription ends; there is nothing more to come.
        case completed
    }

    package let sink: any SubscriptionSink
    package let event: Event
}

/// How many results are on their way to sinks, and how large they are.
package struct DeliverySize: Sendable {
    package var count = 0
    /// Of results; one that many get counts once.
    package var byteCount = 0

    static func += (size: inout DeliverySize, other: DeliverySize) {
        size.count += other.count
        size.byteCount += other.byteCount
    }

    func isBelow(_ limit: DeliverySize) -> Bool {
        count < limit.count && byteCount < limit.byteCount
    }
}

extension Delivery.Event {
    /// Of the result that it brings, if it brings one.
    var resultByteCount: Int {
        switch self {
        case .next(let response), .missed(let response), .latest(let response),
            .patch(let response, full: _):
            response.bytes.count
        case .began, .caughtUp, .failed, .completed: 0
        }
    }
}

extension Delivery {
    /// A result that a subscription has missed. It counts against the sink's room from now on.
    static func missed(_ response: Response, to sink: any SubscriptionSink) -> Delivery {
        sink.expect(missedBytes: response.bytes.count)
        return Delivery(sink: sink, event: .missed(response))
    }
}

/// A subscription that begins, or goes on.
struct SubscriptionRequest: Sendable {
    enum Start: Sendable {
        /// With what is durable now.
        case now
        /// Behind this cursor, if it is one of ours.
        case resume(String)
        /// Behind an event; the sink has been told that it goes on, and everything up to there.
        case after(UInt64)
        /// Now, because what was missed could not be had.
        case lost
    }

    let operation: PreparedOperation
    let variables: CoercedVariables
    /// As the client sent it, for executions under other numbers for names: those of the past.
    let request: GraphQLRequest
    let sink: any SubscriptionSink
    /// Results after the first come as patches of records.
    let sendsRecords: Bool
    /// Entries that are not confirmed are shown.
    let showsOptimistic: Bool
    var start: Start
    /// The sink has been told a whole result.
    var hasHadResult = false
    /// How often what it has missed could not be read.
    var failedReads = 0
    /// The event behind which the last of them failed.
    var failedAfter: UInt64?

    func starting(_ start: Start) -> SubscriptionRequest {
        var request = self
        request.start = start
        return request
    }
}

/// All subscriptions that are the same question: equal operation and variables. Executed once for each
/// commit that concerns them, whatever their number.
final class SubscriptionGroup {
    /// Tells groups apart; never used again.
    typealias ID = UInt64

    struct Key: Hashable {
        let operation: ObjectIdentifier
        let variables: CoercedVariables
        private let exactViewer: ExactText?
        let sendsRecords: Bool
        let showsOptimistic: Bool

        /// Nil where nothing depends on who asks.
        var viewer: String? { exactViewer?.text }

        init(
            operation: ObjectIdentifier, variables: CoercedVariables, viewer: String?,
            sendsRecords: Bool = false, showsOptimistic: Bool = false
        ) {
            self.operation = operation
            self.variables = variables
            exactViewer = viewer.map { ExactText($0) }
            self.sendsRecords = sendsRecords
            self.showsOptimistic = showsOptimistic
        }
    }

    /// What makes the group execute.
    enum Trigger {
        /// Mutations that match.
        case events(EventQuestion)
        /// A change of what the last result was read from.
        case live(Dependencies)
    }

    let id: ID
    let key: Key
    /// Kept, so that the key's identity stays its own.
    let operation: PreparedOperation
    let plan: Plan
    var trigger: Trigger
    var sinks = SinkSet()
    /// Of a live group: the last result.
    var lastResult: ExecutedResult?
    /// Of a group that gets patches: makes records of its results.
    let normalizer: RecordNormalizer?
    /// Of a live one among these: the records of the last result.
    var lastRecords = ResultRecords()
    /// Of a group of events that gets patches: those who have had no result yet, and are to get the first whole.
    var newSinks: Set<ObjectIdentifier> = []

    init(
        _ id: ID, _ key: Key, _ operation: PreparedOperation, _ plan: Plan, _ trigger: Trigger,
        normalizer: RecordNormalizer?
    ) {
        self.id = id
        self.key = key
        self.operation = operation
        self.plan = plan
        self.trigger = trigger
        self.normalizer = normalizer
    }

    /// Some sink still wants results.
    var isWanted: Bool { sinks.sinks.contains { $0.isWanted } }
}

/// A result without what the server says about it: a response that is still open.
struct ExecutedResult: Sendable, Equatable {
    let bytes: [UInt8]
    let hasErrors: Bool
    /// It shows entries that are not confirmed.
    var isOptimistic = false

    /// The response, read back.
    var json: JSONValue { (try? JSONValue(parsing: bytes + [UInt8(ascii: "}")])) ?? .null }

    static func == (left: ExecutedResult, right: ExecutedResult) -> Bool {
        left.bytes == right.bytes && left.isOptimistic == right.isOptimistic
    }
}

extension Execution {
    /// Executes the operation.
    /// - Parameter source: the value of a subscription's field, if it has one.
    mutating func result(source: ObjectValue? = nil) -> ExecutedResult {
        let bytes = response(source: source, isOpen: true)
        return ExecutedResult(bytes: bytes, hasErrors: !errors.isEmpty)
    }

    /// Executes a subscription for an event.
    mutating func result(of event: Result<ObjectValue, ExecutionError>) -> ExecutedResult {
        let bytes = response(toEvent: event, isOpen: true)
        return ExecutedResult(bytes: bytes, hasErrors: !errors.isEmpty)
    }
}
