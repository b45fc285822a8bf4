import EventStore
import PostgreSQL
import SharedJournal
import Threads

/// Renews the lease of a node that leads, and raises the term when nobody's lease runs.
///
/// The lease is a courtesy: it decides whom to leave alone. A leader that could not renew it in time stops leading by
/// its own clock, so that clients are sent on; the journal's fence holds without that.
struct LeaseLoop {
    private let member: ClusterMember
    private var connection: JournalConnection?
    /// When the lease that it holds ends, at the latest.
    private var leaseEnd: ContinuousClock.Instant?
    /// Whether the journal knows of this run of the node.
    private var hasTold = false
    /// Another run of the same name, and when it was first seen.
    private var rival: (instance: UInt64, seen: ContinuousClock.Instant)?
    /// Since when it has the term and is not prepared to lead.
    private var candidateSince: ContinuousClock.Instant?

    init(_ member: ClusterMember) { self.member = member }

    private var options: MemberOptions { member.options }
    private var isStopped: Bool { member.shared.withLock { $0.isStopped } }

    func run() {
        var loop = self
        loop.keep()
    }

    private mutating func keep() {
        while !isStopped {
            let pause: Duration
            do throws(SharedJournalError) {
                pause = try step()
                member.shared.update { _ = $0.noteLease(nil) }
            } catch  where error.code == .conflict {
                member.fail(error.message)
                break
            } catch {
                connection?.close()
                connection = nil
                if member.shared.update({ $0.noteLease(error) }) {
                    member.say("The lease cannot be looked at; it is tried again. \(error.message)")
                }
                pause = options.lease / 10
            }
            if let leaseEnd, leaseEnd <= .now { lose() }
            guard member.waits.sleep(for: pause) else { break }
        }
        connection?.close()
    }

    /// For how long a node that says nothing is listed.
    private static let memory = Duration.seconds(24 * 3_600)
    /// So many leases it may take until a node that has the term leads.
    private static let leasesToPrepare = 6
    /// So many leases a writer may be without a connection.
    private static let leasesShutOut = 2

    /// Whether it has the term for long, and does not lead: it is far behind, or cannot read the journal.
    private mutating func isStuck() -> Bool {
        guard member.shared.withLock({ $0.role.term != nil && !$0.isPrepared }) else {
            candidateSince = nil
            return false
        }
        let since = candidateSince ?? .now
        candidateSince = since
        return since + options.lease * Self.leasesToPrepare <= .now
    }

    private mutating func standBack(
        _ term: UInt64, _ connection: JournalConnection, because error: any Error
    ) throws(SharedJournalError) -> Duration {
        member.standBack(term, because: error)
        leaseEnd = nil
        try connection.giveUpLease(term: term, of: options.candidate)
        return .zero
    }

    private mutating func lose() {
        leaseEnd = nil
        member.follow()
    }

    /// - Returns: how long to wait until the next one.
    private mutating func step() throws(SharedJournalError) -> Duration {
        let connection = try connected()
        if let term = member.shared.withLock({ $0.role.term }) {
            if isStuck() {
                let time = options.lease * Self.leasesToPrepare
                return try standBack(term, connection, because: Unprepared(time: time))
            }
            let start = ContinuousClock.now
            guard try connection.renewLease(term: term, of: options.candidate) else {
                lose()
                return .zero
            }
            leaseEnd = start + options.lease
            // PostgreSQL is there, but not for the writer. Others may be luckier.
            let time = member.shared.withLock { $0.writer }?.isShutOutFor ?? .zero
            if time > options.lease * Self.leasesShutOut {
                return try standBack(term, connection, because: ShutOut(time: time))
            }
            try tell(connection)
            return options.lease / 3
        }
        leaseEnd = nil
        candidateSince = nil
        try tell(connection)
        let lease = try connection.lease()
        let term = try connection.term().term
        let isRunning = lease.map { $0.remaining > .zero && $0.term == term } ?? false
        // Its own, from before: it does not follow itself.
        let isOthers = isRunning && lease?.node != options.node
        hear(of: term, leader: isOthers ? lease?.address : nil)
        if let lease, isOthers { return min(lease.remaining, options.lease / 3) }
        // The lease of this name may be another server's, as long as the name is not taken.
        if isRunning, !hasTold { return options.lease / 10 }
        if member.shared.withLock({ $0.standsBackUntil.map { $0 > .now } ?? false }) {
            return options.lease / 3
        }
        return try raise(after: term, connection)
    }

    /// Not all nodes at once: the first one wins, and the others see its lease.
    private mutating func raise(
        after term: UInt64, _ connection: JournalConnection
    ) throws(SharedJournalError) -> Duration {
        // Whoever has everything goes first.
        let isBehind = member.status.lag > 0
        let patience = options.lease * Double.random(in: isBehind ? 0.3...0.4 : 0...0.1)
        guard member.waits.sleep(for: patience) else { return .zero }
        do throws(SharedJournalError) {
            // Its commits are those of every append: a term must not be lost.
            let raising = try member.connect(timeouts)
            defer { raising.close() }
            // The lease begins later than this, and however long it has taken to connect.
            let start = ContinuousClock.now
            let mine = try raising.raiseTerm(
                after: term, by: options.candidate, respectsLease: true)
            leaseEnd = start + options.lease
            member.shared.update { $0.beCandidate(term: mine) }
            // The follow thread need not wait for its next look.
            try connection.wake()
            return options.lease / 3
        } catch {
            guard case .wrongTerm = error.code else { throw error }
            return .milliseconds(10)
        }
    }

    private func hear(of term: UInt64, leader: String?) {
        let isNew = member.shared.update { state in
            let before = state.leader
            state.hear(of: term, leader: leader)
            return state.role == .follower && before != leader
        }
        if isNew { member.tellRole() }
    }

    /// A leader that hears nothing has to know before its lease has long been over.
    private var timeouts: PostgreSQLTimeouts {
        var timeouts = options.timeouts
        timeouts.limit(to: options.lease / 2)
        return timeouts
    }

    private mutating func connected() throws(SharedJournalError) -> JournalConnection {
        if let connection, connection.isOpen { return connection }
        let new = try member.connect(timeouts)
        // A lease need not survive the loss of PostgreSQL's machine, and must not wait for a standby.
        try new.commitLocally()
        connection = new
        return new
    }

    /// Another run of the name that goes on telling is another server.
    /// - Returns: false as long as it may be one.
    private mutating func mayTakeName(
        _ connection: JournalConnection
    ) throws(SharedJournalError) -> Bool {
        // One that was heard of later than now was before PostgreSQL's clock was set back.
        guard let last = try connection.lastRun(of: options.node),
            last.instance != member.instance, last.silence >= .zero,
            last.silence < options.lease / 2
        else { return true }
        if let rival, rival.instance == last.instance, last.silence < .now - rival.seen {
            throw .nameTaken(options.node)
        }
        if rival?.instance != last.instance { rival = (last.instance, .now) }
        return false
    }

    private mutating func tell(_ connection: JournalConnection) throws(SharedJournalError) {
        if !hasTold {
            guard try mayTakeName(connection) else { return }
        }
        let status = member.status
        let isLeader = if case .leader = status.role { true } else { false }
        let isNoted = try connection.report(
            JournalNode(
                name: options.node, address: options.address,
                role: isLeader ? .writer : .follower, term: status.term,
                sequence: status.sequence, state: member.target?.stateMark,
                instance: member.instance), takesName: !hasTold)
        guard isNoted else {
            // Another server of the name, or a row from before PostgreSQL failed over: that is looked at next time.
            hasTold = false
            return
        }
        if !hasTold { try connection.forgetNodes(after: Self.memory) }
        hasTold = true
    }
}

/// A node that has the term and does not get to lead.
private struct Unprepared: Error, CustomStringConvertible {
    let time: Duration

    var description: String { "It could not read what others have appended within \(time)." }
}

/// A leader whose writer PostgreSQL does not let in, while it answers the lease's connection.
private struct ShutOut: Error, CustomStringConvertible {
    let time: Duration

    var description: String {
        "For \(time) it has not been able to connect, to find out what became of an append."
    }
}

extension SharedJournalError {
    fileprivate static func nameTaken(_ node: String) -> SharedJournalError {
        SharedJournalError(
            .conflict,
            "Another server of the cluster calls itself \(node); give each a --node of its own.")
    }
}
