package import GraphQLExecution
import RelayJSON
import RelayStore

/// Who gets the results of a subscription. The front has one for each operation of each connection.
package protocol SubscriptionSink: AnyObject, Sendable {
    /// Calls back, once, when there is room again, or at once when there is. Not called when the sink is
    /// no longer wanted before that.
    func whenDrained(_ action: @escaping @Sendable () -> Void)
}

extension SubscriptionSink {
    package func whenDrained(_ action: @escaping @Sendable () -> Void) { action() }
}

/// Something to be told to one sink.
package struct Delivery: Sendable {
    package enum Event: Sendable {
        /// A result; one response is shared by all sinks that get it.
        case next(Response)
        /// The subscription ends with errors, and nothing follows.
        case failed([ExecutionError])
        /// The subscription ends; there is nothing more to come.
        case completed
    }

    package let sink: any SubscriptionSink
    package let event: Event
}

/// All subscriptions that are the same question: equal operation and variables. Executed once for each
/// commit that concerns them, whatever their number.
final class SubscriptionGroup {
    struct Key: Hashable {
        let operation: ObjectIdentifier
        let variables: CoercedVariables
        /// Nil where nothing depends on who asks.
        let viewer: String?
    }

    /// What makes the group execute.
    enum Trigger {
        /// Mutations that match.
        case events(MutationEvents, arguments: JSONObject)
        /// A change of what the last result was read from.
        case live(Dependencies)
    }

    let key: Key
    /// Kept, so that the key's identity stays its own.
    let operation: PreparedOperation
    let plan: Plan
    var trigger: Trigger
    var sinks: [ObjectIdentifier: any SubscriptionSink] = [:]
    /// Of a live group: the last result, still open, and whether it has errors.
    var lastResult: (bytes: [UInt8], hasErrors: Bool)?

    init(_ key: Key, _ operation: PreparedOperation, _ plan: Plan, _ trigger: Trigger) {
        self.key = key
        self.operation = operation
        self.plan = plan
        self.trigger = trigger
    }
}
