import EventStore
import GraphQLExecution
import GraphQLLanguage
import Logging
import RelayStore
import Synchronization

/// Answers queries from the past of a running server: `extensions.relay.at`.
///
/// States that are still in memory cost nothing. Others are rebuilt from the nearest checkpoint, one at a
/// time, within a budget of events; the last one is kept, since whoever looks back once looks again.
final class PastQueries: Sendable {
    /// What may be spent on the past.
    struct Limits: Sendable {
        /// Events that may be folded for one query.
        var events = 500_000
        /// Queries that may wait for their state.
        var waiting = 64
        var documents = DocumentLimits()
    }

    private struct Job: Sendable {
        enum Question: Sendable {
            case result
            /// Why a subscriber was told of the event, or not.
            case explanation
        }

        let question: Question
        let request: GraphQLRequest
        let sequence: UInt64
        let answer: @Sendable (Outcome) -> Void
    }

    private struct State {
        var waiting: [Job] = []
        var isRunning = false
    }

    private let journal: any EventJournal
    private let identity: StoreIdentity
    private let limits: Limits
    private let tasks: EngineTasks
    private let logger: Logger
    private let state = Mutex(State())

    init(
        _ journal: any EventJournal, _ identity: StoreIdentity, limits: Limits,
        tasks: EngineTasks = EngineTasks(), logger: Logger
    ) {
        self.tasks = tasks
        self.journal = journal
        self.identity = identity
        self.limits = limits
        self.logger = logger
    }

    /// The event after which the state is the one at a point.
    /// - Parameter last: the last event there is.
    /// - Throws: that there is no such event, or that it cannot be found.
    func sequence(
        of point: RelayExtensions.Point, through last: UInt64
    ) async throws(ExecutionError) -> UInt64 {
        let first = max(identity.earliest, 1)
        switch point {
        case .sequence(let sequence):
            guard (first...max(first, last)).contains(sequence) else {
                throw ExecutionError(
                    """
                    There is no state at event \(sequence): events \(first) to \(last) can be \
                    queried.
                    """, code: .badUserInput)
            }
            return sequence
        case .time(let time):
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
    }

    /// Runs a query on the state after an event, by the schema that was in force there.
    /// - Parameter request: with its document's text.
    func answer(
        _ request: GraphQLRequest, at sequence: UInt64,
        answer: @escaping @Sendable (Outcome) -> Void
    ) {
        post(Job(question: .result, request: request, sequence: sequence, answer: answer))
    }

    /// Says why a subscriber with the request's document was, or was not, told of an event.
    /// - Parameters:
    ///   - request: with its document's text.
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
        post(Job(question: .explanation, request: request, sequence: sequence, answer: answer))
    }

    private func post(_ job: Job) {
        let (isTaken, starts) = state.withLock { state in
            guard state.waiting.count < limits.waiting else { return (false, false) }
            state.waiting.append(job)
            defer { state.isRunning = true }
            return (true, !state.isRunning)
        }
        if !isTaken {
            let message = "Too many queries of the past wait; try again later."
            job.answer(.refused([ExecutionError(message, code: .overloaded)]))
        } else if starts {
            tasks.start(.utility) { await self.run() }
        }
    }

    private func run() async {
        var last: (sequence: UInt64, service: PastService)?
        while let job = takeNext() {
            do throws(ExecutionError) {
                if case .explanation = job.question {
                    last = nil
                    job.answer(.executed(try await explanation(job.request, job.sequence)))
                    continue
                }
                if last?.sequence != job.sequence {
                    last = nil  // so that there is only one of them in memory
                    last = (job.sequence, try await service(at: job.sequence))
                }
                guard let service = last?.service else { continue }
                let notes = RelayNotes(cursor: identity.cursor(job.sequence))
                job.answer(service.outcome(job.request, notes))
            } catch {
                job.answer(.refused([error]))
            }
        }
    }

    private func takeNext() -> Job? {
        state.withLock { state in
            if state.waiting.isEmpty {
                state.isRunning = false
                return nil
            }
            return state.waiting.removeFirst()
        }
    }

    private func service(at sequence: UInt64) async throws(ExecutionError) -> PastService {
        do {
            let replay = try await PastReplay(
                journal, at: sequence, indexes: [], budget: UInt64(limits.events))
            return try PastService(replay.snapshot, limits: limits.documents)
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
        return ExecutionError("The past could not be read from the log.")
    }
}
