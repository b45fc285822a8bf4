import GraphQLExecution
import RelayArtifacts
@_spi(Rooms) import RelayRecords
import SchemaService
import Synchronization
import Threads

/// The store's only writer. It carries out mutations one at a time, makes them durable, and only then
/// publishes and answers them.
///
/// It works on the *pending head*, which is ahead of the disk: each mutation sees the effects of the previous
/// one without waiting for its sync, and all that wait share one append. When an append fails, the pending
/// head is discarded along with every mutation on it, and work continues from the durable head.
/// ``PendingHead`` decides what happens when an event becomes durable.
///
/// It takes its next turn only if the journal and the publisher are not too far behind, and a disk that was
/// full has been tried again (`hasRoom`). Meanwhile mutations wait in its queue. The number of accepted but
/// unanswered mutations, in the queue or after it, is bounded.
///
/// A large mutation has its own turn and is alone in flight to the disk, so a journal error for it affects no
/// other mutation.
///
/// A mutation whose handler waits takes two turns. The first makes its intent durable; only then does the
/// handler start. The second, when the handler is done, ends it with a response or a revocation.
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
    private let gate: Gate
    /// Intents whose handlers work here.
    private let working = Lock<Set<UInt64>>([])

    /// The delay after a failed append until abandoned intents are revoked, unless a mutation has caused that
    /// earlier.
    static let revocationDelay = Duration.seconds(1)

    /// Maximum number of mutations in one turn.
    private let turnLimit: Int
    /// Approximate bytes of events and answers in one turn. A mutation whose events alone take this much
    /// counts as large.
    private static let turnBytes = 1 << 20

    /// - Parameters:
    ///   - inProgress: counts the mutations accepted but not answered.
    ///   - limits: on what may be in flight, and on one turn.
    ///   - isAside: another server appends until ``takeOver(from:)``.
    ///   - hasRoom: whether the consumers of `publish` and the disk allow another turn; checked once before
    ///     each. When it becomes true again, ``goOn()`` must be called.
    ///   - publish: called with the contents of each durable append, in log order, after the durable head has
    ///     advanced and before the mutations are answered.
    ///   - onFailure: called with the reason for a failed append and the number of mutations that fail with
    ///     it, before they are answered.
    init(
        _ runner: MutationRunner, journal: any EventJournal, durable: DurableHead,
        inProgress: MutationsInProgress, limits: GraphQLService.Limits = .init(),
        isAside: Bool = false,
        hasRoom: @escaping @Sendable () -> Bool = { true },
        publish: @escaping @Sendable ([Step]) -> Void,
        onFailure: @escaping @Sendable (JournalError, _ mutations: Int) -> Void = { _, _ in }
    ) {
        self.runner = runner
        self.journal = journal
        self.durable = durable
        self.inProgress = inProgress
        self.publish = publish
        gate = Gate(isAside: isAside)
        self.onFailure = onFailure
        turnLimit = limits.turnMutations
        inFlight = InFlight(limit: limits.inFlightBytes)
        head = Lock(PendingHead(durable.snapshot))
        // Bounded by `inProgress`.
        queue = SerialQueue(limit: .max, tasks: runner.inputs.tasks) { [gate, inFlight] in
            gate.isAside || inFlight.hasRoom && hasRoom()
        }
    }

    /// Total time spent carrying out mutations and folding their writes.
    var foldTime: Duration { time.withLock { $0 } }

    /// Mutations waiting for their turn.
    var waitingCount: Int { queue.count }

    /// Queues a mutation to be carried out in its turn.
    /// - Parameter byteCount: the approximate size of its request.
    /// - Returns: why it is refused, in which case nothing happens.
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

    // MARK: Other servers

    /// Another server appends from now on. Until ``takeOver(from:)``, mutations are `overtaken`; handlers that work go on,
    /// and what they return is not written.
    func standAside() {
        gate.isAside = true
        releaseJoined()
        goOn()
    }

    /// Answers repeated mutations: they have ids, and wait for handlers. Those mutations are revoked, unless this server
    /// appends again before.
    private func releaseJoined() {
        for request in head.withLock({ $0.releaseJoined() }) { request.overtake() }
    }

    /// Nothing is on its way to the journal, and nothing will be before ``takeOver(from:)``.
    var isAside: Bool {
        gate.isAside && !queue.isRunning && inFlight.isEmpty
    }

    /// Goes on from a state that others have led to, and revokes mutations on which no handler works here.
    func takeOver(from snapshot: Snapshot) {
        // A handler that ends meanwhile is turned away before, or carried out after.
        working.withLock { working in
            let failed = head.withLock { $0.takeOver(from: snapshot, working: working) }
            assert(failed.isEmpty, "nothing was on its way")
            gate.isAside = false
        }
        post(.revokeAbandoned)
    }

    /// Answers what waits for a turn.
    private func turnAway(_ messages: ArraySlice<WriterTurn.Message>) {
        for message in messages {
            switch message {
            case .begin(let request): request.overtake()
            case .end(let ongoing, _):
                let isAside = working.withLock { working in
                    if gate.isAside { working.remove(ongoing.pending.sequence) }
                    return gate.isAside
                }
                if isAside { ongoing.request.answer(.handlerOvertaken) } else { post(message) }
            case .revokeAbandoned: break
            }
        }
    }

    /// Continues after waiting for room downstream.
    func goOn() { queue.resume { self.run(&$0) } }

    // MARK: On the queue

    /// Takes as many messages as fit in one turn.
    private func run(_ messages: inout ArraySlice<WriterTurn.Message>) {
        if gate.isAside {
            turnAway(messages)
            messages = []
            return
        }
        let start = ContinuousClock.now
        while true {
            let base = head.withLock { $0.base }
            var turn = WriterTurn(runner, on: base)
            let taken = turn.take(messages.prefix(turnLimit), upTo: Self.turnBytes)
            turn.finish()
            // If the base was discarded in the meantime, the whole turn is made again.
            guard let released = head.withLock({ $0.take(turn, on: base) }) else { continue }
            for case .end(let ongoing, _) in messages.prefix(taken) {
                _ = working.withLock { $0.remove(ongoing.pending.sequence) }
            }
            messages = messages.dropFirst(taken)
            if gate.isAside { releaseJoined() }
            time.withLock { $0 += ContinuousClock.now - start }
            keep(released)
            append(turn, on: base)
            return
        }
    }

    private func append(_ turn: WriterTurn, on base: PendingHead.Base) {
        if turn.events.isEmpty { return }
        inFlight.begin(turn.heldByteCount, isAlone: turn.isLarge) { [self] in
            guard head.withLock({ $0.isCurrent(base) }) else {
                // What it was made on has failed meanwhile, and its mutations with it.
                if let next = inFlight.end(turn.heldByteCount) {
                    runner.inputs.tasks.start(.high, next)
                }
                goOn()
                return
            }
            journal.append(turn.events, expecting: base.snapshot.sequence) { [self] result in
                switch result {
                case .success: complete(turn)
                case .failure(let error): fail(base, error)
                }
                // Never append to the journal from its own completion.
                if let next = inFlight.end(turn.heldByteCount) {
                    runner.inputs.tasks.start(.high, next)
                }
                goOn()
            }
        }
    }

    // MARK: On the journal's thread, in log order

    private func complete(_ turn: WriterTurn) {
        durable.advance(to: turn.head) { publish(turn.steps) }
        keep(head.withLock { $0.reach(turn.head) })
    }

    private func fail(_ base: PendingHead.Base, _ error: JournalError) {
        let (failed, isAbandoned) = head.withLock { head in
            (head.discard(base), !head.base.abandoned.isEmpty)
        }
        onFailure(error, failed.count)
        if isAbandoned, error.code != .frozen, error.code != .closed { revokeLater() }
        let outcome = Outcome(error)
        for request in failed {
            if request.hasIntent {
                request.answer(Outcome(error, ofHandler: true))
            } else if case .overtaken = outcome {
                request.overtake()
            } else {
                request.answer(outcome)
            }
        }
    }

    /// Every turn revokes abandoned intents; if there is no other work, this schedules one.
    private func revokeLater() {
        if isRevocationDue.exchange(true, ordering: .acquiringAndReleasing) { return }
        runner.inputs.tasks.later(Self.revocationDelay) { [weak self] in
            guard let self else { return }
            isRevocationDue.store(false, ordering: .releasing)
            post(.revokeAbandoned)
        }
    }

    // MARK: On either thread

    private func keep(_ promises: [PendingHead.Promise]) {
        for promise in promises {
            switch promise {
            case .answer(let request, let outcome): request.answer(outcome)
            // It gets the first one's answer, or is carried out.
            case .retry(let request): post(.begin(request))
            case .start(let ongoing):
                // Whoever leads now revokes it.
                if gate.isAside { ongoing.request.overtake() } else { start(ongoing) }
            case .ended: break
            }
        }
    }

    // MARK: Handlers that wait

    private func start(_ ongoing: OngoingMutation) {
        var ongoing = ongoing
        ongoing.request.hasIntent = true
        _ = working.withLock { $0.insert(ongoing.pending.sequence) }
        runner.inputs.tasks.start { [self, ongoing] in
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

/// Whether another server appends: then no turn is taken.
private final class Gate: Sendable {
    private let state: Atomic<Bool>

    init(isAside: Bool) { state = Atomic(isAside) }

    var isAside: Bool {
        get { state.load(ordering: .sequentiallyConsistent) }
        set { state.store(newValue, ordering: .sequentiallyConsistent) }
    }
}

/// Turns in flight to the disk: several small ones, or one large one.
private final class InFlight: Sendable {
    typealias Begin = @Sendable () -> Void

    private struct State {
        /// Bytes of the turns that have started.
        var bytes = 0
        var count = 0
        /// A large turn has started, or waits for those before it; no turn may follow it.
        var isClosed = false
        var waiting: (bytes: Int, begin: Begin)?
    }

    private let state = Lock(State())
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    var hasRoom: Bool { state.withLock { !$0.isClosed && $0.bytes < limit } }

    /// None has started that has not completed, and none waits to start.
    var isEmpty: Bool { state.withLock { $0.count == 0 && $0.waiting == nil } }

    /// Starts a turn: now or, if it must be alone, once those before it have completed.
    func begin(_ bytes: Int, isAlone: Bool, _ begin: @escaping Begin) {
        let begins = state.withLock { state in
            assert(!state.isClosed, "no turn is made behind a large one")
            state.isClosed = isAlone
            if isAlone, state.bytes > 0 {
                state.waiting = (bytes, begin)
                return false
            }
            state.bytes += bytes
            state.count += 1
            return true
        }
        if begins { begin() }
    }

    /// A turn has completed.
    /// - Returns: an action that starts the turn that was waiting for it, if any.
    func end(_ bytes: Int) -> Begin? {
        state.withLock { state in
            state.bytes -= bytes
            state.count -= 1
            assert(state.bytes >= 0, "what has arrived was on its way")
            guard state.bytes == 0 else { return nil }
            guard let next = state.waiting.take() else {
                state.isClosed = false
                return nil
            }
            state.bytes = next.bytes
            state.count = 1
            return next.begin
        }
    }
}

extension Outcome {
    /// What a client is told whose mutation could not be made durable. It reveals nothing about the server's
    /// directories: the disk's error is in the server's log.
    /// - Parameter ofHandler: it is the end of a mutation whose handler has worked.
    init(_ error: JournalError, ofHandler: Bool = false) {
        switch error.code {
        case .overtaken where ofHandler: self = .handlerOvertaken
        case .busy where ofHandler, .backlogFull where ofHandler: self = .handlerUnwritten
        case .storageFull: self = .refused([.storageFull])
        case .overtaken: self = .overtaken(mayBeDone: false)
        case .busy, .backlogFull:
            let message =
                "The log takes no more at the moment. Nothing was changed; try again later."
            self = .refused([ExecutionError(message, code: .overloaded)])
        case .refused:
            let message = "The log cannot take what this would write. Nothing was changed."
            self = .refused([ExecutionError(message, code: .limitExceeded)])
        case .frozen, .closed:
            let message = """
                The server can no longer write its log. Whether this was carried out will be known \
                after a restart; with the same mutationId it is carried out once.
                """
            self = .refused([ExecutionError(message, code: .outcomeUnknown)])
        }
    }
}

extension ExecutionError {
    static var storageFull: ExecutionError {
        ExecutionError(
            "There is no room on the server's disk. Nothing was changed; mutations work again when there is.",
            code: .storageFull)
    }
}
