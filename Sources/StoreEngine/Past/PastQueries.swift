import GraphQLExecution
import GraphQLLanguage
import Logging
@_spi(Rooms) import RelayRecords
import SchemaService
@_spi(Rooms) import Threads

/// What has to be visible besides a state of the past, and by which rules.
struct PresentState: Sendable {
    let snapshot: Snapshot
    let service: SchemaService
}

/// Answers queries of the past on a running server: `extensions.relay.at`.
///
/// States still in memory cost nothing. Others are rebuilt from the nearest checkpoint, one at a time, within
/// a budget of events. The last one is kept for a minute or two, since a client that looks back once usually
/// looks again. Which event a time refers to is read from the log, so that waits in the same queue.
package final class PastQueries: Sendable {
    /// How much may be spent on queries of the past.
    package struct Limits: Sendable {
        /// Events that may be folded for one query.
        let events: Int
        /// Queries that may wait for their state.
        package let waiting = 64
        let documents: DocumentLimits

        package init(events: Int = 500_000, documents: DocumentLimits = DocumentLimits()) {
            self.events = events
            self.documents = documents
        }
    }

    /// The result of a query on the state after an event, if that state is in memory.
    typealias Memory = @Sendable (_ sequence: UInt64) -> Outcome?

    private struct Job: Sendable {
        enum Question: Sendable {
            /// The result at the last event at or before a time, and no later than the given event.
            case resultAtTime(Int64, through: UInt64, Memory)
            case result(UInt64)
            /// Why a subscriber was, or was not, notified of the event.
            case explanation(UInt64)
        }

        let question: Question
        let request: GraphQLRequest
        let answer: @Sendable (Outcome) -> Void
    }

    private struct State {
        var waiting = FIFO<Job>()
        var isRunning = false
        /// The state queried last.
        var kept: (sequence: UInt64, service: PastService)?
        /// Whether the state was queried since the last check.
        var isKeptUsed = false
        var isWatched = false

        mutating func keptService(at sequence: UInt64) -> PastService? {
            guard let kept, kept.sequence == sequence else { return nil }
            isKeptUsed = true
            return kept.service
        }

        mutating func keep(_ service: PastService, at sequence: UInt64) {
            kept = (sequence, service)
            isKeptUsed = true
        }

        /// - Returns: whether a state is still kept.
        mutating func dropUnused() -> Bool {
            if !isKeptUsed { kept = nil }
            isKeptUsed = false
            isWatched = kept != nil
            return isWatched
        }
    }

    /// A state not queried for this long is dropped.
    private static let keepingInterval = Duration.seconds(60)

    private let journal: any EventJournal
    private let identity: StoreIdentity
    private let limits: Limits
    private let computedFields: Set<String>
    private let present: @Sendable () -> PresentState
    private let tasks: EngineTasks
    private let logger: Logger
    private let state = Lock(State())

    init(
        _ journal: any EventJournal, _ identity: StoreIdentity, limits: Limits,
        computedFields: Set<String> = [], present: @escaping @Sendable () -> PresentState,
        tasks: EngineTasks = EngineTasks(), logger: Logger
    ) {
        self.computedFields = computedFields
        self.present = present
        self.tasks = tasks
        self.journal = journal
        self.identity = identity
        self.limits = limits
        self.logger = logger
    }

    /// The first event after which the state can be queried.
    private var first: UInt64 { max(identity.earliest, 1) }

    /// Runs a query on the state at a point, using the schema in force there.
    /// - Parameters:
    ///   - request: includes its document's text.
    ///   - last: the last event there is.
    ///   - memory: tried before anything is read.
    func answer(
        _ request: GraphQLRequest, at point: RelayExtensions.Point, through last: UInt64,
        fromMemory memory: @escaping Memory, answer: @escaping @Sendable (Outcome) -> Void
    ) {
        switch point {
        case .sequence(let sequence):
            guard (first...max(first, last)).contains(sequence) else {
                let message = """
                    There is no state at event \(sequence): events \(first) to \(last) can be \
                    queried.
                    """
                return answer(.refused([ExecutionError(message, code: .badUserInput)]))
            }
            if let outcome = memory(sequence) { return answer(outcome) }
            post(Job(question: .result(sequence), request: request, answer: answer))
        case .time(let time):
            // The log has to be read to find out which event that is.
            post(
                Job(
                    question: .resultAtTime(time, through: last, memory), request: request,
                    answer: answer))
        }
    }

    private func sequence(
        at time: Int64, through last: UInt64
    ) async throws(ExecutionError) -> UInt64 {
        let found: UInt64?
        do {
            found = try await journal.lastEvent(at: time, through: last)
        } catch {
            throw unreadable(error)
        }
        guard let found, found >= first else {
            throw ExecutionError(
                """
                There is no state at \(RFC3339.text(microseconds: time)): the log begins \
                later.
                """, code: .badUserInput)
        }
        return found
    }

    /// Explains why a subscriber with the request's document was, or was not, notified of an event.
    /// - Parameters:
    ///   - request: includes its document's text.
    ///   - last: the last event there is.
    func explain(
        _ request: GraphQLRequest, _ sequence: UInt64, through last: UInt64,
        answer: @escaping @Sendable (Outcome) -> Void
    ) {
        let first = identity.earliest + 1
        guard sequence >= first, sequence <= last else {
            let message =
                "There is no event \(sequence): events \(first) to \(last) can be explained."
            return answer(.refused([ExecutionError(message, code: .badUserInput)]))
        }
        post(Job(question: .explanation(sequence), request: request, answer: answer))
    }

    private func post(_ job: Job) {
        let (isTaken, starts) = state.withLock { state in
            guard state.waiting.count < limits.waiting else { return (false, false) }
            state.waiting.append(job)
            defer { state.isRunning = true }
            return (true, !state.isRunning)
        }
        if !isTaken {
            let message = "Too many queries of the past are waiting; try again later."
            job.answer(.refused([ExecutionError(message, code: .overloaded)]))
        } else if starts {
            tasks.start(.utility) { await self.run() }
        }
    }

    private func run() async {
        while let job = takeNext() {
            do throws(ExecutionError) {
                switch job.question {
                case .resultAtTime(let time, let last, let memory):
                    let sequence = try await sequence(at: time, through: last)
                    if let outcome = memory(sequence) {
                        job.answer(outcome)
                    } else {
                        job.answer(try await outcome(job.request, at: sequence))
                    }
                case .result(let sequence):
                    job.answer(try await outcome(job.request, at: sequence))
                case .explanation(let sequence):
                    dropKept()
                    job.answer(.executed(try await explanation(job.request, sequence)))
                }
            } catch {
                job.answer(.refused([error]))
            }
        }
        watchKept()
    }

    private func outcome(
        _ request: GraphQLRequest, at sequence: UInt64
    ) async throws(ExecutionError) -> Outcome {
        let notes = RelayNotes(cursor: identity.cursor(sequence))
        if let service = state.withLock({ $0.keptService(at: sequence) }) {
            return service.outcome(request, notes, present: present().snapshot)
        }
        dropKept()
        let service = try await service(at: sequence)
        state.withLock { $0.keep(service, at: sequence) }
        return service.outcome(request, notes, present: present().snapshot)
    }

    // MARK: The state that was queried last

    /// Ensures that only one such state is in memory.
    private func dropKept() { state.withLock { $0.kept = nil } }

    /// While a state is kept, checks every minute whether it was queried in the meantime.
    private func watchKept() {
        let starts = state.withLock { state in
            guard state.kept != nil, !state.isWatched else { return false }
            state.isWatched = true
            return true
        }
        if starts { lookLater() }
    }

    private func lookLater() {
        tasks.later(Self.keepingInterval) { [weak self] in
            guard let self else { return }
            if state.withLock({ $0.dropUnused() }) { lookLater() }
        }
    }

    private func takeNext() -> Job? {
        state.withLock { state in
            let job = state.waiting.popFirst()
            if job == nil { state.isRunning = false }
            return job
        }
    }

    private func service(at sequence: UInt64) async throws(ExecutionError) -> PastService {
        do {
            let replay = try await PastReplay(
                journal, at: sequence, indexes: [], budget: UInt64(limits.events))
            return try PastService(
                replay.snapshot, limits: limits.documents, computed: computedFields,
                present: present().service)
        } catch let error as PastReplay.TooFar {
            throw .limitExceeded(
                """
                The state after event \(sequence) is \(error.events) events from the nearest \
                checkpoint, and at most \(limits.events) are folded for one query; "relay replay" \
                has no such limit.
                """)
        } catch {
            throw unreadable(error)
        }
    }

    private func explanation(
        _ request: GraphQLRequest, _ sequence: UInt64
    ) async throws(ExecutionError) -> Response {
        let explanation: PastSubscription.Explanation
        do {
            explanation = try await explain(request, sequence)
        } catch let error as ExecutionError {
            throw error
        } catch let refusal as PastSubscriptionRefusal {
            throw ExecutionError(refusal.description, code: .badUserInput)
        } catch let error as PastReplay.TooFar {
            throw .limitExceeded(
                """
                Event \(sequence) is \(error.events) events from the nearest checkpoint, and at most \
                \(limits.events) are folded here; "relay log explain" on the directory has no such limit.
                """)
        } catch {
            throw unreadable(error)
        }
        var notes = RelayNotes(cursor: identity.cursor(sequence))
        notes.explanation = explanation.json(of: sequence)
        return Response(notes)
    }

    private func explain(
        _ request: GraphQLRequest, _ sequence: UInt64
    ) async throws -> PastSubscription.Explanation {
        if sequence == 1 { return .ofGenesis }
        var replay = try await PastReplay(
            journal, at: sequence - 1, indexes: [], budget: UInt64(limits.events))
        let subscription = try PastSubscription(
            replay.snapshot, request, documents: limits.documents)
        if let refusal = subscription.refusal {
            throw ExecutionError("The document was refused. \(refusal)", code: .badUserInput)
        }
        _ = subscription.takeFirstResult()
        let step = try await replay.step()
        return try subscription.explain(step.event, endingMutation: step.intent)
    }

    private func unreadable(_ error: any Error) -> ExecutionError {
        logger.error("Could not read the past: \(error)")
        return ExecutionError(
            "The past could not be read from the log; the server's log says why. Try again later.",
            code: .overloaded)
    }
}
