import GraphQLExecution
import RelayStore
import Synchronization

/// The store's one writer: carries out mutations one after the other, has them made durable, and only then
/// has them published and answered.
///
/// It works on the *pending head*, which is ahead of the disk: the next mutation sees what the last one did
/// without waiting for its sync, and everything that waits shares one append. When an append fails, the
/// pending head is discarded with every mutation on it, and work goes on from the durable one.
final class MutationWriter: Sendable {
    private struct State {
        var pending: Snapshot
        /// Rises when the pending head is discarded; appends of an older generation are void.
        var generation = 0
        /// Repeated mutations whose first answer is not durable yet.
        var repeated: [(sequence: UInt64, request: MutationRequest, outcome: Outcome)] = []
    }

    /// Mutations that go to the journal together.
    private struct Batch: Sendable {
        var events: [NewEvent] = []
        var commits: [Commit] = []
        var answers: [(request: MutationRequest, outcome: Outcome)] = []
    }

    private let runner: MutationRunner
    private let journal: any EventJournal
    private let durable: DurableHead
    private let publish: @Sendable ([Commit]) -> Void
    private let queue: SerialQueue<MutationRequest>
    private let state: Mutex<State>

    /// Mutations in one append; the bound on how long the first of them waits for the last.
    private static let batchLimit = 256

    /// - Parameters:
    ///   - queueLimit: mutations that may wait for the writer.
    ///   - publish: called with the commits of each durable append, in log order, after the durable
    ///     head has moved on and before the mutations are answered.
    init(
        _ runner: MutationRunner, journal: any EventJournal, durable: DurableHead, queueLimit: Int,
        publish: @escaping @Sendable ([Commit]) -> Void
    ) {
        self.runner = runner
        self.journal = journal
        self.durable = durable
        self.publish = publish
        queue = SerialQueue(limit: queueLimit)
        state = Mutex(State(pending: durable.snapshot))
    }

    /// Mutations whose turn has not come.
    var waitingCount: Int { queue.count }

    /// Carries a mutation out when its turn comes. False when too many wait; nothing happens then.
    func post(_ request: MutationRequest) -> Bool {
        queue.post(request) { requests in
            var rest = requests[...]
            while !rest.isEmpty {
                self.run(rest.prefix(Self.batchLimit))
                rest = rest.dropFirst(Self.batchLimit)
            }
        }
    }

    // MARK: On the queue

    private func run(_ requests: ArraySlice<MutationRequest>) {
        let (base, generation) = state.withLock { ($0.pending, $0.generation) }
        var head = base
        var batch = Batch()
        for request in requests {
            let run = runner.run(request, on: head)
            guard let last = run.commits.last else {
                answer(request, run, batch: &batch)
                continue
            }
            for (commit, payload) in run.commits {
                batch.events += [.mutation(commit.intent), .response(commit.response)].map {
                    NewEvent(timeMicroseconds: run.timeMicroseconds, body: $0)
                }
                batch.commits.append(Commit(commit, payload))
            }
            batch.answers.append((request, run.outcome))
            head = last.commit.snapshot
        }
        if batch.events.isEmpty { return }
        state.withLock { if $0.generation == generation { $0.pending = head } }
        journal.append(batch.events, expecting: base.sequence) { [self, batch] result in
            switch result {
            case .success: complete(batch)
            case .failure(let error): fail(batch, generation, error)
            }
        }
    }

    /// Answers a request that changed nothing: at once, unless the answer is of a mutation that is not
    /// durable yet.
    private func answer(_ request: MutationRequest, _ run: MutationRunner.Run, batch: inout Batch) {
        if let sequence = run.repeats, !batch.events.isEmpty, sequence > durable.snapshot.sequence {
            batch.answers.append((request, run.outcome))
            return
        }
        let waits = state.withLock { state in
            // Looked at under the lock: whoever advances the head looks here afterwards.
            guard let sequence = run.repeats, sequence > durable.snapshot.sequence else {
                return false
            }
            state.repeated.append((sequence, request, run.outcome))
            return true
        }
        if !waits { request.answer(run.outcome) }
    }

    // MARK: On the journal's thread, in log order

    private func complete(_ batch: Batch) {
        guard let last = batch.commits.last else { return }
        durable.advance(to: last.snapshot)
        publish(batch.commits)
        for (request, outcome) in batch.answers { request.answer(outcome) }
        let ready = state.withLock { state in
            let ready = state.repeated.filter { $0.sequence <= last.snapshot.sequence }
            state.repeated.removeAll { $0.sequence <= last.snapshot.sequence }
            return ready
        }
        for (_, request, outcome) in ready { request.answer(outcome) }
    }

    private func fail(_ batch: Batch, _ generation: Int, _ error: JournalError) {
        let void = state.withLock { state in
            guard state.generation == generation else { return [] as [MutationRequest] }
            state.generation += 1
            state.pending = durable.snapshot
            defer { state.repeated = [] }
            return state.repeated.map(\.request)
        }
        let refusal = Outcome.refused([ExecutionError(error)])
        for request in batch.answers.map(\.request) + void { request.answer(refusal) }
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
