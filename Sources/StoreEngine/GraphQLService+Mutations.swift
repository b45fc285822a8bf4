import GraphQLExecution
import RelayJSON

// Mutations: carried out here, or handed to the server that appends to the journal.

extension GraphQLService {
    /// How often a mutation is tried again because the server that had it stopped leading.
    private static let retriesOfOvertaken = 50
    /// A mutation was carried out, and this server does not get there: late is better than not at all.
    private static let patienceOfForwarded = Duration.seconds(600)
    private static let pauseOfOvertaken = Duration.milliseconds(20)

    /// Carries a mutation out, or hands it on; again, when another server takes over.
    func mutate(
        _ ready: ReadyRequest, _ attempt: MutationAttempt = MutationAttempt(),
        answer: @escaping @Sendable (Outcome) -> Void
    ) {
        if let mutationRefusal {
            return answer(.refused([ExecutionError(mutationRefusal, code: .forbidden)]))
        }
        let isForwarded = ready.request.isForwarded
        let settle: @Sendable (Outcome) -> Void = { [self] outcome in
            var next = attempt
            if case .overtaken(let mayBeDone) = outcome, leadership.isShared, !isForwarded {
                next.mayBeDone = next.mayBeDone || mayBeDone
                next.count += 1
                if next.count <= Self.retriesOfOvertaken {
                    // Whoever leads now carries it out. Who that is may not have been told yet.
                    let pause = attempt.count == 0 ? .zero : Self.pauseOfOvertaken
                    return tasks.later(pause) { [self, next] in
                        mutate(ready, next, answer: answer)
                    }
                }
            }
            answer(next.mayBeDone ? outcome.ofLaterAttempt : outcome)
        }
        let refusal: MutationsInProgress.Refusal?
        if let forward = leadership.forward {
            // Two servers must not hand it to each other.
            if isForwarded { return answer(.overtaken(mayBeDone: false)) }
            refusal = self.forward(ready, attempt, by: forward, settle)
        } else {
            refusal = writer.post(
                MutationRequest(
                    operation: ready.operation, variables: ready.request.variables,
                    mutationID: ready.relay.mutationID, identity: ready.request.identity,
                    optimisticResponse: ready.relay.optimisticResponse.map(JSONValue.object),
                    answer: settle), byteCount: ready.byteCount)
        }
        switch refusal {
        case nil: break
        case .closed?: settle(.stopping)
        case .full?:
            let message = "Too many mutations are in progress; this one was not carried out."
            settle(.refused([ExecutionError(message, code: .overloaded)]))
        }
    }

    /// Hands a mutation on, and answers when this server's own state has reached the answer's event: whoever asks here
    /// next sees what the mutation did.
    private func forward(
        _ ready: ReadyRequest, _ attempt: MutationAttempt, by forward: MutationForwarder,
        _ answer: @escaping @Sendable (Outcome) -> Void
    ) -> MutationsInProgress.Refusal? {
        if let refusal = inProgress.begin(ready.byteCount) { return refusal }
        let settle: @Sendable (Outcome) -> Void = { [inProgress] outcome in
            answer(outcome)
            inProgress.end(ready.byteCount)
        }
        let handed = HandedMutation(
            withText(ready.request, of: ready.operation), since: attempt.since,
            mayBeDone: attempt.mayBeDone)
        forward(handed) { [self] outcome in
            guard let cursor = outcome.cursor.flatMap(StreamCursor.init) else {
                return settle(outcome)
            }
            let deadline = ContinuousClock.now + Self.patienceOfForwarded
            whenReached(cursor, until: deadline) { settle(outcome) }
        }
        return nil
    }

    /// Waits again and again, so that what waits does not outlive its reason for long.
    private func whenReached(
        _ cursor: StreamCursor, until deadline: ContinuousClock.Instant,
        _ goOn: @escaping @Sendable () -> Void
    ) {
        wait(for: cursor, isBounded: false) { [self] error in
            let isOver =
                error?.code != .behind || isStopping || ContinuousClock.now >= deadline
            if isOver { goOn() } else { whenReached(cursor, until: deadline, goOn) }
        }
    }
}

/// The tries at one mutation.
struct MutationAttempt {
    let since = ContinuousClock.now
    /// How often another server has appended meanwhile.
    var count = 0
    /// An earlier try may have been carried out.
    var mayBeDone = false
}
