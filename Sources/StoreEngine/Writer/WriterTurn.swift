import GraphQLExecution
@_spi(Rooms) import RelayRecords
import SchemaService

/// The writer's work on the waiting mutations, based on one state: events to append together, and what to
/// report to whom. It has no side effects, so it can be thrown away and made again.
struct WriterTurn: Sendable {
    enum Message: Sendable {
        case begin(MutationRequest)
        case end(OngoingMutation, Result<MutationBody, ExecutionError>)
        /// Only what every turn does: revoke abandoned intents.
        case revokeAbandoned
    }

    /// Something that waits for an event.
    struct Note: Sendable {
        enum What: Sendable {
            case promise(PendingHead.Promise)
            /// A repeated mutation waits for the handler of the first one, whose intent has this sequence.
            case join(UInt64, MutationRequest)
        }

        let what: What
        /// The head on which it was decided.
        let sequence: UInt64
        /// It holds once this event is durable.
        let needs: UInt64
    }

    private(set) var head: Snapshot
    private(set) var events: [NewEvent] = []
    private(set) var steps: [Step] = []
    private(set) var notes: [Note] = []
    /// Approximate size of the events.
    private(set) var byteCount = 0
    /// Likewise, including the answers held until the events are durable.
    var heldByteCount: Int { byteCount + answerByteCount }
    private var answerByteCount = 0
    /// It has a single message, whose events alone reach the limit of a turn.
    private(set) var isLarge = false
    private let runner: MutationRunner

    init(_ runner: MutationRunner, on base: PendingHead.Base) {
        self.runner = runner
        head = base.snapshot
        for abandoned in base.abandoned { revoke(abandoned) }
    }

    /// Carries out the first message in any case, then more until events and answers reach the byte limit. A
    /// message whose events alone reach it gets its own turn, so that no other fails because the log cannot
    /// take it.
    /// - Returns: the number of messages carried out.
    mutating func take(_ messages: some Collection<Message>, upTo byteLimit: Int) -> Int {
        var taken = 0
        for message in messages where taken == 0 || heldByteCount < byteLimit {
            guard take(message, writingAtMost: taken == 0 ? nil : byteLimit) else { break }
            taken += 1
            if taken == 1 { isLarge = byteCount >= byteLimit }
        }
        return taken
    }

    /// Carries out one message on the head.
    /// - Returns: false if it would write more than the limit; the turn is then unchanged.
    private mutating func take(_ message: Message, writingAtMost byteLimit: Int?) -> Bool {
        switch message {
        case .begin(let request):
            guard let byteLimit else {
                add(runner.run(request, on: head), of: request)
                return true
            }
            guard let run = runner.run(request, on: head, writingAtMost: byteLimit) else {
                return false
            }
            add(run, of: request)
        case .end(let ongoing, let prepared):
            let intent = ongoing.pending.sequence
            guard head.pending.contains(where: { $0.sequence == intent }) else {
                // Another server led meanwhile, and has revoked it.
                answer(ongoing.request, .handlerOvertaken)
                note(.promise(.ended(intent)))
                return true
            }
            let run = runner.end(ongoing, with: prepared, on: head)
            if let byteLimit, run.byteCount > byteLimit { return false }
            add(run, of: ongoing.request)
            note(.promise(.ended(intent)))
        case .revokeAbandoned: break
        }
        return true
    }

    private mutating func add(_ run: MutationRunner.Run, of request: MutationRequest) {
        for publication in run.publications { append(publication, run.timeMicroseconds) }
        switch run.end {
        case .done(let outcome): answer(request, outcome)
        case .repeats(let outcome, let sequence): answer(request, outcome, needs: sequence)
        case .joins(let intent): note(.join(intent, request))
        case .waits(let ongoing): note(.promise(.start(ongoing)))
        }
    }

    private mutating func answer(
        _ request: MutationRequest, _ outcome: Outcome, needs: UInt64? = nil
    ) {
        if case .executed(let response) = outcome { answerByteCount += response.bytes.count }
        note(.promise(.answer(request, outcome)), needs: needs)
    }

    private mutating func note(_ what: Note.What, needs: UInt64? = nil) {
        notes.append(
            Note(what: what, sequence: head.sequence, needs: needs ?? head.sequence))
    }

    private mutating func append(_ publication: Publication, _ time: Int64) {
        for body in publication.events {
            events.append(NewEvent(timeMicroseconds: time, body: body))
            byteCount += body.approximateSize
        }
        head = publication.snapshot
        steps.append(
            Step(
                publication: publication, expected: head.pending.isEmpty ? .current(nil) : .later))
    }

    /// Ends the turn: computes the expected state once, not for each step.
    mutating func finish() {
        guard let last = steps.indices.last else { return }
        steps[last].expected = .current(ExpectedState(of: head))
    }

    private mutating func revoke(_ abandoned: PendingHead.Abandoned) {
        let intent = abandoned.intent
        guard head.pending.contains(where: { $0.sequence == intent }) else { return }
        var snapshot = head
        snapshot.revoke(intent)
        append(
            .revoked(Revocation(mutation: intent, reason: abandoned.reason), snapshot),
            runner.inputs.now())
        note(.promise(.ended(intent)))
    }
}

extension Publication {
    /// Its events in the log.
    fileprivate var events: [EventBody] {
        switch self {
        case .commit(let commit) where commit.hasWaited: [.response(commit.response)]
        case .commit(let commit): [.mutation(commit.intent), .response(commit.response)]
        case .began(let pending, _): [.mutation(pending.intent)]
        case .revoked(let revocation, _): [.revocation(revocation)]
        case .passed: []
        }
    }
}

extension MutationRunner.Run {
    /// Approximate size of its events in the log.
    fileprivate var byteCount: Int {
        publications.flatMap(\.events).reduce(0) { $0 + $1.approximateSize }
    }
}

extension EventBody {
    /// Approximate size in the log.
    fileprivate var approximateSize: Int {
        switch self {
        case .mutation(let intent):
            128 + intent.argumentBytes.count + (intent.optimistic?.bytes.count ?? 0)
        case .response(let response):
            64 + response.writes.bytes.count + (response.answer?.count ?? 0)
        default: 128
        }
    }
}
