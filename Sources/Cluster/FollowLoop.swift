import EventLog
import EventStore
import PostgreSQL
@_spi(Rooms) import RelayRecords
import SharedJournal
import Threads

/// Takes the frames of others from the journal, and lets the node lead when it has taken all.
struct FollowLoop {
    private let member: ClusterMember
    /// Between two attempts to connect.
    private var pause = Self.shortestPause
    private var settlePause = Self.shortestSettlePause
    /// Whether the connection is told of appends.
    private var isListening = false
    /// The session that waits for a standby, or did.
    private var waiting: JournalConnection.Session?
    /// Whether the last wait for a standby was in vain, and that was said.
    private var hasMissedStandby = false

    private static let shortestPause = Duration.milliseconds(50)
    private static let longestPause = Duration.seconds(2)
    /// Until the delegate is asked again whether it is aside.
    private static let shortestSettlePause = Duration.milliseconds(1)
    private static let longestSettlePause = Duration.milliseconds(50)
    /// Until subscriptions are asked again whether they have room.
    private static let roomPause = Duration.milliseconds(5)

    init(_ member: ClusterMember) { self.member = member }

    private var isStopped: Bool { member.shared.withLock { $0.isStopped } }

    func run() {
        var loop = self
        loop.follow()
    }

    private mutating func follow() {
        while !isStopped {
            do {
                let connection = try member.connect()
                defer { connection.close() }
                try waitForStandby(connection)
                // All that it may write from now on is that it gives up a lease.
                try connection.commitLocally()
                isListening = false
                while !isStopped { try step(connection) }
            } catch let error as any ClusterTrouble where error.isTemporary {
                if error is MissingStandby {
                    if !hasMissedStandby { member.say(error.message) }
                    hasMissedStandby = true
                } else if member.shared.update({ $0.note(error) }) {
                    member.say(
                        "The journal cannot be followed; it is tried again. \(error.message)")
                }
                guard member.waits.sleep(for: pause) else { return }
                pause = min(pause * 2, Self.longestPause)
            } catch {
                return member.fail("\(error)")
            }
        }
    }

    /// What a lost PostgreSQL would take with it must not be followed.
    private mutating func waitForStandby(_ connection: JournalConnection) throws {
        guard connection.server.waitsForStandby else { return }
        // One session waits, not one more for each try. If it may not be ended, it stays.
        if let waiting { try? connection.end(waiting) }
        waiting = try connection.session()
        // PostgreSQL is there, and has nothing more that may be followed: that is no trouble of this node.
        member.shared.update { $0.forgetError() }
        do throws(SharedJournalError) { try connection.waitForStandby() } catch {
            throw MissingStandby()
        }
        (waiting, hasMissedStandby) = (nil, false)
    }

    /// Takes what there is; waits for more if there is nothing.
    private mutating func step(_ connection: JournalConnection) throws {
        let role = member.shared.withLock { $0.role }
        let isLeader = if case .leader = role { true } else { false }
        if !isLeader {
            // What was on its way when this node stopped leading is settled first, and published.
            guard let target = member.target else { return }
            guard target.isAside else {
                _ = member.waits.sleep(for: settlePause)
                settlePause = min(settlePause * 2, Self.longestSettlePause)
                return
            }
            settlePause = Self.shortestSettlePause
        }
        // Nobody else appends, and it need not be told of its own events.
        if isLeader { return try waitAsLeader(connection) }
        try listen(true, connection)
        // All that was told so far is in the journal's answer. What is told later ends the next wait.
        try connection.forgetNotifications()
        // Before the journal is asked, which then cannot have less.
        let mine = member.copy.durableHead
        let head = try connection.head(of: member.history)
        member.shared.update { $0.see(journal: head.sequence, node: mine.sequence) }
        guard head.sequence >= mine.sequence else { throw try behind(mine.sequence) }
        if head.sequence == mine.sequence {
            guard head.chain == mine.hash || mine.sequence == member.history.base.head.sequence
            else { throw Diverged(sequence: mine.sequence) }
            if case .candidate(let term) = role { return try lead(term, connection) }
            pause = Self.shortestPause
            return try wait(connection)
        }
        let reader = JournalReader(member.options.journal, after: mine)
        for frame in try reader.next(by: connection) {
            guard try take(frame) else { return }
            pause = Self.shortestPause
            member.shared.update { $0.forgetError() }
        }
    }

    private mutating func waitAsLeader(_ connection: JournalConnection) throws {
        try listen(false, connection)
        let mine = member.copy.durableHead.sequence
        let head = try connection.head(of: member.history).sequence
        guard head >= mine else { throw try behind(mine) }
        member.shared.update { $0.see(journal: mine, node: mine) }
        _ = member.shared.wait(milliseconds: 1_000) { state -> Bool? in
            if case .leader = state.role, !state.isStopped { nil } else { true }
        }
    }

    /// What it means that a connection shows less than this node has.
    ///
    /// The connection may be to a PostgreSQL that another one has taken over from, while the writer's was to that one: a new
    /// connection shows it.
    private func behind(_ mine: UInt64) throws(SharedJournalError) -> any Error {
        let another = try member.connect()
        defer { another.close() }
        let journal = try another.head(of: member.history).sequence
        return journal < mine
            ? Behind(journal: journal, node: mine)
            : SharedJournalError(
                .unavailable, "The connection is to a PostgreSQL that is behind.")
    }

    private mutating func listen(
        _ listens: Bool, _ connection: JournalConnection
    ) throws(SharedJournalError) {
        if listens == isListening { return }
        if listens { try connection.listen() } else { try connection.unlisten() }
        isListening = listens
    }

    private func wait(_ connection: JournalConnection) throws {
        _ = try connection.nextNotification(within: member.options.pollInterval)
    }

    /// - Returns: false if it was stopped.
    private func take(_ frame: WholeFrame) throws -> Bool {
        guard let target = member.target else { return false }
        while !target.hasRoomToFollow {
            guard member.waits.sleep(for: Self.roomPause) else { return false }
        }
        _ = try member.copy.adopt([frame])
        try target.follow(frame.storeEvents())
        return true
    }

    /// Everything that was appended before this node's term is here.
    private mutating func lead(
        _ term: UInt64, _ connection: JournalConnection
    ) throws(SharedJournalError) {
        let writer = JournalWriter(
            member.options.journal, term: term, timeouts: member.options.timeouts,
            abandonment: member.waits, report: { [member] in member.say($0) })
        guard member.shared.update({ $0.lead(writer, from: member.options.address) }) else {
            return
        }
        do {
            try member.target?.prepareToLead()
            guard member.shared.update({ $0.prepared(for: term) }) else { return }
            pause = Self.shortestPause
            member.tellRole()
            member.say("\(member.options.node) leads, for term \(term).")
        } catch {
            member.standBack(term, because: error)
            try connection.giveUpLease(term: term, of: member.options.candidate)
        }
    }
}

/// PostgreSQL's commits wait for a standby, and there is none.
private struct MissingStandby: ClusterTrouble {
    let isTemporary = true
    let message =
        "PostgreSQL's commits wait for a standby: nothing new is followed until there is one."
}

/// The journal ends before the node's copy does.
private struct Behind: Error, CustomStringConvertible {
    let journal: UInt64
    let node: UInt64

    var description: String {
        """
        The journal ends with event \(journal), and this server has event \(node): PostgreSQL was restored from a backup, or \
        a replica that was behind has taken over. Nothing was changed.
        """
    }
}

/// The journal has another event than the node's copy.
private struct Diverged: Error, CustomStringConvertible {
    let sequence: UInt64

    var description: String {
        "The journal's events up to \(sequence) are not those that this server has. Nothing was changed."
    }
}

/// What keeps a node from following.
protocol ClusterTrouble: Error {
    var message: String { get }
    /// Whether it may be otherwise when it is tried again.
    var isTemporary: Bool { get }
}

extension EventStoreError: ClusterTrouble {
    /// The copy's disk is full.
    var isTemporary: Bool { code == .log(.storageFull) }
}

extension SharedJournalError: ClusterTrouble {
    var isTemporary: Bool {
        switch code {
        case .unavailable, .unsafeServer, .storageFull, .unknown, .noJournal: true
        default: false
        }
    }
}
