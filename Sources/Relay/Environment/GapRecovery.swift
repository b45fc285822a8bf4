import Foundation
import Publishing
@_spi(Rooms) import RelayStore

/// What an environment does when a stream has missed events.
public enum GapPolicy: Hashable, Sendable {
    /// Everything fetched so far counts as stale, and retained queries are fetched again at once. Queries
    /// that are only kept (``Environment/keep(_:)-(OperationDescriptor)``) wait until they are requested.
    case refetch
    /// Everything fetched so far counts as stale: the next request for it fetches it.
    case invalidate
    /// The program handles it; the event `network.info` reports the gap.
    case ignore
}

/// Brings a store up to date after events were missed.
///
/// 1. Many streams that resume over one new connection report one gap: notices that arrive within
///    ``settlingSeconds`` count as one. What arrives after the first of them is newer than the gap, so only that one makes
///    everything stale, before anything that follows it is written. A second gap within that time counts as the same: what
///    came between the two is not made stale. ``GapPolicy/refetch`` fetches what is shown of it all the same.
/// 2. A notice that arrives while queries are being fetched has them fetched once more, because an answer may be older
///    than the notice.
/// 3. A query that could not be fetched stays due and is retried with growing delays until it is fetched or no longer
///    retained.
/// 4. A query counts as fetched with its first whole response; no stream stays open.
/// 5. A query without an answer after ``roundSeconds`` counts as failed: it does not delay the next round.
final class GapRecovery: @unchecked Sendable {
    // Unchecked: everything is behind the lock.

    private enum Phase {
        case idle
        /// Requests will be made in a moment.
        case settling
        /// Failed queries will be requested again after a while.
        case waiting
        case fetching
    }

    /// How long the notices of one connection may take.
    private static let settlingSeconds = 0.1
    private static let longestDelaySeconds = 60.0
    /// How long the answers of a round may take.
    static let roundSeconds = 120.0

    private let store: Store
    private let lock = NSLock()
    private var chosen = GapPolicy.refetch
    private var phase = Phase.idle
    /// A notice has arrived while queries were being fetched.
    private var isDueAgain = false
    /// Queries that are in flight.
    private var unanswered: Set<OperationDescriptor> = []
    private var requests: [OperationDescriptor: AnyCancellable] = [:]
    /// Requests are still being made.
    private var isAsking = false
    /// Queries that could not be fetched.
    private var failed: [OperationDescriptor] = []
    /// Consecutive rounds with such queries.
    private var failures = 0
    /// Numbers timers, so that a replaced one does nothing.
    private var timerNumber = 0
    private var timer: AnyCancellable?
    /// The first notice of a connection has made everything stale; until this ends, the others do not.
    private var settling: Settling?
    private var settlingCount = 0

    private struct Settling {
        let number: Int
        var timer: AnyCancellable?
    }

    init(_ store: Store) { self.store = store }

    var policy: GapPolicy {
        get { lock.withLock { chosen } }
        set { lock.withLock { chosen = newValue } }
    }

    /// Whether the next notice makes everything stale.
    var isNextNoticeNew: Bool { lock.withLock { chosen != .ignore && settling == nil } }

    func begin(_ environment: Environment) {
        let policy = policy
        if policy == .ignore { return }
        if isNextNoticeNew {
            // Refused only inside an updater, where no response arrives.
            try? store.commitUpdate { $0.invalidateStore() }
            settle(environment)
        }
        guard policy == .refetch else { return }
        let starts = lock.withLock { () -> Bool in
            switch phase {
            case .settling: return false
            case .fetching:
                isDueAgain = true
                return false
            case .idle, .waiting:
                phase = .settling
                return true
            }
        }
        if starts { fetchSoon(environment) }
    }

    private func settle(_ environment: Environment) {
        // Before the timer, which may end at once.
        let (number, former) = lock.withLock {
            settlingCount += 1
            defer { settling = Settling(number: settlingCount) }
            return (settlingCount, settling)
        }
        let timer = environment.scheduler.schedule(after: Self.settlingSeconds) { [weak self] in
            guard let self else { return }
            let ended = lock.withLock { () -> Settling? in
                guard settling?.number == number else { return nil }
                defer { settling = nil }
                return settling
            }
            withExtendedLifetime(ended) {}
        }
        lock.withLock { if settling?.number == number { settling?.timer = timer } }
        // Timers are released outside the lock.
        withExtendedLifetime((timer, former)) {}
    }

    // MARK: Rounds

    private func fetchSoon(_ environment: Environment) {
        schedule(environment, in: .settling, after: Self.settlingSeconds) { recovery, environment in
            recovery.lock.withLock { (recovery.failed, recovery.failures) = ([], 0) }
            recovery.fetch(recovery.shown(environment), environment)
        }
    }

    private func fetchFailedLater(_ environment: Environment) {
        let delay = lock.withLock { () -> TimeInterval in
            failures += 1
            return min(pow(2, Double(failures - 1)), Self.longestDelaySeconds)
        }
        schedule(environment, in: .waiting, after: delay) { recovery, environment in
            let due = recovery.lock.withLock {
                defer { recovery.failed = [] }
                return recovery.failed
            }
            recovery.fetch(recovery.stillDue(due, environment), environment)
        }
    }

    /// Begins a round after a while, unless another one is started first. The timer holds the body, so what the body
    /// works on is passed in.
    private func schedule(
        _ environment: Environment, in phase: Phase, after seconds: TimeInterval,
        _ body: @escaping @Sendable (GapRecovery, Environment) -> Void
    ) {
        let number = lock.withLock { () -> Int? in
            guard self.phase == phase else { return nil }
            timerNumber += 1
            return timerNumber
        }
        guard let number else { return }
        let scheduler = environment.scheduler
        var timer: AnyCancellable? = scheduler.schedule(after: seconds) {
            [weak self, weak environment] in
            guard let self, let environment, takeTurn(number) else { return }
            body(self, environment)
        }
        // The unneeded one is released outside the lock.
        lock.withLock { if timerNumber == number { swap(&timer, &self.timer) } }
    }

    /// - Returns: false if another timer has replaced this one.
    private func takeTurn(_ number: Int) -> Bool {
        lock.withLock {
            if timerNumber == number { phase = .fetching }
            return timerNumber == number
        }
    }

    /// What is shown. A live query with subscribers is not fetched: its own stream resumes or restarts.
    private func shown(_ environment: Environment) -> [OperationDescriptor] {
        ((try? store.retainedQueries) ?? []).compactMap { operation, holders in
            let request = operation.request
            if environment.tracker.isFollowed(request) { return nil }
            return holders > (environment.kept.contains(request) ? 1 : 0) ? operation : nil
        }
    }

    /// Those that are still shown and have not been fetched since.
    private func stillDue(
        _ operations: [OperationDescriptor], _ environment: Environment
    ) -> [OperationDescriptor] {
        let shown = Set(shown(environment))
        return operations.filter { operation in
            guard shown.contains(operation) else { return false }
            if case .available = store.check(operation) { return false }
            return true
        }
    }

    private func fetch(_ operations: [OperationDescriptor], _ environment: Environment) {
        lock.withLock {
            unanswered = Set(operations)
            isAsking = true
        }
        for operation in operations { fetch(operation, environment) }
        lock.withLock { isAsking = false }
        schedule(environment, in: .fetching, after: Self.roundSeconds) { recovery, environment in
            recovery.giveUpUnanswered(environment)
        }
        endRound(environment)
    }

    private func giveUpUnanswered(_ environment: Environment) {
        let requests = lock.withLock { () -> [AnyCancellable] in
            failed += unanswered
            unanswered = []
            defer { self.requests = [:] }
            return Array(self.requests.values)
        }
        for request in requests { request.cancel() }
        endRound(environment)
    }

    private func fetch(_ operation: OperationDescriptor, _ environment: Environment) {
        let request = environment.execute(
            operation: operation, cacheConfig: CacheConfig(force: true)
        ).sink(
            receiveCompletion: { [self, weak environment] completion in
                var mayBeTriedAgain = false
                if case .failure(let error) = completion { mayBeTriedAgain = error.isPassing }
                answered(operation, mayBeTriedAgain: mayBeTriedAgain, environment)
            },
            receiveValue: { [self, weak environment] response in
                if response.written?.summary.hasNext != true {
                    answered(operation, environment)
                }
            })
        let isOver = lock.withLock {
            if unanswered.contains(operation) { requests[operation] = request }
            return !unanswered.contains(operation)
        }
        if isOver { request.cancel() }
    }

    private func answered(
        _ operation: OperationDescriptor, mayBeTriedAgain: Bool = false,
        _ environment: Environment?
    ) {
        let request = lock.withLock { () -> AnyCancellable? in
            guard unanswered.remove(operation) != nil else { return nil }
            if mayBeTriedAgain { failed.append(operation) }
            return requests.removeValue(forKey: operation)
        }
        request?.cancel()
        if let environment { endRound(environment) }
    }

    /// Continues when all queries have been answered.
    private func endRound(_ environment: Environment) {
        enum Next { case nothing, everything, failed }
        var timer: AnyCancellable?
        let next = lock.withLock { () -> Next in
            guard phase == .fetching, !isAsking, unanswered.isEmpty else { return .nothing }
            timerNumber += 1
            swap(&timer, &self.timer)
            if isDueAgain {
                isDueAgain = false
                phase = .settling
                return .everything
            }
            if failed.isEmpty { failures = 0 }
            phase = failed.isEmpty ? .idle : .waiting
            return failed.isEmpty ? .nothing : .failed
        }
        timer?.cancel()
        switch next {
        case .nothing: break
        case .everything: fetchSoon(environment)
        case .failed: fetchFailedLater(environment)
        }
    }
}

extension Error {
    /// Whether a retry may succeed: no server has said anything about the query.
    fileprivate var isPassing: Bool {
        switch self {
        case is NetworkError, is ResponseError, is NonFiniteVariableError: false
        case let failure as any NetworkFailure where failure.endsMutation: false
        default: true
        }
    }
}
