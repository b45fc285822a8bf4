public import Foundation
public import Publishing
public import RelayArtifacts

/// How operations reach a server. A program implements it, or takes one from `RelayNetwork`.
///
/// The runtime calls it when there is a subscriber to the publisher of a query, mutation or
/// subscription, and not before.
///
/// Not `Sendable`, so that any class can be one; see ``Environment``.
public protocol Network {
    /// Sends one operation.
    ///
    /// It may be called on any thread, and must not wait. Mutations of one environment are handed over one after the
    /// other: the next one when this returns.
    ///
    /// - Returns: a publisher of GraphQL responses as JSON (`data`, `errors`, `extensions`; GraphQL
    ///   §7.1), each of them whole. A query or mutation gives one and completes; a subscription gives
    ///   one for each event. Cancelling it ends the operation. What comes before the publisher is subscribed to must
    ///   not be lost, as it is with a `PassthroughSubject`: the subscriber may come later, from another thread.
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
    /// what the server knows a mutation by. With another name the mutation gets an id as well, and under that it
    /// is found after a restart (``ResumedMutation/transactionID``).
    public var transactionID: String?
    /// For a mutation: what the server knows it by. The networks of this package use it.
    package var mutationID: String?
    /// For a mutation: how often its connection ended before the answer came, and where to count that. The
    /// networks of this package use it.
    package var interruptions: Interruptions?
    /// For a stream: how its responses become records, if patches of records may stand for later ones.
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

    /// Whether a query is to be fetched again and again.
    var polls: Bool { poll.map { $0 > 0 } ?? false }
}

/// Why a network has no response, for what is sent again by itself: mutations that an earlier run of the program left
/// unfinished, and queries after a gap. Any other error counts as one about the way to the server.
public protocol NetworkFailure: Error {
    /// Whether it is about the operation that failed with it, so that it would fail with it again, and not about the
    /// way to the server. An unfinished mutation is then over; otherwise it stays, and those behind it wait for it.
    var endsMutation: Bool { get }
}

/// How often the connection of a mutation ended before its answer came.
package struct Interruptions: Sendable {
    /// In earlier lives of the program.
    package let count: UInt64
    /// An earlier life of the program has begun the mutation, and no screen waits for its answer.
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
