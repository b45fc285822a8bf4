import Digests
package import EventLog
import PostgreSQL

/// A server that uses a journal, as it says itself.
package struct JournalNode: Sendable, Hashable {
    package enum Role: String, Sendable {
        case writer
        case follower
    }

    package let name: String
    /// Where clients and other nodes reach it.
    package let address: String
    package let role: Role
    /// The newest that it knows.
    package let term: UInt64
    /// Its durable head.
    package let sequence: UInt64
    /// The hash of its state after an event, not always the newest.
    package let state: CheckpointMark?
    /// Tells one run of a node from another.
    package let instance: UInt64

    package init(
        name: String, address: String, role: Role, term: UInt64, sequence: UInt64,
        state: CheckpointMark?, instance: UInt64 = 0
    ) {
        self.instance = instance
        self.name = name
        self.address = address
        self.role = role
        self.term = term
        self.sequence = sequence
        self.state = state
    }
}

/// A journal and those who use it, at one moment.
package struct SharedJournalStatus: Sendable {
    package struct Node: Sendable {
        package let node: JournalNode
        /// How many events it is behind.
        package let lag: UInt64
        /// How long ago it said so, by PostgreSQL's clock.
        package let silence: Duration
    }

    package let history: JournalHistory
    package let head: JournalHead
    package let term: JournalTerm
    package let lease: JournalLease?
    /// By name.
    package let nodes: [Node]
    /// Of the frames, in PostgreSQL's files, with their indexes.
    package let byteCount: UInt64
    package let server: JournalServer
}

extension JournalConnection {
    /// Notes what a node says about itself. One that says nothing for long is forgotten (``forgetNodes(after:)``).
    /// - Parameter takesName: also if another run of the node was the last one to say something.
    /// - Returns: false if it was, so that nothing was noted.
    @discardableResult
    package func report(
        _ node: JournalNode, takesName: Bool = true
    ) throws(SharedJournalError) -> Bool {
        try ask(
            """
            INSERT INTO \(address.schema).nodes AS n
                (node, address, role, term, sequence, state_hash, hash_sequence, instance, seen)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, clock_timestamp())
            ON CONFLICT (node) DO UPDATE SET address = excluded.address, role = excluded.role,
                term = excluded.term, sequence = excluded.sequence,
                state_hash = excluded.state_hash, hash_sequence = excluded.hash_sequence,
                instance = excluded.instance, seen = excluded.seen
                WHERE $9 OR n.instance = excluded.instance
            RETURNING 1
            """,
            [
                .text(node.name), .text(node.address), .text(node.role.rawValue),
                .int(Int64(clamping: node.term)), .int(Int64(clamping: node.sequence)),
                node.state.map { .bytes($0.stateHash) } ?? .noBytes,
                node.state.map { .int(Int64(clamping: $0.sequence)) } ?? .noInt,
                .int(Int64(clamping: node.instance)), .bool(takesName),
            ]
        ).count > 0
    }

    /// A node takes no part any more.
    package func forget(node name: String, instance: UInt64) throws(SharedJournalError) {
        try ask(
            "DELETE FROM \(address.schema).nodes WHERE node = $1 AND instance = $2",
            [.text(name), .int(Int64(clamping: instance))])
    }

    /// The run of a node that was heard of last, and how long ago that was: less than zero if the server's clock was
    /// set back since then.
    package func lastRun(
        of name: String
    ) throws(SharedJournalError) -> (instance: UInt64, silence: Duration)? {
        let rows = try ask(
            """
            SELECT instance, (extract(epoch FROM clock_timestamp() - seen) * 1000)::bigint
            FROM \(address.schema).nodes WHERE node = $1
            """, [.text(name)])
        return try onServer { () throws(PostgreSQLError) in
            guard rows.count > 0 else { return nil }
            return (UInt64(clamping: try rows.int(0, 0)), .milliseconds(try rows.int(0, 1)))
        }
    }

    /// Removes nodes that were not heard of for a time.
    package func forgetNodes(after silence: Duration) throws(SharedJournalError) {
        try ask(
            """
            DELETE FROM \(address.schema).nodes
            WHERE seen < clock_timestamp() - $1 * interval '1 second'
            """, [.int(silence.components.seconds)])
    }

    package func status() throws(SharedJournalError) -> SharedJournalStatus {
        guard let history = try history() else { throw .noJournal(address) }
        let term = try term()
        let lease = try lease()
        // Before the head, so that no node is ahead of it.
        let found = try nodes()
        let head = try head(of: history)
        let rows = try ask(
            "SELECT pg_total_relation_size('\(address.schema).frames')")
        let bytes = try onServer { () throws(PostgreSQLError) in try rows.int(0, 0) }
        return SharedJournalStatus(
            history: history, head: head, term: term, lease: lease,
            nodes: found.map { node, silence in
                let lag = head.sequence - min(head.sequence, node.sequence)
                return SharedJournalStatus.Node(node: node, lag: lag, silence: silence)
            }, byteCount: UInt64(clamping: bytes), server: server)
    }

    /// By name, with how long ago each was heard of.
    func nodes() throws(SharedJournalError) -> [(JournalNode, Duration)] {
        let rows = try ask(
            """
            SELECT node, address, role, term, sequence, state_hash, hash_sequence,
                (extract(epoch FROM clock_timestamp() - seen) * 1000)::bigint
            FROM \(address.schema).nodes ORDER BY node
            """)
        var nodes: [(JournalNode, Duration)] = []
        do throws(PostgreSQLError) {
            for row in 0..<rows.count {
                var state: CheckpointMark?
                if let hash = try rows.bytesIfAny(row, 5), let at = try rows.intIfAny(row, 6) {
                    state = CheckpointMark(sequence: UInt64(clamping: at), stateHash: hash)
                }
                let node = JournalNode(
                    name: try rows.text(row, 0), address: try rows.text(row, 1),
                    role: JournalNode.Role(rawValue: try rows.text(row, 2)) ?? .follower,
                    term: UInt64(clamping: try rows.int(row, 3)),
                    sequence: UInt64(clamping: try rows.int(row, 4)), state: state)
                nodes.append((node, .milliseconds(try rows.int(row, 7))))
            }
        } catch {
            throw SharedJournalError(error)
        }
        return nodes
    }
}
