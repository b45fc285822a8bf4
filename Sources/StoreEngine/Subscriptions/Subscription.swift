package import GraphQLExecution
import RelayJSON
@_spi(Rooms) import RelayRecords
import ResultPatches
import SchemaService

/// Receives the results of a subscription. The front end has one for each operation of each connection.
package protocol SubscriptionSink: AnyObject, Sendable {
    /// False once results are no longer wanted; it never becomes true again.
    var isWanted: Bool { get }

    /// Whether the peer's backlog is so large that a catching-up stream should add nothing to it. Bytes
    /// announced with `expect` count.
    var isFull: Bool { get }

    /// Announces that this many bytes of missed results are about to be delivered.
    func expect(missedBytes: Int)

    /// Calls back once: immediately if there is room, otherwise when there is. Not called if the sink is no
    /// longer wanted by then.
    func whenDrained(_ action: @escaping @Sendable () -> Void)
}

extension SubscriptionSink {
    package var isWanted: Bool { true }
    package var isFull: Bool { false }
    package func expect(missedBytes: Int) {}
    package func whenDrained(_ action: @escaping @Sendable () -> Void) { action() }
}

/// One event for one sink.
package struct Delivery: Sendable {
    package enum Event: Sendable {
        /// A sequence of events starts after this cursor; a client that takes none in time can resume there.
        case began(at: String)
        /// One of a sequence of results, none of which may be dropped. The response is shared by all
        /// recipients.
        case next(Response)
        /// Likewise, for a result that the subscription missed. The sink was checked for room beforehand, and
        /// takes it.
        case missed(Response)
        /// A result that supersedes earlier ones: an earlier one that is still waiting may be dropped.
        case latest(Response)
        /// The changes since the previous result and, for sinks that did not get that one, the full result,
        /// made only if needed.
        case patch(Response, full: @Sendable () -> Response)
        /// A resumed subscription has received everything it missed.
        case caughtUp
        /// The subscription ends with errors; nothing follows.
        case failed([ExecutionError])
        /// The subscription is complete; nothing follows.
        case completed
    }

    package let sink: any SubscriptionSink
    package let event: Event
}

/// The number and size of results in flight to sinks.
package struct DeliverySize: Sendable {
    package var count = 0
    /// Bytes of results; a shared result counts once.
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
    /// The size of its result; 0 if it has none.
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
    /// A result that a subscription missed. It counts against the sink's room from now on.
    static func missed(_ response: Response, to sink: any SubscriptionSink) -> Delivery {
        sink.expect(missedBytes: response.bytes.count)
        return Delivery(sink: sink, event: .missed(response))
    }
}

/// A subscription that starts or resumes.
struct SubscriptionRequest: Sendable {
    enum Start: Sendable {
        /// From the current durable state.
        case now
        /// After this cursor, if it is one of ours.
        case resume(String)
        /// After an event; the sink was notified that it resumes, and has everything up to there.
        case after(UInt64)
        /// From now, because the missed events could not be read.
        case lost
    }

    /// With the text of its document, so that it can be prepared again: for past states, whose symbols have other
    /// numbers, and after it has waited.
    let request: GraphQLRequest
    let sink: any SubscriptionSink
    /// Results after the first are sent as record patches.
    let sendsRecords: Bool
    /// Unconfirmed entries are shown.
    let showsOptimistic: Bool
    var start: Start
    /// The sink has been sent a whole result.
    var hasHadResult = false
    /// How often reading the missed events has failed.
    var failedReads = 0
    /// The event after which reading last failed.
    var failedAfter: UInt64?

    /// Results are split into records: for patches, or to find those that are not confirmed.
    var needsRecords: Bool { sendsRecords || showsOptimistic }

    func starting(_ start: Start) -> SubscriptionRequest {
        var request = self
        request.start = start
        return request
    }
}

/// A request whose operation is prepared. While a stream waits for its client, only the request is kept: what is
/// prepared may be a thousand times as large.
struct PreparedSubscription: Sendable {
    var request: SubscriptionRequest
    let operation: PreparedOperation
    let variables: CoercedVariables
    /// Nil unless it gets patches or shows what is expected.
    let normalization: Normalization?
    /// Approximate memory of the request, and of its variables as they were coerced.
    let ownByteCount: Int

    var sink: any SubscriptionSink { request.sink }
    var identity: Identity { request.request.identity }
}

/// All subscriptions with an equal operation and equal variables. Executed once per commit that concerns
/// them, however many there are.
final class SubscriptionGroup {
    /// Unique among all groups; never reused.
    typealias ID = UInt64

    struct Key: Hashable {
        let operation: ObjectIdentifier
        let variables: CoercedVariables
        /// What of the identity makes the results different.
        let scope: AccessScope
        let sendsRecords: Bool
        let showsOptimistic: Bool

        init(
            operation: ObjectIdentifier, variables: CoercedVariables, scope: AccessScope,
            sendsRecords: Bool = false, showsOptimistic: Bool = false
        ) {
            self.operation = operation
            self.variables = variables
            self.scope = scope
            self.sendsRecords = sendsRecords
            self.showsOptimistic = showsOptimistic
        }
    }

    /// What triggers an execution of the group.
    enum Trigger {
        /// Matching mutations.
        case events(EventQuestion)
        /// A change to data that the last result was read from.
        case live(Dependencies)
    }

    let id: ID
    let key: Key
    /// That of the first subscriber: the others' differ in nothing that matters.
    let identity: Identity
    /// Retained so that the key's object identity stays unique.
    let operation: PreparedOperation
    let plan: Plan
    var trigger: Trigger
    var sinks = SinkSet()
    var cost = GroupCost()
    /// The last result of a live group.
    var lastResult: ExecutedResult?
    /// For a group that gets patches or shows what is expected: turns its results into records.
    let normalizer: RecordNormalizer?
    let normalization: Normalization?
    /// For a live group that gets patches: the records of the last result; nil if they are too large or contradictory.
    var lastRecords: ResultRecords?
    /// For an event group that gets patches: the sinks that have had no result yet, and get the first one
    /// whole.
    var newSinks: Set<ObjectIdentifier> = []

    init(
        _ id: ID, _ key: Key, _ identity: Identity, _ operation: PreparedOperation, _ plan: Plan,
        _ trigger: Trigger, normalization: Normalization?
    ) {
        self.id = id
        self.key = key
        self.identity = identity
        self.operation = operation
        self.plan = plan
        self.trigger = trigger
        self.normalization = normalization
        normalizer = normalization?.normalizer(key.variables)
    }

    /// The normalizer of a group that gets patches.
    var patching: RecordNormalizer? { key.sendsRecords ? normalizer : nil }

    /// At least one sink still wants results.
    var isWanted: Bool { sinks.sinks.contains { $0.isWanted } }
}

/// A result without the server's notes: a response that is still open.
struct ExecutedResult: Sendable, Equatable {
    let bytes: [UInt8]
    let hasErrors: Bool
    /// What of it is not confirmed; nil if all of it is.
    var unconfirmed: Unconfirmed?

    /// The response, parsed; nil if it is nested so deeply that clients could not read its patch.
    var json: JSONObject? {
        let limits = JSONLimits(depth: JSONLimits().depth - Self.patchLevels)
        return (try? JSONValue(parsing: bytes + [UInt8(ascii: "}")], limits: limits))?.object
    }

    /// The levels around a field's value in a patch: the message, `payload`, `extensions`, `relay`, `records`, the
    /// record, its field and `value`.
    private static let patchLevels = 8

    /// Nil if they are too large or contradictory, or the result is nested too deeply: then it is only sent whole.
    func records(_ normalizer: RecordNormalizer) -> ResultRecords? {
        (json?["data"]).flatMap { normalizer.records(of: $0) }
    }

    static func == (left: ExecutedResult, right: ExecutedResult) -> Bool {
        left.bytes == right.bytes && left.unconfirmed == right.unconfirmed
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
