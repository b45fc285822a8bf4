import EventLog
import SharedJournal
import Threads

/// What a node is in its cluster.
package enum ClusterRole: Sendable, Hashable {
    /// It appends, for this term.
    case leader(term: UInt64)
    /// It has raised the term, and reads what came before.
    case candidate(term: UInt64)
    case follower

    var term: UInt64? {
        switch self {
        case .leader(let term), .candidate(let term): term
        case .follower: nil
        }
    }
}

/// Who a node is at the moment, shared by its threads.
///
/// - Only the lease thread makes a candidate of a follower, and only the follow thread a leader of a candidate.
/// - Anybody makes a follower of a leader: the lease thread when the lease is lost, the log's sync thread when the
///   journal has refused a frame.
struct MemberState: Sendable {
    private(set) var role = ClusterRole.follower
    /// Nil unless it leads.
    private(set) var writer: JournalWriter?
    /// The newest term that it has heard of.
    private(set) var newestTerm: UInt64 = 0
    /// Where the leader is reached.
    private(set) var leader: String?
    /// The last term that this run of the node has raised.
    private(set) var raisedTerm: UInt64?
    /// The delegate is prepared for it to lead.
    private(set) var isPrepared = false
    /// How often this node has become the leader.
    private(set) var failovers = 0
    /// What keeps the follow thread from following; nil: nothing does.
    private(set) var lastError: String?
    /// What keeps the lease thread from looking at the lease, and since when.
    private(set) var leaseError: String?
    private(set) var leaseErrorSince = ContinuousClock.now
    /// Why the journal did not take this node's last frame; nil if it did.
    var appendError: String?
    /// When that was.
    var appendErrorAt = ContinuousClock.now
    /// Since when the journal has been asked to take a frame, and has not said what became of it; nil: it is not.
    var appendSince: ContinuousClock.Instant?
    /// Why the node cannot go on; nil as long as it does.
    var failure: String?
    /// The last event of the journal, as last seen.
    private(set) var journalSequence: UInt64 = 0
    /// When the journal last had no more than this node.
    private(set) var caughtUpAt = ContinuousClock.now
    /// It could not lead: others get their chance until then.
    var standsBackUntil: ContinuousClock.Instant?
    var isStopped = false

    /// The journal was asked how far it is.
    mutating func see(journal sequence: UInt64, node: UInt64) {
        journalSequence = max(journalSequence, sequence)
        if node >= journalSequence {
            lastError = nil
            caughtUpAt = .now
        }
    }

    /// The journal has answered.
    mutating func forgetError() { lastError = nil }

    /// Events that the journal is known to have and this node has not.
    func lag(of node: UInt64) -> UInt64 { journalSequence - min(node, journalSequence) }

    /// What the lease thread has met; nil: all is well.
    /// - Returns: whether all was well before.
    mutating func noteLease(_ error: SharedJournalError?) -> Bool {
        defer {
            if error != nil, leaseError == nil { leaseErrorSince = .now }
            leaseError = error?.message
        }
        return leaseError == nil
    }

    /// - Returns: whether everything was in order before.
    mutating func note(_ error: some ClusterTrouble) -> Bool {
        defer { lastError = error.message }
        return lastError == nil
    }

    mutating func hear(of term: UInt64, leader: String?) {
        newestTerm = max(newestTerm, term)
        if role == .follower { self.leader = leader }
    }

    mutating func beCandidate(term: UInt64) {
        newestTerm = max(newestTerm, term)
        appendError = nil
        raisedTerm = term
        if isStopped { return }
        role = .candidate(term: term)
        leader = nil
    }

    /// - Returns: false if it is not the candidate of that term any more.
    mutating func lead(_ writer: JournalWriter, from address: String) -> Bool {
        guard role == .candidate(term: writer.term), !isStopped else { return false }
        role = .leader(term: writer.term)
        self.writer = writer
        isPrepared = false
        leader = address
        failovers += 1
        return true
    }

    /// - Returns: false if it does not lead for that term any more.
    mutating func prepared(for term: UInt64) -> Bool {
        guard role == .leader(term: term) else { return false }
        isPrepared = true
        return true
    }

    /// - Parameter term: the one that is lost; nil for any.
    /// - Returns: whether it was leader or candidate.
    mutating func follow(after term: UInt64? = nil) -> Bool {
        guard let mine = role.term, term == nil || term == mine else { return false }
        role = .follower
        isPrepared = false
        writer = nil
        leader = nil
        return true
    }
}

/// Commits the frames of a node's log while the node leads.
final class MemberCommitter: FrameCommitter {
    let state: Monitor<MemberState>
    private let report: @Sendable (String) -> Void
    private let onOvertaken: @Sendable (UInt64) -> Void

    /// - Parameters:
    ///   - report: told when the journal begins to refuse frames.
    ///   - onOvertaken: called, on the log's sync thread, when the journal has refused a frame of this term because there
    ///     is a newer one.
    init(
        _ state: Monitor<MemberState>, report: @escaping @Sendable (String) -> Void,
        onOvertaken: @escaping @Sendable (UInt64) -> Void
    ) {
        self.state = state
        self.report = report
        self.onOvertaken = onOvertaken
    }

    func commit(_ frame: SharedFrame) throws(FrameRefusal) {
        guard let writer = state.withLock({ $0.writer }) else {
            throw FrameRefusal(.overtaken, "This server does not lead its cluster.")
        }
        state.withLock { $0.appendSince = .now }
        defer { state.withLock { $0.appendSince = nil } }
        do throws(FrameRefusal) {
            try writer.commit(frame)
            note(nil)
        } catch {
            switch error.code {
            case .overtaken: onOvertaken(writer.term)
            case .unavailable, .storageFull: note(error.message)
            default: break
            }
            throw error
        }
    }

    private func note(_ error: String?) {
        let before = state.withLock { state in
            defer {
                state.appendError = error
                if error != nil { state.appendErrorAt = .now }
            }
            return state.appendError
        }
        if let error, before == nil { report("The journal takes no events. \(error)") }
        if error == nil, before != nil { report("The journal takes events again.") }
    }
}
