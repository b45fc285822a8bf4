import Foundation
import Publishing
@_spi(Rooms) import RelayStore

/// What an environment does when a stream has missed events.
public enum GapPolicy: Hashable, Sendable {
    /// Everything that was fetched counts as stale, and retained queries are fetched
    /// again at once. Queries that are only kept (``Environment/keep(_:)-(OperationDescriptor)``) wait until
    /// they are asked for.
    case refetch
    /// Everything that was fetched counts as stale: the next to ask for it fetches it.
    case invalidate
    /// The program does what is to be done; the event `network.info` tells it.
    case ignore
}

/// Brings a store up to date after events were missed.
///
/// 1. Many streams that go on over one new connection tell of one gap: notices that come before the first
///    request is made count as one.
/// 2. A notice that comes while queries are being fetched has them fetched once more, because an answer may be
///    older than it.
/// 3. A query that could not be fetched stays due, and is tried again, later and later, until it is fetched or
///    it is not retained.
/// 4. A query has been fetched with its first whole response; no stream stays.
/// 5. A query that has no answer after ``roundSeconds`` could not be fetched: it does not keep the next round waiting.
final class GapRecovery: @unchecked Sendable {
    // Unchecked: everything is behind the lock.

    private enum Phase {
        case idle
        /// Requests will be made in a moment.
        case settling
        /// Those that failed will be made again after a while.
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
    /// A notice has come while queries were being fetched.
    private var isDueAgain = false
    /// Queries that were asked for and have no answer.
    private var unanswered: Set<OperationDescriptor> = []
    private var requests: [OperationDescriptor: AnyCancellable] = [:]
    /// Requests are still being made.
    private var isAsking = false
    /// Queries that could not be fetched.
    private var failed: [OperationDescriptor] = []
    /// Rounds in a row with such queries.
    private var failures = 0
    /// Numbers timers, so that one that was replaced does nothing.
    private var timerNumber = 0
    private var timer: AnyCancellable?

    init(_ store: Store) { self.store = store }

    var policy: GapPolicy {
        get { lock.withLock { chosen } }
        set { lock.withLock { chosen = newValue } }
    }

    func begin(_ environment: Environment) {
        let policy = policy
        if policy == .ignore { return }
        // Refused inside an updater only, where no response comes.
        try? store.commitUpdate { $0.invalidateStore() }
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

    /// Begins a round after a while, unless there is a reason for another one by then. The timer holds the body, so the
    /// body is handed what it works on.
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
        // The one that is not needed goes outside the lock.
        lock.withLock { if timerNumber == number { swap(&timer, &self.timer) } }
    }

    /// - Returns: whether the timer was not replaced by another.
    private func takeTurn(_ number: Int) -> Bool {
        lock.withLock {
            if timerNumber == number { phase = .fetching }
            return timerNumber == number
        }
    }

    /// What is shown. A live query that is being followed is not fetched: its own stream goes on, or begins
    /// anew.
    private func shown(_ environment: Environment) -> [OperationDescriptor] {
        ((try? store.retainedQueries) ?? []).compactMap { operation, holders in
            let request = operation.request
            if request.isLive, environment.isActive(request: request) { return nil }
            return holders > (environment.kept.contains(request) ? 1 : 0) ? operation : nil
        }
    }

    /// Those that are still shown, and have not been fetched since.
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

    /// Goes on when all queries have been answered.
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

extension RequestDescriptor {
    fileprivate var isLive: Bool { node.params.text?.contains("@live") ?? false }
}

extension Error {
    /// Whether the same query may be answered another time: no server has said anything about it.
    fileprivate var isPassing: Bool {
        switch self {
        case is NetworkError, is ResponseError, is NonFiniteVariableError: false
        case let failure as any NetworkFailure where failure.endsMutation: false
        default: true
        }
    }
}
