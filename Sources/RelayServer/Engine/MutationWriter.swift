import GraphQLExecution
import RelayArtifacts
import RelayStore
import Synchronization

/// The store's one writer: carries out mutations one after the other, has them made durable, and only then
/// has them published and answered.
///
/// It works on the *pending head*, which is ahead of the disk: the next mutation sees what the last one did
/// without waiting for its sync, and everything that waits shares one append. When an append fails, the
/// pending head is discarded with every mutation on it, and work goes on from the durable one.
///
/// A mutation whose handler waits takes two turns: the first makes its intent durable, and only then the
/// handler starts; the second, when the handler is done, ends it with a response or a revocation.
final class MutationWriter: Sendable {
    private enum Message: Sendable {
        case begin(MutationRequest)
        case end(OngoingMutation, Result<MutationBody, ExecutionError>)
    }

    private struct State {
        var pending: Snapshot
        var foldTime = Duration.zero
        /// Rises when the pending head is discarded; appends of an older generation are void.
        var generation = 0
        /// Repeated mutations whose first answer is not durable yet.
        var repeated: [(sequence: UInt64, request: MutationRequest, outcome: Outcome)] = []
        /// Repeated mutations whose first request waits for its handler, by the sequence of its intent.
        var joined: [UInt64: [MutationRequest]] = [:]
        /// Intents that nobody works on any more and whose end could not be written, when the disk was full.
        var abandoned: [UInt64] = []
    }

    /// What goes to the journal together.
    private struct Batch: Sendable {
        var events: [NewEvent] = []
        var publications: [Step] = []
        var answers: [(request: MutationRequest, outcome: Outcome)] = []
        /// Mutations whose handlers start once this is durable.
        var starting: [OngoingMutation] = []
        /// The intents of mutations that end in this batch.
        var ended: [UInt64] = []
    }

    private let runner: MutationRunner
    private let journal: any EventJournal
    private let durable: DurableHead
    private let publish: @Sendable ([Step]) -> Void
    private let queue: SerialQueue<Message>
    private let state: Mutex<State>

    /// Mutations in one append; the bound on how long the first of them waits for the last.
    private static let batchLimit = 256

    /// - Parameters:
    ///   - queueLimit: mutations that may wait for the writer.
    ///   - publish: called with what each durable append holds, in log order, after the durable
    ///     head has moved on and before the mutations are answered.
    init(
        _ runner: MutationRunner, journal: any EventJournal, durable: DurableHead, queueLimit: Int,
        publish: @escaping @Sendable ([Step]) -> Void
    ) {
        self.runner = runner
        self.journal = journal
        self.durable = durable
        self.publish = publish
        queue = SerialQueue(limit: queueLimit)
        state = Mutex(State(pending: durable.snapshot))
    }

    /// What carrying out mutations and folding what they wrote has taken so far.
    var foldTime: Duration { state.withLock { $0.foldTime } }

    /// Mutations whose turn has not come.
    var waitingCount: Int { queue.count }

    /// Carries a mutation out when its turn comes. False when too many wait; nothing happens then.
    func post(_ request: MutationRequest) -> Bool { post(.begin(request), isLimited: true) }

    private func post(_ message: Message, isLimited: Bool) -> Bool {
        queue.post(message, isLimited: isLimited) { messages in
            var rest = messages[...]
            while !rest.isEmpty {
                self.run(rest.prefix(Self.batchLimit))
                rest = rest.dropFirst(Self.batchLimit)
            }
        }
    }

    // MARK: On the queue

    private func run(_ messages: ArraySlice<Message>) {
        let (base, generation, abandoned) = state.withLock { state in
            defer { state.abandoned = [] }
            return (state.pending, state.generation, state.abandoned)
        }
        let start = ContinuousClock.now
        var head = base
        var batch = Batch()
        for mutation in abandoned { revoke(mutation, &head, &batch) }
        for message in messages {
            switch message {
            case .begin(let request):
                add(runner.run(request, on: head), of: request, &head, &batch)
            case .end(let ongoing, let prepared):
                batch.ended.append(ongoing.pending.sequence)
                add(
                    runner.end(ongoing, with: prepared, on: head), of: ongoing.request, &head,
                    &batch)
            }
        }
        state.withLock { state in
            state.foldTime += ContinuousClock.now - start
            if state.generation == generation, !batch.events.isEmpty { state.pending = head }
        }
        if batch.events.isEmpty { return }
        journal.append(batch.events, expecting: base.sequence) { [self, batch] result in
            switch result {
            case .success: complete(batch)
            case .failure(let error): fail(batch, generation, error)
            }
        }
    }

    private func add(
        _ run: MutationRunner.Run, of request: MutationRequest, _ head: inout Snapshot,
        _ batch: inout Batch
    ) {
        for publication in run.publications {
            batch.events += publication.events.map {
                NewEvent(timeMicroseconds: run.timeMicroseconds, body: $0)
            }
            head = publication.snapshot
        }
        batch.publications += run.publications.map(Self.step)
        switch run.end {
        case .done(let outcome) where run.publications.isEmpty: request.answer(outcome)
        case .done(let outcome): batch.answers.append((request, outcome))
        case .repeats(let outcome, let sequence): repeats(request, outcome, sequence, &batch)
        case .joins(let sequence):
            state.withLock { $0.joined[sequence, default: []].append(request) }
        case .waits(let ongoing): batch.starting.append(ongoing)
        }
    }

    private static func step(_ publication: Publication) -> Step {
        Step(publication, expected: ExpectedState(of: publication.snapshot))
    }

    private func revoke(_ mutation: UInt64, _ head: inout Snapshot, _ batch: inout Batch) {
        guard head.pending.contains(where: { $0.sequence == mutation }) else { return }
        head.revoke(mutation)
        let reason = "The response could not be written."
        let publication = Publication.revoked(
            Revocation(mutation: mutation, reason: reason), head)
        batch.events += publication.events.map {
            NewEvent(timeMicroseconds: runner.inputs.now(), body: $0)
        }
        batch.publications.append(Self.step(publication))
        batch.ended.append(mutation)
    }

    /// Answers a mutation that was carried out before: at once, unless the first answer is not durable yet.
    private func repeats(
        _ request: MutationRequest, _ outcome: Outcome, _ sequence: UInt64, _ batch: inout Batch
    ) {
        if !batch.events.isEmpty, sequence > durable.snapshot.sequence {
            batch.answers.append((request, outcome))
            return
        }
        let waits = state.withLock { state in
            // Looked at under the lock: whoever advances the head looks here afterwards.
            guard sequence > durable.snapshot.sequence else { return false }
            state.repeated.append((sequence, request, outcome))
            return true
        }
        if !waits { request.answer(outcome) }
    }

    // MARK: On the journal's thread, in log order

    private func complete(_ batch: Batch) {
        guard let last = batch.publications.last else { return }
        durable.advance(to: last.publication.snapshot)
        publish(batch.publications)
        for (request, outcome) in batch.answers { request.answer(outcome) }
        let (ready, joined) = state.withLock { state in
            let ready = state.repeated.filter { $0.sequence <= last.publication.snapshot.sequence }
            state.repeated.removeAll { $0.sequence <= last.publication.snapshot.sequence }
            return (ready, batch.ended.flatMap { state.joined.removeValue(forKey: $0) ?? [] })
        }
        for (_, request, outcome) in ready { request.answer(outcome) }
        // The first request has ended: these find its answer, or are carried out.
        for request in joined { _ = post(.begin(request), isLimited: false) }
        for ongoing in batch.starting { start(ongoing) }
    }

    private func fail(_ batch: Batch, _ generation: Int, _ error: JournalError) {
        let (void, joined) = state.withLock { state in
            state.abandoned += batch.ended
            let joined =
                (batch.starting.map(\.pending.sequence) + batch.ended)
                .flatMap { state.joined.removeValue(forKey: $0) ?? [] }
            guard state.generation == generation else { return ([] as [MutationRequest], joined) }
            state.generation += 1
            state.pending = durable.snapshot
            defer { state.repeated = [] }
            return (state.repeated.map(\.request), joined)
        }
        let refusal = Outcome.refused([ExecutionError(error)])
        let requests = batch.answers.map(\.request) + batch.starting.map(\.request)
        for request in requests + void + joined { request.answer(refusal) }
    }

    // MARK: Handlers that wait

    private func start(_ ongoing: OngoingMutation) {
        Task.detached { [self] in
            var prepared: Result<MutationBody, ExecutionError>
            do {
                prepared = .success(
                    try await ongoing.handler.prepare(
                        VariableData(ongoing.arguments), ongoing.context,
                        SnapshotReader(snapshot: durable.snapshot)))
            } catch {
                prepared = .failure(ExecutionError(thrown: error))
            }
            _ = post(.end(ongoing, prepared), isLimited: false)
        }
    }
}

extension Publication {
    /// The events that the log has of it.
    fileprivate var events: [EventBody] {
        switch self {
        case .commit(let commit) where commit.hasWaited: [.response(commit.response)]
        case .commit(let commit): [.mutation(commit.intent), .response(commit.response)]
        case .began(let pending, _): [.mutation(pending.intent)]
        case .revoked(let revocation, _): [.revocation(revocation)]
        }
    }
}

extension ExecutionError {
    /// What a client is told when its mutation could not be made durable.
    init(_ error: JournalError) {
        let code: ErrorCode? =
            switch error.code {
            case .storageFull: .storageFull
            case .busy: .limitExceeded
            default: nil
            }
        self.init("\(error.message) Nothing was changed.", code: code)
    }
}
