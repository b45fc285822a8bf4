import Threads

/// Counts what a service has done since it started.
package final class ServiceCounters: Sendable {
    package struct Counts: Sendable {
        package var queries = 0
        package var mutations = 0
        /// Subscriptions and live queries started.
        package var subscriptions = 0
        /// Requests that were not executed, of any kind.
        package var refusals = 0
        /// Mutation root fields that were carried out and are durable.
        package var commits = 0
        /// How often the durable state advanced.
        package var publications = 0
        /// Subscription results handed to the transports.
        package var deliveries = 0
        /// Events read from the log for subscriptions that were away too long to catch up from memory.
        package var resumedEvents = 0
    }

    private let counts = Lock(Counts())

    package var now: Counts { counts.withLock { $0 } }

    /// Counts what was published together.
    func count(_ steps: [Step]) {
        count(\.publications)
        count(\.commits, steps.count { $0.publication.commit != nil })
    }

    func count(_ member: WritableKeyPath<Counts, Int>, _ number: Int = 1) {
        counts.withLock { $0[keyPath: member] += number }
    }
}
