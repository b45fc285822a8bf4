import Foundation
import RelayStore

/// What an environment does with a mutation whose intent the store's journal does not take: its disk is full,
/// or it has stopped. Without a journal there is nothing to be kept, and mutations are sent at once.
public enum UnkeptMutationPolicy: Hashable, Sendable {
    /// It waits while the journal refuses for now, and is sent once the intent is on the disk. When the
    /// journal has stopped it fails with an ``UnkeptMutationError``.
    case hold
    /// It fails with an ``UnkeptMutationError``.
    case fail
    /// It is sent all the same. If the program ends before the answer comes, nobody will know of it.
    case send
}

/// A mutation was not sent, because its intent could not be written to the store's journal first.
public struct UnkeptMutationError: SentenceError {
    /// The operation's name.
    public var operation: String
    /// Why the journal did not take it.
    public var cause: any Error

    public var errorDescription: String? {
        """
        Mutation \(operation) was not sent: its intent could not be written to the store's journal. \
        \(sentence(cause))
        """
    }
}

/// A mutation was not sent, because too many wait for those that an earlier run of the program left unfinished.
public struct TooManyMutationsError: SentenceError {
    /// The operation's name.
    public var operation: String
    /// How many wait.
    public var limit: Int

    public var errorDescription: String? {
        """
        Mutation \(operation) was not sent: \(limit) mutations wait for those that an earlier run of the program \
        left unfinished.
        """
    }
}

/// Decides when mutations are sent: each once its intent is durable in the store's journal, and all of this
/// process behind those that an earlier one left unfinished.
///
/// 1. No mutation is sent before its intent is durable, unless the policy says otherwise.
/// 2. Mutations are sent in the order in which they were begun.
/// 3. Of the unfinished ones at most one is under way.
/// 4. At most ``limit`` wait for them; further ones fail.
/// 5. An unfinished mutation is sent by one call of `resumeMutations` at a time.
final class Outbox: @unchecked Sendable {
    // Unchecked: everything is behind the lock.

    /// Sends an unfinished mutation, and calls what it is given when that one has ended.
    typealias Resume = (_ ended: @escaping () -> Void) -> Void

    /// Why a mutation is not sent.
    enum Refusal {
        /// Its intent is not durable.
        case unkept(any Error)
        /// So many wait.
        case full(limit: Int)
    }

    private let limit: Int
    private let lock = NSLock()
    private var chosen = UnkeptMutationPolicy.hold
    private var unfinished: [Resume] = []
    /// Unfinished ones that wait or are being sent, by the names of their entries.
    private var claimed: Set<OptimisticEntryID> = []
    /// Those that wait for the unfinished ones.
    private var waiting: [(Refusal?) -> Void] = []
    private var isResuming = false
    /// An unfinished one is being sent, by the thread that sends them.
    private var isSending = false
    /// It has ended inside the very call that sent it.
    private var endedAtOnce = false

    init(limit: Int = 10_000) { self.limit = limit }

    var policy: UnkeptMutationPolicy {
        get { lock.withLock { chosen } }
        set { lock.withLock { chosen = newValue } }
    }

    // MARK: Mutations of this process

    /// Calls `send` when it is a mutation's turn, or with why it is not to be sent.
    func add(_ store: Store, _ send: @escaping @Sendable (Refusal?) -> Void) {
        let policy = policy
        store.whenDurable(waitsOutRefusals: policy == .hold) { [self] result in
            if case .failure(let error) = result, policy != .send { return send(.unkept(error)) }
            behindUnfinished(send)
        }
    }

    /// Calls `send` when no unfinished mutation is left, or at once where too many wait.
    func behindUnfinished(_ send: @escaping (Refusal?) -> Void) {
        enum Turn { case now, later, never }
        let turn = lock.withLock { () -> Turn in
            if !isResuming { return .now }
            if waiting.count >= limit { return .never }
            waiting.append(send)
            return .later
        }
        switch turn {
        case .now: send(nil)
        case .later: break
        case .never: send(.full(limit: limit))
        }
    }

    // MARK: Mutations of earlier processes

    /// Somebody is about to have an unfinished mutation sent.
    /// - Returns: false if somebody else is; then it is not to be sent again.
    func claim(_ entry: OptimisticEntryID) -> Bool {
        lock.withLock { claimed.insert(entry).inserted }
    }

    /// An unfinished mutation has ended; if it is still there, somebody may have it sent again.
    func release(_ entry: OptimisticEntryID) { lock.withLock { _ = claimed.remove(entry) } }

    /// Sends unfinished mutations one after the other, each when the one before it has ended.
    func resume(_ mutations: [Resume]) {
        let starts = lock.withLock {
            unfinished += mutations
            defer { isResuming = true }
            return !isResuming
        }
        if starts { sendNext() }
    }

    private func sendNext() {
        while true {
            switch lock.withLock({ takeStep() }) {
            case .resume(let resume):
                resume { [self] in ended() }
                // The end of most comes later and goes on from there. One that ended inside the call is gone on
                // from here, so that many of them don't fill the stack.
                let isOver = lock.withLock {
                    isSending = false
                    defer { endedAtOnce = false }
                    return endedAtOnce
                }
                if !isOver { return }
            case .send(let sends): for send in sends { send(nil) }
            case .nothing: return
            }
        }
    }

    /// An unfinished mutation has ended.
    private func ended() {
        let goesOn = lock.withLock {
            if isSending { endedAtOnce = true }
            return !isSending
        }
        if goesOn { sendNext() }
    }

    private enum Step {
        case resume(Resume)
        case send([(Refusal?) -> Void])
        case nothing
    }

    private func takeStep() -> Step {
        if !unfinished.isEmpty {
            isSending = true
            return .resume(unfinished.removeFirst())
        }
        if !waiting.isEmpty {
            defer { waiting = [] }
            return .send(waiting)
        }
        isResuming = false
        return .nothing
    }
}
