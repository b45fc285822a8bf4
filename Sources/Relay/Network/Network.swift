public import Foundation
public import Publishing
public import RelayArtifacts

/// How operations reach a server. A program implements it, or takes one from `RelayNetwork`.
///
/// The runtime calls it once the publisher of a query, mutation or subscription has a subscriber,
/// and not before.
///
/// Not `Sendable`, so that any class can conform; see ``Environment``.
public protocol Network {
    /// Sends one operation.
    ///
    /// It may be called on any thread, and must not wait. Mutations of one environment are passed one after another:
    /// the next one when this returns.
    ///
    /// - Returns: a publisher of GraphQL responses as JSON (`data`, `errors`, `extensions`; GraphQL §7.1), each of them
    ///   whole. A query or mutation emits one and completes; a subscription emits one for each event. Cancelling it
    ///   ends the operation. Values emitted before there is a subscriber must not be lost, as they are with a
    ///   `PassthroughSubject`: the subscriber may come later, from another thread.
    func execute(
        request: RequestParameters, variables: VariableData, cacheConfig: CacheConfig
    ) -> AnyPublisher<Data, any Error>
}

/// How one operation is to be fetched.
public struct CacheConfig {
    /// Fetch even if the network has a cached response. Always true for mutations.
    public var force: Bool
    /// Seconds after which a query is fetched again, for as long as it has a subscriber; nil, 0, less
    /// than that or NaN: once; less than 0.01: 0.01. Not for mutations and subscriptions.
    public var poll: TimeInterval?
    /// Anything that the network understands; the runtime passes it through.
    public var metadata: Any?
    /// Names this execution in execution events; nil: it gets a new name. A name of the form `CLIENT:N` is also
    /// the mutation's id at the server. With any other name the mutation gets an id as well, under which it is
    /// found after a restart (``ResumedMutation/transactionID``).
    public var transactionID: String?
    /// For a mutation: its id at the server. The networks of this package use it.
    package var mutationID: String?
    /// For a mutation: how often its connection ended before the answer arrived, and where to count that.
    /// The networks of this package use it.
    package var interruptions: Interruptions?
    /// For a stream: how its responses become records, if later ones may be sent as patches of records.
    package var patchable: NormalizationOperation?

    /// How an operation is to be fetched.
    /// - Parameters:
    ///   - force: fetch even if the network has a cached response.
    ///   - poll: seconds after which a query is fetched again, for as long as it has a subscriber.
    ///   - metadata: anything that the network understands.
    ///   - transactionID: names this execution in execution events.
    public init(
        force: Bool = false, poll: TimeInterval? = nil, metadata: Any? = nil,
        transactionID: String? = nil
    ) {
        self.force = force
        self.poll = poll
        self.metadata = metadata
        self.transactionID = transactionID
    }

    /// Whether a query is to be fetched repeatedly.
    var polls: Bool { poll.map { $0 > 0 } ?? false }
}

/// Why a network has no response, for what is resent automatically: mutations that an earlier run of the program left
/// unfinished, and queries after a gap. Any other error counts as a connection problem.
public protocol NetworkFailure: Error {
    /// Whether the failure is about the operation itself, so that it would recur, and not about the connection. If
    /// so, an unfinished mutation is over; otherwise it stays, and those after it wait for it.
    var endsMutation: Bool { get }
}

/// How often the connection of a mutation ended before its answer arrived.
package struct Interruptions: Sendable {
    /// In earlier runs of the program.
    package let count: UInt64
    /// An earlier run of the program started the mutation, and no screen waits for its answer.
    package let isResumed: Bool
    /// Counts one more, in the store's journal.
    package let note: @Sendable () -> Void

    package init(
        count: UInt64, isResumed: Bool = false, note: @escaping @Sendable () -> Void
    ) {
        self.count = count
        self.isResumed = isResumed
        self.note = note
    }
}
