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

/// Decides when mutations are sent: each once its intent is durable in the store's journal, and all of this
/// process behind those that an earlier one left unfinished.
///
/// 1. No mutation is sent before its intent is durable, unless the policy says otherwise.
/// 2. Mutations are sent in the order in which they were begun.
/// 3. Of the unfinished ones at most one is under way.
final class Outbox: @unchecked Sendable {
    // Unchecked: everything is behind the lock.

    /// Sends an unfinished mutation, and calls what it is given when that one has ended.
    typealias Resume = (_ ended: @escaping () -> Void) -> Void

    private let lock = NSLock()
    private var chosen = UnkeptMutationPolicy.hold
    private var unfinished: [Resume] = []
    /// Those that wait for the unfinished ones.
    private var waiting: [() -> Void] = []
    private var isResuming = false

    var policy: UnkeptMutationPolicy {
        get { lock.withLock { chosen } }
        set { lock.withLock { chosen = newValue } }
    }

    // MARK: Mutations of this process

    /// Calls `send` when it is a mutation's turn, with why its intent is not durable if it is not.
    func add(_ store: Store, _ send: @escaping @Sendable ((any Error)?) -> Void) {
        let policy = policy
        store.whenDurable(waitsOutRefusals: policy == .hold) { [self] result in
            switch result {
            case .success: behindUnfinished { send(nil) }
            case .failure(let error): behindUnfinished { send(policy == .send ? nil : error) }
            }
        }
    }

    private func behindUnfinished(_ send: @escaping () -> Void) {
        let isFree = lock.withLock {
            if isResuming { waiting.append(send) }
            return !isResuming
        }
        if isFree { send() }
    }

    // MARK: Mutations of earlier processes

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
            let next = lock.withLock { () -> Step in
                if !unfinished.isEmpty { return .resume(unfinished.removeFirst()) }
                if !waiting.isEmpty { return .send(waiting.removeFirst()) }
                isResuming = false
                return .nothing
            }
            switch next {
            case .resume(let resume): return resume { [self] in sendNext() }
            case .send(let send): send()
            case .nothing: return
            }
        }
    }

    private enum Step {
        case resume(Resume)
        case send(() -> Void)
        case nothing
    }
}
