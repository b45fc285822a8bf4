import Threads

/// What a service has done since it was started.
package final class ServiceCounters: Sendable {
    package struct Counts: Sendable {
        package var queries = 0
        package var mutations = 0
        /// Subscriptions and live queries that were started.
        package var subscriptions = 0
        /// Requests that were not executed, whatever they were.
        package var refusals = 0
        /// Root fields of mutations that were carried out and are durable.
        package var commits = 0
        /// Times that the durable state has moved on.
        package var publications = 0
        /// Results of subscriptions that were handed to the transports.
        package var deliveries = 0
        /// Events read from the log for subscriptions that were away for longer than memory reaches.
        package var resumedEvents = 0
    }

    private let counts = Lock(Counts())

    package var now: Counts { counts.withLock { $0 } }

    func count(_ member: WritableKeyPath<Counts, Int>, _ number: Int = 1) {
        counts.withLock { $0[keyPath: member] += number }
    }
}
