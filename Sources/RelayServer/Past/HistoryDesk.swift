import EventLog
import EventStore
import Logging
@_spi(Rooms) import RelayRecords
import StoreEngine
import Threads

/// Answers questions about the history of a running server: a few at a time, on threads of their own, each within an
/// allowance. Nothing that is served waits for it.
///
/// Searches for events read the log and nothing else, so two of them are carried out at a time. Whatever needs a state
/// is carried out one after the other, because a state may be as large as the present one.
final class HistoryDesk: Sendable {
    struct Limits: Sendable {
        /// Events that may be read for one answer.
        var events: Int
        /// How long one answer is searched for; then what was found is a page.
        var time = Duration.seconds(2)
        /// Questions of either kind that may wait.
        var waiting = 64

        init(events: Int) { self.events = events }

        /// Four times what a query may read: states that are passed are kept, so that the next answer needs few events,
        /// and only one question at a time folds any.
        init(pastEvents: Int = GraphQLService.Limits().pastEvents) {
            let (product, isTooLarge) = pastEvents.multipliedReportingOverflow(by: 4)
            events = isTooLarge ? .max : product
        }
    }

    /// What is known when a question was answered.
    struct Answer: Sendable {
        let page: HistoryPage
        /// The events that there were.
        let first: UInt64
        let last: UInt64
    }

    /// What became of questions so far.
    struct Counts: Sendable, Equatable {
        var answered = 0
        var refused = 0
        /// Nobody waited for the answer any more.
        var left = 0
    }

    typealias Outcome = Result<Answer, HistoryRequest.Refusal>

    private let history: @Sendable () throws(EventStoreError) -> History
    private let limits: Limits
    private let now: @Sendable () -> Int64
    private let tasks: EngineTasks
    private let logger: Logger
    private let searches: HistoryLine
    private let states: HistoryLine
    private let kept = PassedStates()
    private let counted = Lock(Counts())
    private let isKeptWatched = Lock(false)
    /// The places of damage that the server's log has been told of.
    private let knownDamages = Lock(Set<String>())

    /// States are dropped when none is asked for during this time.
    private static let keepingInterval = Duration.seconds(60)
    /// Damage in more places is not told of one by one.
    private static let knownDamageLimit = 64

    /// - Parameter history: opens it as it is now.
    init(
        _ limits: Limits, now: @escaping @Sendable () -> Int64 = WallClock.microseconds,
        tasks: EngineTasks = EngineTasks(), logger: Logger,
        history: @escaping @Sendable () throws(EventStoreError) -> History
    ) {
        self.limits = limits
        self.now = now
        self.tasks = tasks
        self.logger = logger
        self.history = history
        searches = HistoryLine(threads: 2, waitingLimit: limits.waiting)
        states = HistoryLine(threads: 1, waitingLimit: limits.waiting)
    }

    /// Answers later, once, on another thread.
    /// - Returns: what gives the question up.
    func ask(
        _ request: HistoryRequest, _ answer: @escaping @Sendable (Outcome) -> Void
    ) -> HistoryAllowance {
        let allowance = HistoryAllowance(events: limits.events)
        let line = request.needsState ? states : searches
        let isTaken = line.post(
            HistoryLine.Job(allowance: allowance) { [self] in
                let outcome =
                    allowance.isGivenUp
                    ? .failure(refusal(.cancelled)) : outcome(of: request, allowance)
                count(outcome, allowance)
                answer(outcome)
                if request.needsState { watchKept() }
            })
        if !isTaken {
            counted.withLock { $0.refused += 1 }
            let message = "Too many questions about the history are waiting; try again later."
            answer(.failure(HistoryRequest.Refusal(status: 503, message: message)))
        }
        return allowance
    }

    /// Gives all questions up: the server stops.
    func stop() {
        searches.giveUp()
        states.giveUp()
    }

    var counts: Counts { counted.withLock { $0 } }

    /// Questions that wait for their turn.
    var waitingCount: Int { searches.waitingCount + states.waitingCount }

    private func count(_ outcome: Outcome, _ allowance: HistoryAllowance) {
        counted.withLock { counts in
            switch outcome {
            case .success: counts.answered += 1
            case .failure where allowance.isGivenUp: counts.left += 1
            case .failure: counts.refused += 1
            }
        }
    }

    // MARK: Answers

    private func outcome(
        of request: HistoryRequest, _ allowance: HistoryAllowance
    ) -> Outcome {
        do {
            let state = request.needsState ? kept : nil
            let history = try self.history().within(allowance, from: state)
            let page = try page(request, history, allowance)
            if allowance.isGivenUp { throw EventStoreError.cancelled }
            for damage in history.damages.all { tell(of: damage) }
            return .success(Answer(page: page, first: history.first, last: history.last))
        } catch let refusal as HistoryRequest.Refusal {
            return .failure(refusal)
        } catch HistoryPageError.nothing(let message) {
            return .failure(HistoryRequest.Refusal(status: 404, message: message))
        } catch let error as EventStoreError {
            return .failure(refusal(error))
        } catch {
            return .failure(unreadable(error))
        }
    }

    private func page(
        _ request: HistoryRequest, _ history: History, _ allowance: HistoryAllowance
    ) throws -> HistoryPage {
        let (now, limits) = (now(), request.limits)
        let end = ContinuousClock.now + self.limits.time
        let mayGoOn = { ContinuousClock.now < end && !allowance.isGivenUp }
        func sequence(_ point: HistoryPoint) throws(EventStoreError) -> UInt64 {
            try history.sequence(of: point, now: now)
        }
        switch request.question {
        case .events(let range, let search):
            return try history.eventPage(
                in: range, search.filter(now: now), limits, now: now, mayGoOn: mayGoOn)
        case .event(let point, let skip):
            return try history.page(
                about: point, skip: skip, limits, now: now, mayGoOn: mayGoOn)
        case .state(let target?, let point, _):
            return try history.page(of: target, at: sequence(point), limits)
        case .state(nil, let point, let skip):
            return try history.statePage(at: sequence(point), skip: skip, limits)
        case .blame(let target, let showsLayers, let before, let skip):
            return try history.blamePage(
                target, showsLayers: showsLayers, before: before, skip: skip, limits,
                mayGoOn: mayGoOn)
        case .differences(let a, let b, let record, let place, let skip):
            return try history.differencePage(
                from: sequence(a), to: sequence(b), record: record, from: place, skip: skip, limits,
                mayGoOn: mayGoOn)
        case .types(let point):
            return try history.typePage(at: sequence(point), limits)
        case .records(let search, let point):
            return try history.recordPage(search, at: sequence(point), limits, mayGoOn: mayGoOn)
        case .record(let id, let point):
            return try history.recordPage(id: id, at: sequence(point), limits)
        case .withoutEvents(let skipped, let end, let place):
            return try history.whatIfPage(
                skipping: skipped, through: sequence(end), from: place, limits)
        }
    }

    private func refusal(_ error: EventStoreError) -> HistoryRequest.Refusal {
        switch error.code {
        case .outOfRange: HistoryRequest.Refusal(status: 404, message: error.message)
        case .notAPoint, .limitExceeded: HistoryRequest.Refusal(status: 400, message: error.message)
        case .cancelled: HistoryRequest.Refusal(status: 503, message: "The server is stopping.")
        case _ where error.isLasting: damaged(error)
        default: unreadable(error)
        }
    }

    /// Who may ask may see everything, and the place of damage as well.
    private func damaged(_ error: EventStoreError) -> HistoryRequest.Refusal {
        guard let damage = error.damage else {
            logger.debug("\(error)")
            return HistoryRequest.Refusal(status: 500, message: error.message)
        }
        tell(of: damage)
        return HistoryRequest.Refusal(
            status: 500, message: "\(error.message) `relay log verify` says more.")
    }

    /// Once of each place, however often it is read.
    private func tell(of damage: LogDamage) {
        let isNew = knownDamages.withLock { known in
            known.count < Self.knownDamageLimit
                && known.insert("\(damage.file):\(damage.offset)").inserted
        }
        if isNew {
            logger.error(
                "The log is damaged in \(damage); questions about the history that need it are not answered."
            )
        }
    }

    private func unreadable(_ error: any Error) -> HistoryRequest.Refusal {
        logger.error("Could not read the history: \(error)")
        return HistoryRequest.Refusal(
            status: 503,
            message: """
                The history could not be read from the log; the server's log says why. Try again later.
                """)
    }

    // MARK: The states that were passed

    /// While states are kept, checks every minute whether it was asked for in the meantime.
    private func watchKept() {
        let starts = isKeptWatched.withLock { isWatched in
            defer { isWatched = true }
            return !isWatched
        }
        if starts { lookLater() }
    }

    private func lookLater() {
        tasks.later(Self.keepingInterval) { [weak self] in
            guard let self else { return }
            // Whoever keeps a state looks at this afterwards.
            let isKept = isKeptWatched.withLock { isWatched in
                isWatched = kept.dropUnused()
                return isWatched
            }
            if isKept { lookLater() }
        }
    }
}

extension HistoryRequest {
    /// Whether a state has to be made to answer it.
    fileprivate var needsState: Bool { if case .events = question { false } else { true } }
}
