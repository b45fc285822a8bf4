package import EventLog
package import PostgreSQL
@_spi(Rooms) package import RelayRecords
package import SharedJournal

/// How a node takes part in a cluster.
package struct MemberOptions: Sendable {
    package var journal: JournalAddress
    /// The node's name; no other node has it.
    package var node: String
    /// Where clients and other nodes reach it.
    package var address: String
    /// For how long the others leave a leader alone without hearing from it. It is renewed every third of it.
    package var lease = Duration.seconds(5)
    /// A follower looks for new frames at least this often, told of them or not.
    package var pollInterval = Duration.seconds(1)
    package var timeouts = PostgreSQLTimeouts()

    package init(journal: JournalAddress, node: String, address: String) {
        self.journal = journal
        self.node = node
        self.address = address
    }

    var candidate: JournalCandidate {
        JournalCandidate(node: node, address: address, lease: lease)
    }
}

/// What serves a node's state: it folds and publishes what others append, and carries mutations out while it leads.
package protocol ClusterDelegate: AnyObject, Sendable {
    /// It has been told that others append, and nothing of its own is on its way to the journal any more: what was has been
    /// published.
    var isAside: Bool { get }
    /// Whether it can take more events now; asked again a little later if not.
    var hasRoomToFollow: Bool { get }
    /// Takes the events of one frame, in log order, while ``isAside``.
    func follow(_ events: [Event]) throws
    /// This node may append from now on, and has followed everything that there is. Appends, and follows, what has to be
    /// there before it leads. Blocks.
    /// - Throws: if it cannot carry mutations out. Then it leaves that to others, and tries again later.
    func prepareToLead() throws
    /// This node appends from now on. Neither this one nor ``followOthers(leader:)`` may block; one is called at a time.
    func lead()
    /// Another node appends, or nobody does.
    /// - Parameter leader: where it is reached; nil if nobody is known.
    func followOthers(leader: String?)
    /// The hash of its state after an event, which other nodes have too; nil as long as none was made.
    var stateMark: CheckpointMark? { get }
    /// The node cannot go on: what the journal holds is damaged, or is not what this node has. Called once.
    func fail(_ reason: String)
}
