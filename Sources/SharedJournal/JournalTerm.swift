import EventLog
import PostgreSQL

/// Who may append to a journal: the one row of `term`, and the lease that others respect.
package struct JournalTerm: Sendable, Hashable {
    /// 0 before there was a writer.
    package let term: UInt64
    package let writer: String?
}

/// A node's claim to be the writer.
package struct JournalCandidate: Sendable {
    package let node: String
    /// Where other nodes reach it.
    package let address: String
    /// For how long others leave it alone without hearing from it.
    package let lease: Duration

    package init(node: String, address: String, lease: Duration) {
        self.node = node
        self.address = address
        self.lease = lease
    }

    fileprivate var leaseMilliseconds: Int64 {
        let (seconds, attoseconds) = lease.components
        return seconds * 1000 + attoseconds / 1_000_000_000_000_000
    }
}

extension JournalConnection {
    /// The newest term.
    package func term() throws(SharedJournalError) -> JournalTerm {
        let rows = try ask("SELECT term, writer FROM \(address.schema).term")
        return try onServer { () throws(PostgreSQLError) in
            JournalTerm(
                term: UInt64(clamping: try rows.int(0, 0)), writer: try rows.textIfAny(0, 1))
        }
    }

    /// Makes a node the writer. Waits for an append that is running; whatever its writer appends afterwards is refused.
    ///
    /// - Parameters:
    ///   - seen: the newest term that the node knows of.
    ///   - respectsLease: not while another node's lease runs.
    /// - Returns: the new term, for a ``JournalWriter``.
    /// - Throws: `wrongTerm` with the newest term if another node was faster, or its lease runs. After `unavailable`
    ///   the term may have been raised, for nobody.
    package func raiseTerm(
        after seen: UInt64, by candidate: JournalCandidate, respectsLease: Bool = false
    ) throws(SharedJournalError) -> UInt64 {
        let rows = try ask(
            "SELECT raised, at_term FROM \(address.schema).raise_term($1, $2, $3, $4, $5)",
            [
                .int(Int64(clamping: seen)), .text(candidate.node), .text(candidate.address),
                .int(candidate.leaseMilliseconds), .bool(respectsLease),
            ])
        let (isRaised, term) = try onServer { () throws(PostgreSQLError) in
            (try rows.bool(0, 0), UInt64(clamping: try rows.int(0, 1)))
        }
        guard isRaised else {
            throw SharedJournalError(
                .wrongTerm(term),
                "Another node is the writer, or was faster to become it: the term is \(term). Nothing was "
                    + "changed.")
        }
        try checkStandbyHasIt()
        return term
    }

    /// Prolongs the writer's lease.
    /// - Returns: false if it is another's by now.
    package func renewLease(
        term: UInt64, of candidate: JournalCandidate
    ) throws(SharedJournalError) -> Bool {
        try ask(
            """
            UPDATE \(address.schema).lease SET renewed = clock_timestamp(),
                expires = clock_timestamp() + $3 * interval '1 millisecond', address = $4
            WHERE term = $1 AND node = $2 RETURNING 1
            """,
            [
                .int(Int64(clamping: term)), .text(candidate.node),
                .int(candidate.leaseMilliseconds), .text(candidate.address),
            ]
        ).count > 0
    }

    /// Ends the writer's lease, so that nobody has to wait for its end.
    package func giveUpLease(
        term: UInt64, of candidate: JournalCandidate
    ) throws(SharedJournalError) {
        try ask(
            """
            UPDATE \(address.schema).lease SET expires = clock_timestamp()
            WHERE term = $1 AND node = $2
            """, [.int(Int64(clamping: term)), .text(candidate.node)])
    }

    /// The lease that was given last; nil before there was one.
    package func lease() throws(SharedJournalError) -> JournalLease? {
        let rows = try ask(
            """
            SELECT term, node, address, CASE WHEN renewed > clock_timestamp() THEN 0
                ELSE (extract(epoch FROM expires - clock_timestamp()) * 1000)::bigint END
            FROM \(address.schema).lease
            """)
        return try onServer { () throws(PostgreSQLError) in
            guard rows.count > 0 else { return nil }
            return JournalLease(
                term: UInt64(clamping: try rows.int(0, 0)), node: try rows.text(0, 1),
                address: try rows.text(0, 2), remaining: .milliseconds(try rows.int(0, 3)))
        }
    }
}

/// Who is to be left alone as the writer, and for how long by the server's clock.
package struct JournalLease: Sendable, Hashable {
    package let term: UInt64
    package let node: String
    package let address: String
    /// Zero or less once it has run out, and if it was renewed later than now: the server's clock was set back.
    package let remaining: Duration
}
