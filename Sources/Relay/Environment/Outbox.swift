import Foundation
@_spi(Rooms) import RelayStore

/// What an environment does with a mutation whose intent the store's journal rejects, because its disk is
/// full or it has stopped. Without a journal there is nothing to write, and mutations are sent at once.
public enum UnkeptMutationPolicy: Hashable, Sendable {
    /// It waits while the journal is temporarily unable to write, and is sent once the intent is on
    /// disk. If the journal has stopped, it fails with an ``UnkeptMutationError``.
    case hold
    /// It fails with an ``UnkeptMutationError``.
    case fail
    /// It is sent anyway. If the program ends before the answer arrives, its outcome will stay unknown.
    case send
}

/// A mutation was not sent, because its intent could not be written to the store's journal first.
public struct UnkeptMutationError: SentenceError {
    /// The operation's name.
    public var operation: String
    /// Why the journal rejected it.
    public var cause: any Error

    public var errorDescription: String? {
        """
        Mutation \(operation) was not sent: its intent could not be written to the store's journal. \
        \(sentence(cause))
        """
    }
}

/// A mutation was not started, because too many are waiting to be sent: for a journal that cannot write, or for
/// those that an earlier run of the program left unfinished.
public struct TooManyMutationsError: SentenceError {
    /// The operation's name.
    public var operation: String
    /// How many may wait.
    public var limit: Int

    public var errorDescription: String? {
        """
        Mutation \(operation) was not sent: \(limit) mutations are already waiting, for the store's journal or for \
        those that an earlier run of the program left unfinished.
        """
    }
}

/// Decides when mutations are sent: each once its intent is durable in the store's journal, and all of this
/// process after those that an earlier one left unfinished.
///
/// 1. No mutation is sent before its intent is durable, unless the policy says otherwise.
/// 2. Mutations are sent in the order in which they started in the store, which is that of the journal, as long as the
///    policy stays the same.
/// 3. At most one unfinished mutation is in flight.
/// 4. At most ``limit`` have a place and wait; further ones are not started.
/// 5. An unfinished mutation is sent by one call of `resumeMutations` at a time. If one ends but stays, the round is
///    over: those after it stay as well, so that none is sent before it. Mutations that wait for the round are then
///    sent, even if another round has been requested.
/// 6. An abandoned place holds nothing and blocks nothing: nothing waits for a place; places wait for the journal and
///    for unfinished mutations.
final class Outbox: @unchecked Sendable {
    // Unchecked: everything is behind the lock.

    /// Sends a mutation, or is given the reason why its intent is not durable.
    typealias Send = @Sendable (_ refusal: (any Error)?) -> Void

    /// A mutation that an earlier process started.
    struct Unfinished {
        let entry: OptimisticEntryID
        /// Sends it, and calls `ended` when it has ended; with the reason if it stays nevertheless.
        let send: (_ ended: @escaping ((any Error)?) -> Void) -> Void
        /// It is not sent in this round: one before it ended with this error and stays.
        let skip: (any Error) -> Void
    }

    /// Held by a mutation until it is sent or abandoned.
    final class Place: @unchecked Sendable {
        // Unchecked: behind the outbox's lock.

        /// nil: sent or abandoned.
        fileprivate var send: Send?
        /// Until then, once the mutation has begun: ends its wait for the journal.
        fileprivate var endWait: (@Sendable () -> Void)?

        fileprivate init(_ send: @escaping Send) { self.send = send }
    }

    let limit: Int
    private let lock = NSLock()
    private var chosen = UnkeptMutationPolicy.hold
    /// Places whose mutations have not been sent.
    private(set) var placeCount = 0
    /// The next one to be sent is last.
    private var unfinished: [Unfinished] = []
    /// Unfinished ones that are waiting or in flight, by the names of their entries.
    private var claimed: Set<OptimisticEntryID> = []
    /// Places that wait for the unfinished ones.
    private var waiting: [Place] = []
    private var isResuming = false
    /// An unfinished one has ended but stays: places that waited for this round go before the next one.
    private var isRoundOver = false
    /// The resuming thread is inside the call that sends an unfinished one.
    private var isSending = false
    /// It ended inside the call that sent it.
    private var endedAtOnce = false

    init(limit: Int = 10_000) { self.limit = limit }

    var policy: UnkeptMutationPolicy {
        get { lock.withLock { chosen } }
        set { lock.withLock { chosen = newValue } }
    }

    // MARK: Mutations of this process

    /// A place for a mutation that is about to start. It has no position yet.
    /// - Parameter send: called when it is the mutation's turn, at most once.
    /// - Returns: nil if ``limit`` are waiting.
    func makePlace(_ send: @escaping Send) -> Place? {
        lock.withLock {
            if placeCount >= limit { return nil }
            placeCount += 1
            return Place(send)
        }
    }

    /// The mutation starts: it is sent after those that started before. Called by the store's writer, whose
    /// order this is; nothing is sent before `tellOfDurability` is called or the journal makes progress.
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

    /// The mutation is over, or never starts. No effect if it was sent.
    func leave(_ place: Place) {
        let (send, endWait) = lock.withLock { () -> (Send?, (@Sendable () -> Void)?) in
            let endWait = place.endWait
            let send = takeSend(place)
            if send != nil { waiting.removeAll { $0 === place } }
            return (send, endWait)
        }
        endWait?()
        // What it holds is released outside the lock.
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

    /// It is the mutation's turn, unless unfinished ones are left.
    func sendBehindUnfinished(_ place: Place) {
        let send = lock.withLock { () -> Send? in
            if !isResuming { return takeSend(place) }
            if place.send != nil { waiting.append(place) }
            return nil
        }
        send?(nil)
    }

    // MARK: Mutations of earlier processes

    /// Unfinished mutations are about to be sent. All are claimed at once, just as those that stay are
    /// released together: so no call has the later ones without the earlier ones.
    /// - Returns: those not claimed by another call, in order.
    func claim<Mutation>(
        _ mutations: [Mutation], _ entry: (Mutation) -> OptimisticEntryID
    ) -> [Mutation] {
        lock.withLock { mutations.filter { claimed.insert(entry($0)).inserted } }
    }

    /// An unfinished mutation is not sent; if it still exists, it may be sent another time.
    func release(_ entry: OptimisticEntryID) { lock.withLock { _ = claimed.remove(entry) } }

    /// Sends unfinished mutations one after another, each when the one before it has ended.
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
                // Most end later and continue from there. One that ended inside the call is continued from
                // here, so that many of them do not overflow the stack.
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

    /// - Parameter cause: why it ended, if it stays.
    private func ended(_ mutation: Unfinished, _ cause: (any Error)?) {
        let skipped = lock.withLock { () -> [Unfinished] in
            claimed.remove(mutation.entry)
            if cause == nil { return [] }
            isRoundOver = true
            defer { unfinished = [] }
            // All at once: the next call gets them in order.
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

    /// The next step. Called under the lock.
    private func takeStep() -> Step {
        // Those after it stay, and may have been claimed again when they were told: they must not go before the others.
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
