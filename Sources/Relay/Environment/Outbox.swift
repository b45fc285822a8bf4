import Foundation
@_spi(Rooms) import RelayStore

/// What an environment does with a mutation whose intent the store's journal does not take: its disk is full,
/// or it has stopped. Without a journal there is nothing to be kept, and mutations are sent at once.
public enum UnkeptMutationPolicy: Hashable, Sendable {
    /// It waits while the journal refuses for now, and is sent once the intent is on the disk. When the
    /// journal has stopped it fails with an ``UnkeptMutationError``.
    case hold
    /// It fails with an ``UnkeptMutationError``.
    case fail
    /// It is sent all the same. If the program ends before the answer comes, its outcome will stay unknown.
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

/// A mutation was not begun, because too many wait to be sent: for a journal that refuses, or for those that an
/// earlier run of the program left unfinished.
public struct TooManyMutationsError: SentenceError {
    /// The operation's name.
    public var operation: String
    /// How many wait.
    public var limit: Int

    public var errorDescription: String? {
        """
        Mutation \(operation) was not sent: \(limit) mutations wait already, for the store's journal or for those \
        that an earlier run of the program left unfinished.
        """
    }
}

/// Decides when mutations are sent: each once its intent is durable in the store's journal, and all of this
/// process behind those that an earlier one left unfinished.
///
/// 1. No mutation is sent before its intent is durable, unless the policy says otherwise.
/// 2. Mutations are sent in the order in which they began in the store, which is that of the journal, as long as the
///    policy stays the same.
/// 3. Of the unfinished ones at most one is under way.
/// 4. At most ``limit`` have a place and wait; further ones are not begun.
/// 5. An unfinished mutation is sent by one call of `resumeMutations` at a time. One that ends and stays ends the
///    round: those behind it stay as well, so that none is sent before it. Those that wait for the round are sent then,
///    also where another round is asked for already.
/// 6. A place that is given up keeps nothing and holds up nothing: nothing waits for a place, places wait for the
///    journal and for unfinished mutations.
final class Outbox: @unchecked Sendable {
    // Unchecked: everything is behind the lock.

    /// Sends a mutation, or is told why its intent is not durable.
    typealias Send = @Sendable (_ refusal: (any Error)?) -> Void

    /// A mutation that an earlier process began.
    struct Unfinished {
        let entry: OptimisticEntryID
        /// Sends it, and calls what it is given when it has ended; with why, where it stays all the same.
        let send: (_ ended: @escaping ((any Error)?) -> Void) -> Void
        /// It is not sent in this round: one before it has ended with this error and stays.
        let skip: (any Error) -> Void
    }

    /// What a mutation has until it is sent, or given up.
    final class Place: @unchecked Sendable {
        // Unchecked: behind the outbox's lock.

        /// nil: it was sent, or given up.
        fileprivate var send: Send?
        /// Until then, once the mutation has begun: ends its wait for the journal.
        fileprivate var endWait: (@Sendable () -> Void)?

        fileprivate init(_ send: @escaping Send) { self.send = send }
    }

    let limit: Int
    private let lock = NSLock()
    private var chosen = UnkeptMutationPolicy.hold
    /// Places of which nothing was sent yet.
    private(set) var placeCount = 0
    /// The next one to be sent is the last.
    private var unfinished: [Unfinished] = []
    /// Unfinished ones that wait or are being sent, by the names of their entries.
    private var claimed: Set<OptimisticEntryID> = []
    /// Those that wait for the unfinished ones.
    private var waiting: [Place] = []
    private var isResuming = false
    /// An unfinished one has ended and stays: those that waited for this round go before the next one.
    private var isRoundOver = false
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

    /// A place for a mutation that is about to begin. It is in no order yet.
    /// - Parameter send: called when it is the mutation's turn, once at most.
    /// - Returns: nil where ``limit`` wait.
    func makePlace(_ send: @escaping Send) -> Place? {
        lock.withLock {
            if placeCount >= limit { return nil }
            placeCount += 1
            return Place(send)
        }
    }

    /// The mutation begins: it is sent behind those that have begun before. Called by the store's writer, whose
    /// order this is; nothing is sent before `tellOfDurability` is called, or the journal goes on.
    func enter(_ place: Place, _ store: Store) {
        let policy = policy
        let waiter = store.awaitDurability(waitsOutRefusals: policy == .hold) { [self] result in
            if case .failure(let error) = result, policy != .send {
                take(place)?(error)
            } else {
                sendBehindUnfinished(place)
            }
        }
        let isOver = lock.withLock {
            if place.send != nil { place.endWait = { store.endWait(waiter) } }
            return place.send == nil
        }
        if isOver { store.endWait(waiter) }
    }

    /// The mutation is over, or never begins. Without effect when it was sent.
    func leave(_ place: Place) {
        let (send, endWait) = lock.withLock { () -> (Send?, (@Sendable () -> Void)?) in
            let endWait = place.endWait
            let send = takeSend(place)
            if send != nil { waiting.removeAll { $0 === place } }
            return (send, endWait)
        }
        endWait?()
        // What it holds goes when the lock is free again.
        withExtendedLifetime(send) {}
    }

    private func take(_ place: Place) -> Send? { lock.withLock { takeSend(place) } }

    /// Under the lock.
    private func takeSend(_ place: Place) -> Send? {
        guard let send = place.send else { return nil }
        place.send = nil
        place.endWait = nil
        placeCount -= 1
        return send
    }

    /// It is a mutation's turn, unless unfinished ones are left.
    func sendBehindUnfinished(_ place: Place) {
        let send = lock.withLock { () -> Send? in
            if !isResuming { return takeSend(place) }
            if place.send != nil { waiting.append(place) }
            return nil
        }
        send?(nil)
    }

    // MARK: Mutations of earlier processes

    /// Unfinished mutations are about to be sent. All are asked for at once, as those that stay together are
    /// let go of at once: so no one has the later ones without the earlier ones.
    /// - Returns: those that no other call is about to have sent, in their order.
    func claim<Mutation>(
        _ mutations: [Mutation], _ entry: (Mutation) -> OptimisticEntryID
    ) -> [Mutation] {
        lock.withLock { mutations.filter { claimed.insert(entry($0)).inserted } }
    }

    /// An unfinished mutation is not sent; if it is still there, it may be sent another time.
    func release(_ entry: OptimisticEntryID) { lock.withLock { _ = claimed.remove(entry) } }

    /// Sends unfinished mutations one after the other, each when the one before it has ended.
    func resume(_ mutations: [Unfinished]) {
        let starts = lock.withLock {
            unfinished = mutations.reversed() + unfinished
            defer { isResuming = true }
            return !isResuming
        }
        if starts { sendNext() }
    }

    private func sendNext() {
        while true {
            switch lock.withLock({ takeStep() }) {
            case .resume(let mutation):
                mutation.send { [self] cause in ended(mutation, cause) }
                // The end of most comes later and goes on from there. One that ended inside the call is gone on
                // from here, so that many of them don't fill the stack.
                let isOver = lock.withLock {
                    isSending = false
                    defer { endedAtOnce = false }
                    return endedAtOnce
                }
                if !isOver { return }
            case .send(let places): for place in places { take(place)?(nil) }
            case .nothing: return
            }
        }
    }

    /// - Parameter cause: why it has ended, where it stays.
    private func ended(_ mutation: Unfinished, _ cause: (any Error)?) {
        let skipped = lock.withLock { () -> [Unfinished] in
            claimed.remove(mutation.entry)
            if cause == nil { return [] }
            isRoundOver = true
            defer { unfinished = [] }
            // All at once: the next call has them in their order.
            for behind in unfinished { claimed.remove(behind.entry) }
            return unfinished.reversed()
        }
        if let cause { for behind in skipped { behind.skip(cause) } }
        let goesOn = lock.withLock {
            if isSending { endedAtOnce = true }
            return !isSending
        }
        if goesOn { sendNext() }
    }

    private enum Step {
        case resume(Unfinished)
        case send([Place])
        case nothing
    }

    /// What is to be done next. Called under the lock.
    private func takeStep() -> Step {
        // Those behind it stay, and may have been asked for again when they were told: not before the others.
        let areOthersFirst = isRoundOver && !waiting.isEmpty
        isRoundOver = false
        if !areOthersFirst, let next = unfinished.popLast() {
            isSending = true
            return .resume(next)
        }
        if !waiting.isEmpty {
            defer { waiting = [] }
            return .send(waiting)
        }
        isResuming = false
        return .nothing
    }
}
