import GraphQLExecution
@_spi(Rooms) package import RelayRecords
import Threads

/// A mutation for the server that appends to the journal.
package struct HandedMutation: Sendable {
    package let request: GraphQLRequest
    /// When it came.
    package let since: ContinuousClock.Instant
    /// It was sent to such a server before, which has not answered.
    package let mayBeDone: Bool

    package init(
        _ request: GraphQLRequest, since: ContinuousClock.Instant = .now, mayBeDone: Bool = false
    ) {
        self.request = request
        self.since = since
        self.mayBeDone = mayBeDone
    }
}

/// Sends a mutation to the server that appends to the journal.
///
/// The answer is called once: with that server's response, whose cursor says which event it needs, or with what is
/// known when there is none. `overtaken` means that it may be carried out now, by whoever leads then.
package typealias MutationForwarder =
    @Sendable (
        _ mutation: HandedMutation, _ answer: @escaping @Sendable (Outcome) -> Void
    ) -> Void

/// Which of the servers that share a journal appends to it.
///
/// A server that follows folds what the leader appends (``GraphQLService/follow(_:)``) and hands mutations on. The
/// append itself is the fence: a server that wrongly believes that it leads has its appends refused by the journal.
final class Leadership: Sendable {
    private struct State {
        /// Nil while this server leads.
        var forwarder: MutationForwarder?
        var isShared: Bool
    }

    private let state: Lock<State>

    init(following forwarder: MutationForwarder? = nil) {
        state = Lock(State(forwarder: forwarder, isShared: forwarder != nil))
    }

    /// Where mutations go; nil if this server carries them out.
    var forward: MutationForwarder? { state.withLock { $0.forwarder } }

    /// Whether other servers append to the journal, too.
    var isShared: Bool { state.withLock { $0.isShared } }

    func set(_ forward: MutationForwarder?) {
        state.withLock { state in
            state.forwarder = forward
            state.isShared = true
        }
    }
}

extension GraphQLService {
    /// Whether this server appends to the journal.
    package var isLeading: Bool { leadership.forward == nil }

    /// Folds and publishes events that another server has appended, in log order.
    ///
    /// Called by one thread at a time, while ``isAside``.
    /// - Parameter events: appended together, in one piece or several.
    /// - Throws: if they do not follow the newest state. Nothing is published then.
    package func follow(_ events: [Event]) throws(FoldError) {
        let foreign = try ForeignEvents(events, behind: snapshot, service: schemaService)
        for change in foreign.schemaChanges { recent.noteSchemaChange(at: change) }
        health.noteAppended()
        durable.advance(to: foreign.head) {
            counters.count(foreign.steps)
            onDurable(foreign.head)
            publisher.post(foreign.steps)
        }
    }

    /// Whether subscriptions have taken enough of what was published to ``follow(_:)`` more.
    package var hasRoomToFollow: Bool { publisher.hasRoom }

    /// Whether nothing of this server's own is on its way to the journal, or will be before ``lead()``.
    package var isAside: Bool { writer.isAside }

    /// From now on this server carries mutations out. It must be ``isAside``, and have followed everything that others
    /// have appended.
    ///
    /// Mutations whose handlers waited on another server are revoked: nothing works on them now.
    package func lead() {
        writer.takeOver(from: snapshot)
        leadership.set(nil)
    }

    /// From now on mutations are handed on. Those on their way to the journal are answered as it says; soon the server is
    /// ``isAside``.
    package func followOthers(_ forward: @escaping MutationForwarder) {
        leadership.set(forward)
        writer.standAside()
    }
}
