import EventStore
import PostgreSQL
import SharedJournal
import Threads

/// Renews the lease of a node that leads, and raises the term when nobody's lease runs.
///
/// The lease is a courtesy: it decides whom to leave alone. A leader that could not renew it in time stops to lead by
/// its own clock, so that clients are sent on; the journal's fence holds without that.
struct LeaseLoop {
    private let member: ClusterMember
    private var connection: JournalConnection?
    /// When the lease that it holds ends, at the latest.
    private var leaseEnd: ContinuousClock.Instant?

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
            } catch {
                connection?.close()
                connection = nil
                member.shared.update { $0.fail(error) }
                pause = options.lease / 10
            }
            if let leaseEnd, leaseEnd <= .now { lose() }
            guard member.waits.sleep(for: pause) else { break }
        }
        connection?.close()
    }

    private mutating func lose() {
        leaseEnd = nil
        member.follow()
    }

    /// - Returns: how long to wait until the next one.
    private mutating func step() throws(SharedJournalError) -> Duration {
        let connection = try connected()
        if let term = member.shared.withLock({ $0.role.term }) {
            let start = ContinuousClock.now
            guard try connection.renewLease(term: term, of: options.candidate) else {
                lose()
                return .zero
            }
            leaseEnd = start + options.lease
            try tell(connection)
            return options.lease / 3
        }
        leaseEnd = nil
        try tell(connection)
        let lease = try connection.lease()
        let term = try connection.term().term
        let isRunning = lease.map { $0.remaining > .zero && $0.term == term } ?? false
        hear(of: term, leader: isRunning ? lease?.address : nil)
        if let lease, isRunning { return min(lease.remaining, options.lease / 3) }
        if member.shared.withLock({ $0.standsBackUntil.map { $0 > .now } ?? false }) {
            return options.lease / 3
        }
        return try raise(after: term, connection)
    }

    /// Not all nodes at once: the first one wins, and the others see its lease.
    private mutating func raise(
        after term: UInt64, _ connection: JournalConnection
    ) throws(SharedJournalError) -> Duration {
        let patience = options.lease * Double.random(in: 0...0.1)
        guard member.waits.sleep(for: patience) else { return .zero }
        let start = ContinuousClock.now
        do throws(SharedJournalError) {
            let mine = try connection.raiseTerm(
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

    private mutating func connected() throws(SharedJournalError) -> JournalConnection {
        if let connection, connection.isOpen { return connection }
        let new = try member.connect()
        connection = new
        return new
    }

    private func tell(_ connection: JournalConnection) throws(SharedJournalError) {
        let status = member.status
        let isLeader = if case .leader = status.role { true } else { false }
        try connection.report(
            JournalNode(
                name: options.node, address: options.address,
                role: isLeader ? .writer : .follower, term: status.term,
                sequence: status.sequence, state: member.target?.stateMark))
    }
}
