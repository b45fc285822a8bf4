import Disk
import EventLog
package import EventStore
import PostgreSQL
@_spi(Rooms) package import RelayRecords
package import SharedJournal
import Threads

/// A node of a cluster: a data directory that is a copy of a journal, and the threads that keep it one.
///
/// One thread follows the journal, another holds or awaits the lease. Each has a connection of its own, and so has the
/// writer. A node that was overtaken, or could not renew its lease, follows again; the journal refuses its frames from
/// the moment another one has raised the term, whatever this node believes.
package final class ClusterMember: Sendable {
    package let options: MemberOptions
    package let history: JournalHistory
    /// Tells this run from others of the same name.
    let instance = UInt64.random(in: 0..<1 << 62)
    private let journal: FileJournal
    private let state: Monitor<MemberState>
    private let abandonment: Abandonment
    private let report: @Sendable (String) -> Void
    private let delegate = Lock<WeakDelegate>(WeakDelegate())
    private let threads = Lock<[BlockingThread]>([])
    /// Held while the delegate is told its role, so that it is told one thing at a time.
    private let telling = Lock(())

    private struct WeakMember: Sendable { weak var value: ClusterMember? }

    private struct WeakDelegate: Sendable { weak var value: (any ClusterDelegate)? }

    /// Brings a directory up to date with a journal, and opens it. A journal without a history gets one.
    ///
    /// A copy that cannot be read is moved aside and fetched again. Blocks.
    /// - Parameters:
    ///   - directory: missing, empty, or a copy of this journal.
    ///   - report: told in sentences what is out of the ordinary, now and later.
    /// - Throws: ``SharedJournalError``, ``EventStoreError``: nothing but the copy was changed.
    package static func join(
        _ options: MemberOptions, directory: String, indexes: [IndexDefinition] = [],
        storeOptions: EventStoreOptions = EventStoreOptions(),
        report: @escaping @Sendable (String) -> Void = { _ in }
    ) throws -> (member: ClusterMember, store: EventStore) {
        let abandonment = try Abandonment()
        let connection = try JournalConnection.toPrimary(
            options.journal, timeouts: options.timeouts, abandonment: abandonment)
        defer { connection.close() }
        var copy = JournalCopy(directory, fileSystem: storeOptions.fileSystem)
        copy.setsAsideBeginnings = true
        let history = try connection.historyOrNew { () throws(SharedJournalError) in
            try copy.isThere()
        }
        let state = Monitor(MemberState())
        let joined = Lock(WeakMember())
        let committer = MemberCommitter(state, report: report) { term in
            joined.withLock { $0.value }?.follow(after: term)
        }
        var storeOptions = storeOptions
        // What a crash loses here is fetched again.
        storeOptions.log.durability = .batch
        storeOptions.log.shared = SharedHistory(
            storeID: history.storeID, epoch: history.epoch, committer: committer)
        storeOptions.log.onFreeze = { [onFreeze = storeOptions.log.onFreeze] error in
            onFreeze?(error)
            joined.withLock { $0.value }?.fail(error.message)
        }
        let store = try usable(copy, report) {
            try copy.update(from: connection, history)
            return try EventStore.open(directory, indexes: indexes, options: storeOptions)
        }
        let member = ClusterMember(
            options, history, store.journal, state, abandonment, report)
        joined.withLock { $0.value = member }
        return (member, store)
    }

    /// What is made of a copy; of a new one, if that has found damage. Fetching reads only where the copy goes on, and
    /// opening reads the rest, or what is behind its newest checkpoint.
    private static func usable(
        _ copy: JournalCopy, _ report: (String) -> Void, _ make: () throws -> EventStore
    ) throws -> EventStore {
        do {
            return try make()
        } catch {
            guard error.isDamageOfCopy else { throw error }
            let aside = try copy.setAside()
            report(
                """
                The copy of the journal in \(copy.directory) cannot be used: it was moved to \(aside), and is fetched \
                again. \(error)
                """)
            return try make()
        }
    }

    private init(
        _ options: MemberOptions, _ history: JournalHistory, _ journal: FileJournal,
        _ state: Monitor<MemberState>, _ abandonment: Abandonment,
        _ report: @escaping @Sendable (String) -> Void
    ) {
        self.options = options
        self.history = history
        self.journal = journal
        self.state = state
        self.abandonment = abandonment
        self.report = report
    }

    /// Begins to follow, and to lead when it is this node's turn.
    /// - Parameter delegate: not retained; its state is the one that the store was opened with.
    package func start(_ delegate: any ClusterDelegate) {
        self.delegate.withLock { $0.value = delegate }
        tellRole()
        let started = [
            BlockingThread { [self] in FollowLoop(self).run() },
            BlockingThread { [self] in LeaseLoop(self).run() },
        ]
        threads.withLock { $0 = started }
    }

    /// Ends its threads, and the lease if it has it, so that the next leader need not wait. An append that still waits for
    /// the journal after ``stopPatience`` ends with an unknown outcome. Blocks; the store must be closed afterwards.
    package func stop() {
        let term = state.update { state in
            state.isStopped = true
            return state.role.term
        }
        // What is not on its way yet is refused, rather than cut off.
        follow()
        let deadline = ContinuousClock.now + Self.stopPatience
        while let target, !target.isAside, .now < deadline,
            abandonment.sleep(for: .milliseconds(1))
        {}
        abandonment.abandon()
        for thread in threads.withLock({ $0 }) { thread.join() }
        // Only one that this run has raised: another server may have the same name.
        leave(giveUp: [term, state.withLock { $0.raisedTerm }].compactMap(\.self).max())
    }

    /// How long ``stop()`` waits for an append, and for PostgreSQL.
    static let stopPatience = Duration.seconds(1)

    /// On a connection of its own: the others have been given up.
    private func leave(giveUp term: UInt64?) {
        var timeouts = options.timeouts
        timeouts.limit(to: Self.stopPatience)
        guard let last = try? Abandonment(),
            let connection = try? JournalConnection(
                options.journal, timeouts: timeouts, abandonment: last)
        else { return }
        defer { connection.close() }
        // Nobody has to wait for a standby to hear of it, as for a lease.
        try? connection.commitLocally()
        if let term { try? connection.giveUpLease(term: term, of: options.candidate) }
        try? connection.forget(node: options.node, instance: instance)
    }

    /// Gives an empty journal its first events, unless another node does. Returns when it has some; the store, which has
    /// none of them, must be closed and joined again. Blocks.
    ///
    /// Not after ``start(_:)``.
    /// - Throws: ``SharedJournalError``, ``JournalError``.
    package func found(_ events: [NewEvent]) throws {
        let connection = try connect()
        defer { connection.close() }
        while try connection.head(of: history).sequence == 0 {
            let term = try connection.term().term
            let mine: UInt64
            do throws(SharedJournalError) {
                mine = try connection.raiseTerm(
                    after: term, by: options.candidate, respectsLease: true)
            } catch {
                guard case .wrongTerm = error.code else { throw error }
                // Another one is at it. If it fails, its lease ends.
                guard abandonment.sleep(for: .milliseconds(50)) else { return }
                continue
            }
            try append(events, for: mine, connection)
        }
    }

    private func append(
        _ events: [NewEvent], for term: UInt64, _ connection: JournalConnection
    ) throws {
        let writer = JournalWriter(
            options.journal, term: term, timeouts: options.timeouts, abandonment: abandonment,
            report: report)
        state.update { state in
            state.beCandidate(term: term)
            _ = state.lead(writer, from: options.address)
        }
        defer { state.update { _ = $0.follow(after: term) } }
        let outcome = Monitor<Result<UInt64, JournalError>?>(nil)
        // Nobody else can append for as long as the term is this one.
        if try connection.head(of: history).sequence == 0 {
            journal.append(events, expecting: 0) { result in outcome.update { $0 = result } }
            let result = outcome.wait { $0 }
            if case .failure(let error) = result, !error.isOvertaken { throw error }
        }
        try connection.giveUpLease(term: term, of: options.candidate)
    }

    /// What is known of the node now.
    package var status: ClusterStatus {
        let (now, sequence) = (state.withLock { $0 }, journal.durableHead.sequence)
        return ClusterStatus(
            role: now.role, term: now.newestTerm, leader: now.leader, sequence: sequence,
            lag: now.lag(of: sequence),
            lagTime: now.lastError == nil && now.lag(of: sequence) == 0
                ? .zero : .now - now.caughtUpAt,
            failovers: now.failovers, lastError: now.lastError,
            appendError: now.appendErrorAt + options.lease > .now ? now.appendError : nil,
            appendTime: now.appendSince.map { .now - $0 } ?? .zero,
            leaseTrouble: now.leaseError == nil ? .zero : .now - now.leaseErrorSince,
            failure: now.failure)
    }

    // MARK: For its threads

    var target: (any ClusterDelegate)? { delegate.withLock { $0.value } }

    /// Stops leading, if this was its term.
    func follow(after term: UInt64? = nil) {
        guard state.update({ $0.follow(after: term) }) else { return }
        tellRole()
        report("\(options.node) follows.")
    }

    /// Tells the delegate who leads now. Whoever has changed that calls this afterwards, so what it is told last is right.
    func tellRole() {
        telling.withLock { _ in
            let now = state.withLock { $0 }
            switch now.role {
            case .leader where now.isPrepared: target?.lead()
            case .leader, .candidate: target?.followOthers(leader: nil)
            case .follower: target?.followOthers(leader: now.leader)
            }
        }
    }

    /// Stops leading for a while, because it cannot.
    func standBack(_ term: UInt64, because error: any Error) {
        state.update { $0.standsBackUntil = .now + options.lease * 2 }
        report("\(options.node) cannot lead. \(error)")
        follow(after: term)
    }

    /// The node cannot go on: it stops leading, and takes no part any more.
    func fail(_ reason: String) {
        let isFirst = state.update { state in
            defer {
                state.isStopped = true
                state.failure = state.failure ?? reason
            }
            return !state.isStopped
        }
        follow()
        state.update { $0.hear(of: 0, leader: nil) }
        tellRole()
        if isFirst { target?.fail(reason) }
    }
}

extension ClusterMember {
    var shared: Monitor<MemberState> { state }
    var copy: FileJournal { journal }
    var waits: Abandonment { abandonment }

    func say(_ sentence: String) { report(sentence) }

    func connect(
        _ timeouts: PostgreSQLTimeouts? = nil
    ) throws(SharedJournalError) -> JournalConnection {
        try JournalConnection.toPrimary(
            options.journal, timeouts: timeouts ?? options.timeouts, abandonment: abandonment)
    }
}

/// What a node says of itself.
package struct ClusterStatus: Sendable {
    package let role: ClusterRole
    /// The newest that it has heard of.
    package let term: UInt64
    /// Where the leader is reached; nil if nobody is known.
    package let leader: String?
    package let sequence: UInt64
    /// Events of the journal that it has not taken yet.
    package let lag: UInt64
    /// Since when it has not had everything, as far as is known; it is not while the journal cannot be reached.
    package let lagTime: Duration
    /// How often it has become the leader.
    package let failovers: Int
    /// Why it last could not reach the journal; nil since it could again.
    package let lastError: String?
    /// Why the journal did not take this node's last frame; nil if it did, or that is longer ago than the lease: it may
    /// take the next one.
    package let appendError: String?
    /// For how long the journal has not said what became of this node's last frame; zero if it has.
    package let appendTime: Duration
    /// For how long it has not been able to look at the lease; zero if it is.
    package let leaseTrouble: Duration
    /// Why it cannot go on; nil as long as it does.
    package let failure: String?
}

extension JournalConnection {
    /// The history of the journal; a new one if there is none.
    /// - Parameter hasLog: whether the directory of the copy has a log; then it is another's.
    fileprivate func historyOrNew(
        _ hasLog: () throws(SharedJournalError) -> Bool
    ) throws(SharedJournalError) -> JournalHistory {
        if try history() == nil {
            guard try !hasLog() else {
                throw SharedJournalError(
                    .noJournal,
                    """
                    There is no journal in \(address), and the directory of its copy has a log. `relay journal \
                    import` makes a journal of that; for a new journal, give another --data.
                    """)
            }
            do throws(SharedJournalError) {
                try create(JournalHistory(storeID: .random(), epoch: 1))
            } catch  where error.code == .conflict {
                // Another node was faster.
            }
        }
        return try completeHistory()
    }
}

extension Error {
    fileprivate var isDamageOfCopy: Bool {
        switch self {
        case let error as SharedJournalError: error.code == .copy(.damaged)
        // The journal has all that there is to be read, and what its beginning needs.
        case let error as EventStoreError: error.isDamage || error.code == .outOfRange
        default: false
        }
    }
}

extension JournalError {
    fileprivate var isOvertaken: Bool { if case .overtaken = code { true } else { false } }
}
