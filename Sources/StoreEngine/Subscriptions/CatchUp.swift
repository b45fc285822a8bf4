import GraphQLExecution
import Logging
import RelayJSON
@_spi(Rooms) import RelayRecords
import SchemaService
import Threads

/// Catches up subscriptions that missed more than a few commits: from memory when the commits are recent,
/// otherwise from the log.
///
/// Waiting subscriptions are served together by one pass, which starts where the earliest of them stopped.
/// Each event is evaluated at its own sequence, and equal subscriptions are executed once. A subscription
/// that missed little does not wait for one that missed much: passes over memory run alongside passes over
/// the log. The latter go from near to far, and within each, no subscription missed more than about four times
/// as much as another, where anything up to 32 events counts as 32. Together they read less than two and a
/// half times as much as a single pass for all. A subscriber without room for a result leaves the pass
/// with it, and comes back once it has drained; results in flight to it count. At the end of a pass all
/// subscriptions move to the publisher, which has the rest.
///
/// A pass over recent commits reads and folds nothing. The cost of a pass over the log is bounded: at most
/// three past states are in memory, however many subscriptions wait, namely the pass's own and two kept ones
/// (``KeptStates``). If a client missed more events than the limit, or its cursor is that far from an
/// available state, the cursor counts as too old.
package final class CatchUp: Sendable {
    /// A subscription waiting for its turn.
    struct Waiting: Sendable {
        var request: SubscriptionRequest
        /// Everything up to this event has been delivered.
        var sequence: UInt64
        /// The sink has been notified that the subscription resumes.
        var isAnnounced: Bool
        /// The pass that first had no room for it; others come later, so that none is overtaken for ever.
        var leftOver = UInt64.max
    }

    /// Subscriptions served by successive passes.
    private struct Lane {
        private var waiting = WaitingLine<ObjectIdentifier, Waiting>()
        private var isRunning = false

        var count: Int { waiting.count }

        /// - Returns: whether a task has to be started to serve them.
        mutating func append(_ new: Waiting) -> Bool {
            waiting.append(ObjectIdentifier(new.request.sink), new)
            defer { isRunning = true }
            return !isRunning
        }

        mutating func remove(_ sink: any SubscriptionSink) -> Waiting? {
            waiting.remove(ObjectIdentifier(sink))
        }

        /// All that wait; if none do, the task ends.
        mutating func takeAll() -> [Waiting] {
            assert(isRunning, "one task serves a lane, and it ends when none waits")
            if waiting.isEmpty { isRunning = false }
            return waiting.takeAll()
        }
    }

    private struct State {
        /// The commits they missed are in memory.
        var recent = Lane()
        var log = Lane()
        /// Reading the log for them failed.
        var failed = FailedReadings()
        /// Passes so far.
        var passes: UInt64 = 0

        var waitingCount: Int { recent.count + log.count + failed.count }
    }

    /// Events delivered before waiting for the sinks, so that the number of results in flight is bounded.
    package static let settleInterval = 32
    /// Events read between checks for subscriptions that have ended; reading stops once all have.
    private static let lookInterval: UInt64 = 1_024
    /// Deliveries made before waiting for the sinks, not counting the excess of a single event.
    package static let settleSize = DeliverySize(count: 16_384, byteCount: 16 << 20)
    /// Missing at most this many events counts as having missed little.
    private static let fewEvents: UInt64 = 32

    private let journal: any EventJournal
    private let identity: StoreIdentity
    private let service: SchemaService
    private let durable: DurableHead
    private let operations: OperationCache
    private let recent: RecentCommits
    private let tasks: EngineTasks
    private let documents: DocumentLimits
    private let eventLimit: UInt64
    private let nearEvents: UInt64
    private let waitingLimit: Int
    private let passByteLimit: Int
    private let counters: ServiceCounters
    private let logger: Logger
    private let kept: KeptStates
    private let held: HeldResults
    private let state = Lock(State())
    /// Where results go, and requests that are finished here.
    private let outputs = Lock<Outputs?>(nil)

    struct Outputs: Sendable {
        let deliver: @Sendable ([Delivery]) -> Void
        /// Returns once the sinks have taken everything.
        let settle: @Sendable () async -> Void
        /// Returns when the subscription waits to begin, which takes as long as too many others do.
        let goOn: @Sendable (SubscriptionRequest) async -> Void
    }

    /// - Parameters:
    ///   - documents: limits on the documents, which are sent along with the requests.
    ///   - limits: on what may wait and what may be folded.
    init(
        _ service: SchemaService, _ journal: any EventJournal, _ identity: StoreIdentity,
        _ operations: OperationCache, durable: DurableHead, recent: RecentCommits,
        documents: DocumentLimits,
        limits: GraphQLService.Limits, tasks: EngineTasks, counters: ServiceCounters,
        logger: Logger
    ) {
        self.service = service
        self.journal = journal
        self.identity = identity
        self.operations = operations
        self.durable = durable
        self.recent = recent
        self.tasks = tasks
        self.documents = documents
        eventLimit = UInt64(limits.resumeEvents)
        nearEvents = UInt64(limits.nearEvents)
        waitingLimit = limits.resumingSubscriptions
        passByteLimit = limits.catchUpPassBytes
        self.counters = counters
        self.logger = logger
        kept = KeptStates(tasks)
        held = HeldResults(limit: limits.heldResultBytes)
    }

    /// Sets where results go; must be called once, before anything else.
    func connect(_ outputs: Outputs) { self.outputs.withLock { $0 = outputs } }

    var heldResultBytes: Int { held.byteCount }

    /// Takes a subscription to which everything up to an event has been delivered.
    func post(_ request: SubscriptionRequest, behind sequence: UInt64) {
        let isAnnounced = if case .after = request.start { true } else { false }
        post(Waiting(request: request, sequence: sequence, isAnnounced: isAnnounced))
    }

    private func post(_ waiting: Waiting) {
        // Commits in memory now may be gone when its turn comes; then it is posted again.
        let isRecent = waiting.sequence >= recent.base.sequence
        let (isTaken, starts) = state.withLock { state in
            // An announced subscription already counts as one of its connection's.
            guard waiting.isAnnounced || state.waitingCount < waitingLimit else {
                return (false, false)
            }
            return (true, isRecent ? state.recent.append(waiting) : state.log.append(waiting))
        }
        if starts {
            tasks.start(.utility) {
                if isRecent { await self.serveRecent() } else { await self.serveLog() }
            }
        }
        // It may have ended before it was here to be removed.
        if !waiting.request.sink.isWanted { forget(waiting.request.sink) }
        if isTaken { return }
        let message = "Too many subscriptions are catching up; resume it later."
        let error = ExecutionError(message, code: .overloaded)
        outputs.withLock { $0 }?.deliver([
            Delivery(sink: waiting.request.sink, event: .failed([error]))
        ])
    }

    /// A subscription has ended. If it is still waiting, its request is released, however large it is.
    func forget(_ sink: any SubscriptionSink) {
        let gone = state.withLock { state in
            (
                state.recent.remove(sink), state.log.remove(sink),
                state.failed.remove(sink)
            )
        }
        withExtendedLifetime(gone) {}
    }

    private func serveRecent() async {
        guard let outputs = outputs.withLock({ $0 }) else { return }
        while true {
            let batch = state.withLock { $0.recent.takeAll() }
            if batch.isEmpty { return }
            await tellFromMemory(batch, outputs)
        }
    }

    private func serveLog() async {
        guard let outputs = outputs.withLock({ $0 }) else { return }
        while true {
            let batch = state.withLock { $0.log.takeAll() }
            if batch.isEmpty { return }
            for part in Self.fromNearToFar(batch, end: recent.end) {
                await tellFromLog(part, outputs)
            }
        }
    }

    /// Splits a batch into parts, starting with the subscriptions that missed least.
    private static func fromNearToFar(_ batch: [Waiting], end: UInt64) -> [[Waiting]] {
        var parts: [[Waiting]] = []
        var fewest: UInt64 = 0
        for waiting in batch.sorted(by: { $0.sequence > $1.sequence }) {
            let missed = end - min(waiting.sequence, end)
            if parts.isEmpty || missed / 4 > fewest {
                parts.append([])
                fewest = max(missed, fewEvents)
            }
            parts[parts.count - 1].append(waiting)
        }
        return parts
    }

    // MARK: One pass over memory

    private func tellFromMemory(_ all: [Waiting], _ outputs: Outputs) async {
        let batch = all.filter(\.request.sink.isWanted)
        guard var sequence = batch.map(\.sequence).min() else { return }
        assert(
            batch.allSatisfy { $0.sequence <= durable.snapshot.sequence },
            "what is not durable has not been told")
        var pass = CatchUpPass(
            service, identity, operations, documents, byteLimit: passByteLimit, held: held,
            newest: { self.durable.snapshot })
        enter(batch, &pass, on: durable.snapshot, outputs)
        // The publisher delivers what arrives during the pass. Otherwise a pass would never end under load,
        // and others would wait.
        let end = recent.end
        while !pass.isEmpty, sequence < end {
            guard let (start, missed) = recent.missed(after: sequence) else {
                // It has been evicted from memory in the meantime, but the log has it.
                for (request, sequence) in pass.removeAll(after: sequence) {
                    post(request.starting(.after(sequence)), behind: sequence)
                }
                return
            }
            if missed.isEmpty { break }
            var before = start
            var size = DeliverySize()
            for commit in missed.prefix(Self.settleInterval) {
                sequence = commit.snapshot.sequence
                let told = pass.tell(
                    commit.intent, commit.response, from: before, commit.snapshot)
                before = commit.snapshot
                for held in told.held { deliverLater(held, at: sequence, outputs) }
                for request in told.unmade { resumeOnceDrained(request, after: sequence - 1) }
                if told.deliveries.isEmpty { continue }
                outputs.deliver(told.deliveries)
                size += told.size
                if !size.isBelow(Self.settleSize) { break }
            }
            if size.count > 0 { await outputs.settle() }
            pass.removeUnwanted()
        }
        for (request, sequence) in pass.removeAll(after: sequence) {
            await outputs.goOn(request.starting(.after(sequence)))
        }
    }

    /// Adds subscriptions to a pass, and notifies each that it resumes. Those for which there is no room wait for
    /// another pass, together with what comes meanwhile.
    private func enter(
        _ batch: [Waiting], _ pass: inout CatchUpPass, on snapshot: Snapshot, _ outputs: Outputs
    ) {
        let number = state.withLock { state in
            state.passes += 1
            return state.passes
        }
        let inTurn = batch.sorted {
            ($0.leftOver, $0.sequence) < ($1.leftOver, $1.sequence)
        }
        for waiting in inTurn {
            let (request, sequence) = (waiting.request, waiting.sequence)
            do throws(ExecutionErrors) {
                let isIn = try pass.add(request, behind: sequence, snapshot)
                if !waiting.isAnnounced {
                    let notes = RelayNotes(cursor: identity.cursor(sequence), recovered: true)
                    outputs.deliver([.missed(Response(notes), to: request.sink)])
                }
                if isIn {
                    // The pass has its state from now on.
                    kept.leave([request.sink])
                } else {
                    post(
                        Waiting(
                            request: request.starting(.after(sequence)), sequence: sequence,
                            isAnnounced: true, leftOver: min(waiting.leftOver, number)))
                }
            } catch {
                outputs.deliver([
                    Delivery(sink: waiting.request.sink, event: .failed(error.errors))
                ])
            }
        }
    }

    /// Delivers a result once there is room for it, then resumes after it.
    private func deliverLater(
        _ held: CatchUpPass.Held, at sequence: UInt64, _ outputs: Outputs
    ) {
        let sink = held.request.sink
        sink.whenDrained { [weak self] in
            guard let self else { return }
            // Other subscriptions of the same connection were waiting for room as well.
            if sink.isFull { return deliverLater(held, at: sequence, outputs) }
            outputs.deliver([.missed(held.response, to: sink)])
            post(held.request, behind: sequence)
        }
    }

    /// Resumes after an event once there is room.
    private func resumeOnceDrained(_ request: SubscriptionRequest, after sequence: UInt64) {
        let sink = request.sink
        sink.whenDrained { [weak self] in
            guard let self else { return }
            if sink.isFull { return resumeOnceDrained(request, after: sequence) }
            post(request.starting(.after(sequence)), behind: sequence)
        }
    }

    // MARK: One pass over the log

    private func tellFromLog(_ all: [Waiting], _ outputs: Outputs) async {
        // The publisher delivers what is durable but not published yet.
        let end = recent.end
        var batch = all.filter(\.request.sink.isWanted)
        let readableAfter = state.withLock { $0.failed.readableAfter }
        // A subscription announced as resuming must resume.
        let isTooFar: (Waiting) -> Bool = {
            !$0.isAnnounced
                && (end - min($0.sequence, end) > self.eventLimit || $0.sequence < readableAfter)
        }
        for waiting in batch where isTooFar(waiting) {
            await outputs.goOn(waiting.request.starting(.lost))
        }
        batch.removeAll(where: isTooFar)
        guard let first = batch.map(\.sequence).min() else { return }
        let replay: PastReplay
        do {
            let isAnnounced = batch.contains { $0.isAnnounced && $0.sequence == first }
            replay = try await self.replay(at: first, limit: isAnnounced ? .max : eventLimit)
        } catch {
            if !(error is PastReplay.TooFar) {
                logger.error("Could not read what subscriptions have missed: \(error)")
            }
            if error.isLasting {
                await tellWithoutState(at: first, batch, outputs)
            } else {
                await tryAgain(batch, outputs)
            }
            return
        }
        counters.count(\.resumedEvents, replay.readEvents)
        kept.keep(replay.snapshot)
        var pass = CatchUpPass(
            service.on(replay.snapshot.symbols), identity, operations, documents,
            byteLimit: passByteLimit, held: held, newest: { self.durable.snapshot })
        enter(batch, &pass, on: replay.snapshot, outputs)
        await run(&pass, replay, through: end, outputs)
    }

    /// A replay positioned at an event. Where a subscriber left an earlier pass, nothing has to be read or
    /// folded again.
    private func replay(at sequence: UInt64, limit: UInt64) async throws -> PastReplay {
        let near = kept.nearest(to: sequence)
        if let near, sequence - near.sequence <= nearEvents {
            return try await PastReplay(journal, from: near, to: sequence)
        }
        return try await PastReplay(
            journal, at: sequence, indexes: service.indexes, orFrom: near, budget: limit)
    }

    private func run(
        _ pass: inout CatchUpPass, _ start: PastReplay, through end: UInt64, _ outputs: Outputs
    ) async {
        var replay = start
        var unsettled = 0
        var size = DeliverySize()
        while replay.snapshot.sequence < end, !pass.isEmpty {
            let step: PastReplay.Step
            // Otherwise the fold need not copy what it changes.
            let before = pass.looksBefore ? replay.snapshot : nil
            do {
                step = try await replay.step()
            } catch {
                logger.error("Could not continue reading what subscriptions have missed: \(error)")
                let left = pass.removeAll(after: replay.snapshot.sequence).map {
                    request, sequence in
                    Waiting(
                        request: request.starting(.after(sequence)), sequence: sequence,
                        isAnnounced: true)
                }
                if error.isLasting {
                    let reached = replay.snapshot.sequence
                    state.withLock { $0.failed.readableAfter = reached + 1 }
                    // The others need nothing of the unreadable part, if there is a later state to start
                    // from.
                    for waiting in left where waiting.sequence > reached { post(waiting) }
                    return await giveUp(left.filter { $0.sequence == reached }, outputs)
                }
                // They resume from here without folding anything again.
                kept.keep(replay.snapshot)
                return await tryAgain(left, outputs)
            }
            counters.count(\.resumedEvents)
            if replay.snapshot.sequence.isMultiple(of: Self.lookInterval) { pass.removeUnwanted() }
            guard let intent = step.intent, case .response(let response) = step.event.body else {
                continue
            }
            let told = pass.tell(intent, response, from: before, replay.snapshot)
            kept.park(replay.snapshot, for: told.held.map(\.request.sink))
            for held in told.held { deliverLater(held, at: replay.snapshot.sequence, outputs) }
            for request in told.unmade {
                resumeOnceDrained(request, after: replay.snapshot.sequence - 1)
            }
            if told.deliveries.isEmpty { continue }
            outputs.deliver(told.deliveries)
            unsettled += 1
            size += told.size
            if unsettled < Self.settleInterval, size.isBelow(Self.settleSize) { continue }
            unsettled = 0
            size = DeliverySize()
            await outputs.settle()
            pass.removeUnwanted()
        }
        for (request, sequence) in pass.removeAll(after: replay.snapshot.sequence) {
            await outputs.goOn(request.starting(.after(sequence)))
        }
    }

    // MARK: Failed reads

    /// The earliest subscription of a batch cannot catch up: there is no state to start from, or it is too
    /// far away. The others may have a later one.
    private func tellWithoutState(
        at first: UInt64, _ batch: [Waiting], _ outputs: Outputs
    ) async {
        guard let last = batch.map(\.sequence).max() else { return }
        let state: Snapshot
        do {
            state = try await journal.state(near: last, indexes: service.indexes)
        } catch {
            logger.error("Could not read what subscriptions have missed: \(error)")
            return error.isLasting
                ? await giveUp(batch, outputs) : await tryAgain(batch, outputs)
        }
        if state.sequence > first {
            let isBehind: (Waiting) -> Bool = { $0.sequence >= state.sequence }
            await tellFromLog(batch.filter(isBehind), outputs)
            await tellWithoutState(at: first, batch.filter { !isBehind($0) }, outputs)
        } else {
            // There is no later state for any of them.
            let isLost: (Waiting) -> Bool = { !$0.isAnnounced || $0.sequence == first }
            await giveUp(batch.filter(isLost), outputs)
            await tellFromLog(batch.filter { !isLost($0) }, outputs)
        }
    }

    /// Reads again in a moment: a shortage of file descriptors or memory passes, and the log still has the
    /// missed events.
    private func tryAgain(_ batch: [Waiting], _ outputs: Outputs) async {
        let (retried, ended, starts) = state.withLock { $0.failed.append(batch) }
        await giveUp(ended, outputs)
        // They may have ended before they were here to be removed.
        for waiting in retried where !waiting.request.sink.isWanted { forget(waiting.request.sink) }
        guard starts else { return }
        tasks.later(FailedReadings.retryInterval) { [weak self] in
            guard let self else { return }
            let due = state.withLock { $0.failed.takeDue() }
            for waiting in due { post(waiting) }
        }
    }

    /// The missed events cannot be read. A stream already announced as resuming ends, and its last cursor
    /// remains valid.
    private func giveUp(_ batch: [Waiting], _ outputs: Outputs) async {
        let message = "What was missed could not be read from the log; resume it later."
        let error = ExecutionError(message, code: .overloaded)
        outputs.deliver(
            batch.filter(\.isAnnounced).map {
                Delivery(sink: $0.request.sink, event: .failed([error]))
            })
        for waiting in batch where !waiting.isAnnounced {
            await outputs.goOn(waiting.request.starting(.lost))
        }
    }
}

extension Error {
    /// Whether a read that failed with this error would fail again.
    fileprivate var isLasting: Bool {
        self is PastReplay.TooFar || (self as? any EventReadError)?.isLasting ?? false
    }
}
