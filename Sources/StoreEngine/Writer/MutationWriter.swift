import GraphQLExecution
import RelayArtifacts
@_spi(Rooms) import RelayRecords
import SchemaService
import Synchronization
import Threads

/// The store's one writer: carries out mutations one after the other, has them made durable, and only then
/// has them published and answered.
///
/// It works on the *pending head*, which is ahead of the disk: the next mutation sees what the last one did
/// without waiting for its sync, and everything that waits shares one append. When an append fails, the
/// pending head is discarded with every mutation on it, and work goes on from the durable one. ``PendingHead``
/// knows who is to be told what, and when.
///
/// It takes its next turn only when the journal, and the publisher that notifies subscriptions, are not too far behind, and
/// when a disk that was full has been tried (`hasRoom`). Meanwhile mutations wait in its queue. How many are accepted and
/// not answered, there or after it, is bounded.
///
/// A large mutation has a turn of its own, and is alone on its way to the disk: what the journal says to it, it says to
/// no other.
///
/// A mutation whose handler waits takes two turns: the first makes its intent durable, and only then the
/// handler starts; the second, when the handler is done, ends it with a response or a revocation.
final class MutationWriter: Sendable {
    private let runner: MutationRunner
    private let journal: any EventJournal
    private let durable: DurableHead
    private let publish: @Sendable ([Step]) -> Void
    private let onFailure: @Sendable (JournalError, _ mutations: Int) -> Void
    private let queue: SerialQueue<WriterTurn.Message>
    private let head: Lock<PendingHead>
    private let inFlight: InFlight
    private let inProgress: MutationsInProgress
    private let time = Lock(Duration.zero)
    private let isRevocationDue = Atomic(false)

    /// After an append has failed: when intents are revoked that are not worked on any more, if no mutation has
    /// done it by then.
    static let revocationDelay = Duration.seconds(1)

    /// Mutations in one turn.
    private let turnLimit: Int
    /// Bytes of events and answers in one turn, about. A mutation whose events take as many is a large one.
    private static let turnBytes = 1 << 20

    /// - Parameters:
    ///   - inProgress: counts the mutations that were taken and are not answered.
    ///   - limits: how much may be on its way, and in one turn.
    ///   - hasRoom: whether a turn may be taken, as far as those are concerned who are told by `publish`, and the disk;
    ///     asked once before each. When it may again, ``goOn()`` is to be called.
    ///   - publish: called with what each durable append holds, in log order, after the durable
    ///     head has moved on and before the mutations are answered.
    ///   - onFailure: called with why an append has failed, and how many mutations fail with it, before they are
    ///     answered.
    init(
        _ runner: MutationRunner, journal: any EventJournal, durable: DurableHead,
        inProgress: MutationsInProgress, limits: GraphQLService.Limits = .init(),
        hasRoom: @escaping @Sendable () -> Bool = { true },
        publish: @escaping @Sendable ([Step]) -> Void,
        onFailure: @escaping @Sendable (JournalError, _ mutations: Int) -> Void = { _, _ in }
    ) {
        self.runner = runner
        self.journal = journal
        self.durable = durable
        self.inProgress = inProgress
        self.publish = publish
        self.onFailure = onFailure
        turnLimit = limits.turnMutations
        let inFlight = InFlight(limit: limits.inFlightBytes)
        self.inFlight = inFlight
        // Bounded by what is taken.
        queue = SerialQueue(limit: .max, tasks: runner.inputs.tasks) {
            inFlight.hasRoom && hasRoom()
        }
        head = Lock(PendingHead(durable.snapshot))
    }

    /// What carrying out mutations and folding what they wrote has taken so far.
    var foldTime: Duration { time.withLock { $0 } }

    /// Mutations whose turn has not come.
    var waitingCount: Int { queue.count }

    /// Carries a mutation out when its turn comes.
    /// - Parameter byteCount: what its request takes, about.
    /// - Returns: why it is not taken; nothing happens then.
    func post(
        _ request: MutationRequest, byteCount: Int
    ) -> MutationsInProgress.Refusal? {
        if let refusal = inProgress.begin(byteCount) { return refusal }
        var counted = request
        counted.answer = { [inProgress] outcome in
            request.answer(outcome)
            inProgress.end(byteCount)
        }
        post(.begin(counted))
        return nil
    }

    private func post(_ message: WriterTurn.Message) {
        _ = queue.post(message) { self.run(&$0) }
    }

    /// Takes the next turn, if it has waited for those behind it: they have room again.
    func goOn() { queue.resume { self.run(&$0) } }

    // MARK: On the queue

    /// Takes as many messages as make a turn.
    private func run(_ messages: inout ArraySlice<WriterTurn.Message>) {
        let start = ContinuousClock.now
        while true {
            let base = head.withLock { $0.base }
            var turn = WriterTurn(runner, on: base)
            let taken = turn.take(messages.prefix(turnLimit), upTo: Self.turnBytes)
            turn.finish()
            // When the head that it was made on is gone meanwhile, all of it is made anew.
            guard let released = head.withLock({ $0.take(turn, on: base) }) else { continue }
            messages = messages.dropFirst(taken)
            time.withLock { $0 += ContinuousClock.now - start }
            keep(released)
            append(turn, on: base)
            return
        }
    }

    private func append(_ turn: WriterTurn, on base: PendingHead.Base) {
        if turn.events.isEmpty { return }
        inFlight.begin(turn.heldByteCount, isAlone: turn.isLarge) { [self] in
            journal.append(turn.events, expecting: base.snapshot.sequence) { [self] result in
                switch result {
                case .success: complete(turn)
                case .failure(let error): fail(base, error)
                }
                // A journal is not appended to where it completes.
                if let next = inFlight.end(turn.heldByteCount) {
                    runner.inputs.tasks.start(.high, next)
                }
                goOn()
            }
        }
    }

    // MARK: On the journal's thread, in log order

    private func complete(_ turn: WriterTurn) {
        durable.advance(to: turn.head)
        publish(turn.steps)
        keep(head.withLock { $0.reach(turn.head) })
    }

    private func fail(_ base: PendingHead.Base, _ error: JournalError) {
        let (failed, isAbandoned) = head.withLock { head in
            (head.discard(base), !head.base.abandoned.isEmpty)
        }
        onFailure(error, failed.count)
        if isAbandoned, error.code != .frozen, error.code != .closed { revokeLater() }
        let refusal = Outcome.refused([ExecutionError(error)])
        for request in failed { request.answer(refusal) }
    }

    /// Every turn revokes what is abandoned; when there is nothing else to do, this makes one.
    private func revokeLater() {
        if isRevocationDue.exchange(true, ordering: .acquiringAndReleasing) { return }
        runner.inputs.tasks.later(Self.revocationDelay) { [weak self] in
            guard let self else { return }
            isRevocationDue.store(false, ordering: .releasing)
            post(.revokeAbandoned)
        }
    }

    // MARK: On either

    private func keep(_ promises: [PendingHead.Promise]) {
        for promise in promises {
            switch promise {
            case .answer(let request, let outcome): request.answer(outcome)
            // It finds the first one's answer, or is carried out.
            case .retry(let request): post(.begin(request))
            case .start(let ongoing): start(ongoing)
            case .ended: break
            }
        }
    }

    // MARK: Handlers that wait

    private func start(_ ongoing: OngoingMutation) {
        runner.inputs.tasks.start { [self] in
            var prepared: Result<MutationBody, ExecutionError>
            do {
                prepared = .success(
                    try await ongoing.mutation.prepare(
                        VariableData(ongoing.arguments), ongoing.context,
                        SnapshotReader(snapshot: durable.snapshot)))
            } catch {
                prepared = .failure(ExecutionError(thrown: error))
            }
            post(.end(ongoing, prepared))
        }
    }
}

/// Turns that are on their way to the disk: several small ones, or one large one.
private final class InFlight: Sendable {
    typealias Begin = @Sendable () -> Void

    private struct State {
        /// Bytes of the turns that have begun.
        var bytes = 0
        /// A large turn has begun, or waits for those before it: none comes behind it.
        var isClosed = false
        var waiting: (bytes: Int, begin: Begin)?
    }

    private let state = Lock(State())
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    var hasRoom: Bool { state.withLock { !$0.isClosed && $0.bytes < limit } }

    /// Begins a turn: now, or, if it goes alone, when those before it have arrived.
    func begin(_ bytes: Int, isAlone: Bool, _ begin: @escaping Begin) {
        let begins = state.withLock { state in
            assert(!state.isClosed, "no turn is made behind a large one")
            state.isClosed = isAlone
            if isAlone, state.bytes > 0 {
                state.waiting = (bytes, begin)
                return false
            }
            state.bytes += bytes
            return true
        }
        if begins { begin() }
    }

    /// A turn has arrived.
    /// - Returns: begins the one that has waited for it.
    func end(_ bytes: Int) -> Begin? {
        state.withLock { state in
            state.bytes -= bytes
            assert(state.bytes >= 0, "what has arrived was on its way")
            guard state.bytes == 0 else { return nil }
            guard let next = state.waiting.take() else {
                state.isClosed = false
                return nil
            }
            state.bytes = next.bytes
            return next.begin
        }
    }
}

extension ExecutionError {
    /// What a client is told when its mutation could not be made durable. It knows nothing of the server's
    /// directories: what the disk has said is in the server's log.
    init(_ error: JournalError) {
        switch error.code {
        case .storageFull: self = .storageFull
        case .busy, .overtaken, .backlogFull:
            self.init(
                "The server's disk is behind. Nothing was changed; try again later.",
                code: .overloaded)
        case .refused:
            self.init(
                "The log cannot take what this would write. Nothing was changed.",
                code: .limitExceeded)
        case .frozen, .closed:
            self.init(
                """
                The server can no longer write its log. Whether this was carried out will be known \
                after a restart; with the same mutationId it is carried out once.
                """, code: .outcomeUnknown)
        }
    }

    static var storageFull: ExecutionError {
        ExecutionError(
            "There is no room on the server's disk. Nothing was changed; mutations work again when there is.",
            code: .storageFull)
    }
}
