import EventLog
package import PostgreSQL

/// A connection to the server of a journal that was looked at: it does not lose what it acknowledges.
///
/// Not Sendable: for one thread at a time.
package final class JournalConnection {
    package let address: JournalAddress
    package let server: JournalServer
    private let connection: PostgreSQLConnection

    /// - Throws: `unavailable`, `unsafeServer`; `unknown` if it was given up.
    package init(
        _ address: JournalAddress, timeouts: PostgreSQLTimeouts = PostgreSQLTimeouts(),
        abandonment: Abandonment
    ) throws(SharedJournalError) {
        self.address = address
        connection = try onServer { () throws(PostgreSQLError) in
            try PostgreSQLConnection(
                address.database, timeouts: timeouts,
                settings: [
                    ("synchronous_commit", address.synchronousCommit),
                    // Each statement of our functions sees what was committed before it.
                    ("default_transaction_isolation", "read committed"),
                    // Only a warning says that a commit did not wait for its standby.
                    ("client_min_messages", "warning"),
                ], abandonment: abandonment)
        }
        server = try JournalServer(connection, address)
        // Known since PostgreSQL 14. A writer that has nothing to append stays connected.
        try ask("SELECT set_config('idle_session_timeout', '0', false)")
    }

    /// Connects to a server that takes writes. One that follows another may be behind that, and takes no append.
    /// - Throws: the same; `unavailable` if it takes none.
    package static func toPrimary(
        _ address: JournalAddress, timeouts: PostgreSQLTimeouts = PostgreSQLTimeouts(),
        abandonment: Abandonment
    ) throws(SharedJournalError) -> JournalConnection {
        let connection = try JournalConnection(
            address, timeouts: timeouts, abandonment: abandonment)
        guard connection.server.isStandby else { return connection }
        connection.close()
        throw .isStandby(address)
    }

    package var isOpen: Bool { connection.isOpen }

    package func close() { connection.close() }

    @discardableResult
    func run(
        _ statement: String, _ parameters: [PostgreSQLValue] = []
    ) throws(PostgreSQLError) -> PostgreSQLRows {
        try connection.run(statement, parameters)
    }

    /// The same, of what reads, or may be done twice.
    @discardableResult
    func ask(
        _ statement: String, _ parameters: [PostgreSQLValue] = []
    ) throws(SharedJournalError) -> PostgreSQLRows {
        do throws(PostgreSQLError) {
            return try connection.run(statement, parameters)
        } catch {
            let isMissing = [.undefinedTable, .undefinedFunction, .undefinedSchema]
                .contains(error.sqlState)
            throw isMissing ? .noJournal(address) : SharedJournalError(error)
        }
    }

    /// - Throws: `unavailable` if the last statement may be nowhere but on this server, though it was to wait for a
    ///   standby. A commit whose wait is cancelled says that in a warning.
    func checkStandbyHasIt() throws(SharedJournalError) {
        // PostgreSQL's warning has no code of its own, and is in the server's language. So any counts, but the one that
        // is known to come with what tells of an append: that the queue of notifications fills.
        guard connection.warnings.allSatisfy({ $0.function == "asyncQueueFillWarning" }) else {
            throw SharedJournalError(.unavailable, "\(address) did not wait for its standby.")
        }
    }

    /// Waits until a standby has everything that this connection can see, if commits wait for one.
    ///
    /// What a commit has not waited for can be seen when its wait was cancelled, or PostgreSQL was restarted meanwhile.
    /// - Throws: `unavailable`; without a standby, when nothing was heard for too long.
    package func waitForStandby() throws(SharedJournalError) {
        // Only a transaction that has written waits. This writes a record that nobody reads.
        try ask("SELECT pg_logical_emit_message(true, 'relay', '')")
        try checkStandbyHasIt()
    }

    /// One session of a server, which no other one is taken for.
    package struct Session: Sendable {
        fileprivate let process: Int64
        /// In microseconds since 1970.
        fileprivate let start: Int64
    }

    package func session() throws(SharedJournalError) -> Session {
        let rows = try ask(
            """
            SELECT pid::bigint, (extract(epoch FROM backend_start) * 1000000)::bigint
            FROM pg_stat_activity WHERE pid = pg_backend_pid()
            """)
        return try onServer { () throws(PostgreSQLError) in
            Session(process: try rows.int(0, 0), start: try rows.int(0, 1))
        }
    }

    /// Ends a session of the same role that waits for a standby and was given up, which PostgreSQL does not notice.
    package func end(_ session: Session) throws(SharedJournalError) {
        try ask(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE pid = $1 AND (extract(epoch FROM backend_start) * 1000000)::bigint = $2
            """, [.int(session.process), .int(session.start)])
    }

    // MARK: The journal

    /// The history in the journal; nil if there is no journal.
    package func history() throws(SharedJournalError) -> JournalHistory? {
        do throws(SharedJournalError) {
            let rows = try ask("SELECT \(JournalHistory.columns) FROM \(address.schema).history")
            return rows.count == 0 ? nil : try JournalHistory(rows, at: address)
        } catch  where error.code == .noJournal {
            return nil
        }
    }

    /// The history in the journal.
    /// - Throws: `noJournal`; `conflict` if it is not complete.
    package func completeHistory() throws(SharedJournalError) -> JournalHistory {
        guard let history = try history() else { throw .noJournal(address) }
        guard history.isComplete else { throw .incomplete(address) }
        return history
    }

    /// Makes a journal without frames.
    /// - Throws: `conflict` if there is one.
    package func create(_ history: JournalHistory) throws(SharedJournalError) {
        do throws(SharedJournalError) {
            try ask("BEGIN")
            // Whoever makes one at the same time waits here, and then finds it.
            try ask(
                "SELECT pg_advisory_xact_lock(hashtext($1)::bigint)", [.text(address.schema)])
            let isThere = try ask(
                "SELECT to_regclass($1) IS NOT NULL", [.text("\(address.schema).history")])
            guard try onServer({ () throws(PostgreSQLError) in try !isThere.bool(0, 0) }) else {
                throw SharedJournalError(
                    .conflict, "There is a journal in \(address) already. Nothing was changed.")
            }
            for statement in JournalTables(schema: address.schema).statements {
                try ask(statement)
            }
            let places = history.values.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
            try ask(
                "INSERT INTO \(address.schema).history (\(JournalHistory.columns)) VALUES (\(places))",
                history.values)
            try ask("COMMIT")
        } catch {
            if isOpen { _ = try? ask("ROLLBACK") }
            throw error
        }
    }

    // MARK: Notifications

    /// Has ``nextNotification(within:)`` tell of appends.
    package func listen() throws(SharedJournalError) {
        try onServer { () throws(PostgreSQLError) in try connection.listen(to: address.schema) }
    }

    /// Ends what ``listen()`` began.
    package func unlisten() throws(SharedJournalError) {
        try ask("UNLISTEN *")
    }

    /// Commits of this connection wait for no standby from now on.
    package func commitLocally() throws(SharedJournalError) {
        try ask("SET synchronous_commit = local")
    }

    /// Has everybody who listens look at the journal.
    package func wake() throws(SharedJournalError) {
        try ask("SELECT pg_notify($1, '')", [.text(address.schema)])
    }

    /// Forgets what was told of so far.
    package func forgetNotifications() throws(SharedJournalError) {
        try onServer { () throws(PostgreSQLError) in try connection.forgetNotifications() }
    }

    /// What was last told of in this time; nil for nothing. An append's is its last event.
    package func nextNotification(within time: Duration) throws(SharedJournalError) -> String? {
        try onServer { () throws(PostgreSQLError) in
            try connection.nextNotification(within: time)
        }
    }
}

/// What a server says about itself.
package struct JournalServer: Sendable, Hashable {
    /// As PostgreSQL writes it: 150018 is 15.18.
    package let version: Int64
    /// Whether a commit waits for another server, as far as this one is asked to
    /// (`synchronous_standby_names`).
    package let waitsForStandby: Bool
    /// Whether it follows another server, and takes no writes.
    package let isStandby: Bool

    static let oldestVersion: Int64 = 15_00_00

    fileprivate init(
        _ connection: PostgreSQLConnection, _ address: JournalAddress
    ) throws(SharedJournalError) {
        let fsync: String
        let fullPageWrites: String
        do throws(PostgreSQLError) {
            let rows = try connection.run(
                """
                SELECT current_setting('server_version_num')::bigint, current_setting('fsync'),
                    current_setting('full_page_writes'),
                    current_setting('synchronous_standby_names') <> '', pg_is_in_recovery()
                """)
            version = try rows.int(0, 0)
            fsync = try rows.text(0, 1)
            fullPageWrites = try rows.text(0, 2)
            waitsForStandby = try rows.bool(0, 3)
            isStandby = try rows.bool(0, 4)
        } catch {
            throw SharedJournalError(error)
        }
        guard version >= Self.oldestVersion else {
            throw .unsafeServer(
                address, "it is PostgreSQL \(version / 10_000), and 15 is the oldest that can")
        }
        guard fsync == "on" else {
            throw .unsafeServer(
                address,
                "its setting fsync is off, so a power loss would lose what it has acknowledged")
        }
        guard fullPageWrites == "on" else {
            throw .unsafeServer(
                address, "its setting full_page_writes is off, so a power loss could tear its pages"
            )
        }
    }
}
