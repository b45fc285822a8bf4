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
    private let logger: Logger
    private let state = Mutex(State())

    init(
        _ journal: any EventJournal, _ identity: StoreIdentity, limits: Limits, logger: Logger
    ) {
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
        let job = Job(request: request, sequence: sequence, answer: answer)
        let (isTaken, starts) = state.withLock { state in
            guard state.waiting.count < limits.waiting else { return (false, false) }
            state.waiting.append(job)
            defer { state.isRunning = true }
            return (true, !state.isRunning)
        }
        if !isTaken {
            let message = "Too many queries of the past wait; try again later."
            answer(.refused([ExecutionError(message, code: .overloaded)]))
        } else if starts {
            Task.detached(priority: .utility) { await self.run() }
        }
    }

    private func run() async {
        var last: (sequence: UInt64, service: PastService)?
        while let job = takeNext() {
            do throws(ExecutionError) {
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

    private func unreadable(_ error: any Error) -> ExecutionError {
        logger.error("Could not read the past: \(error)")
        return ExecutionError("The past could not be read from the log.")
    }
}
