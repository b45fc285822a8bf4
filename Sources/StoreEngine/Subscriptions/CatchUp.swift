import GraphQLExecution
import Logging
import RelayJSON
@_spi(Rooms) import RelayRecords
import SchemaService
import Threads

/// Tells subscriptions what they have missed when it is more than a few commits: from memory when it is recent, else
/// from the log.
///
/// Those that wait are served together, by a pass that begins where the first of them stopped: each event is read at
/// its own sequence, and equal subscriptions are executed once. A subscription that has missed little does not wait
/// for one that has missed much: what is in memory is told during the passes over the log, and those go from the near
/// to the far, each with subscriptions of which none has missed more than four times as much as another; together they
/// read less than two and a half times as much as one pass for all. A subscriber that has no room for a result leaves
/// the pass with it, and comes back when it has taken what it had; results that are on their way to it count. At the
/// end of the pass all go to the publisher, which knows the rest.
///
/// A pass over recent commits neither reads nor folds anything. What one over the log costs is bounded: at most three
/// states of the past are in memory, however many subscriptions wait: the pass's own, and two that are kept
/// (``KeptStates``). A client that was away for more events than the limit, or is that far from where a state can be
/// had, is told that its cursor is too old.
package final class CatchUp: Sendable {
    /// A subscription that waits for its turn.
    struct Waiting: Sendable {
        var request: SubscriptionRequest
        /// Everything up to this event has been told.
        var sequence: UInt64
        /// The sink knows that it goes on.
        var isAnnounced: Bool
    }

    /// Subscriptions that are served one pass after the other.
    private struct Lane {
        private var waiting = WaitingLine<ObjectIdentifier, Waiting>()
        private var isRunning = false

        var count: Int { waiting.count }

        /// - Returns: whether a task has to begin that serves them.
        mutating func append(_ new: Waiting) -> Bool {
            waiting.append(ObjectIdentifier(new.request.sink), new)
            defer { isRunning = true }
            return !isRunning
        }

        mutating func remove(_ sink: any SubscriptionSink) -> Waiting? {
            waiting.remove(ObjectIdentifier(sink))
        }

        /// All that wait; when none does, the task ends.
        mutating func takeAll() -> [Waiting] {
            assert(isRunning, "one task serves a lane, and it ends when none waits")
            if waiting.isEmpty { isRunning = false }
            return waiting.takeAll()
        }
    }

    private struct State {
        /// Memory has what they have missed.
        var recent = Lane()
        var log = Lane()
        /// The log could not be read for them.
        var failed = FailedReadings()

        var waitingCount: Int { recent.count + log.count + failed.count }
    }

    /// Events that sinks are told of before they are waited for, so that what is on its way to them is bounded.
    package static let settleInterval = 32
    /// How many events are read before subscriptions that have ended are looked for: nothing is read when all have.
    private static let lookInterval: UInt64 = 1_024
    /// What sinks are told before they are waited for, apart from what one event leads to.
    package static let settleSize = DeliverySize(count: 16_384, byteCount: 16 << 20)
    /// A subscription that has missed no more events than these has missed little.
    private static let fewEvents: UInt64 = 32

    private let journal: any EventJournal
    private let identity: StoreIdentity
    private let service: SchemaService
    private let durable: DurableHead
    private let recent: RecentCommits
    private let tasks: EngineTasks
    private let documents: DocumentLimits
    private let eventLimit: UInt64
    private let nearEvents: UInt64
    private let waitingLimit: Int
    private let counters: ServiceCounters
    private let logger: Logger
    private let kept: KeptStates
    private let state = Lock(State())
    /// Where results go, and requests that are done here.
    private let outputs = Lock<Outputs?>(nil)

    struct Outputs: Sendable {
        let deliver: @Sendable ([Delivery]) -> Void
        /// Returns when the sinks have taken everything.
        let settle: @Sendable () async -> Void
        let goOn: @Sendable (SubscriptionRequest) -> Void
    }

    /// - Parameters:
    ///   - documents: what requests may contain, which come with their texts.
    ///   - limits: what may wait, and may be folded.
    init(
        _ service: SchemaService, _ journal: any EventJournal, _ identity: StoreIdentity,
        durable: DurableHead, recent: RecentCommits, documents: DocumentLimits,
        limits: GraphQLService.Limits, tasks: EngineTasks, counters: ServiceCounters,
        logger: Logger
    ) {
        self.service = service
        self.journal = journal
        self.identity = identity
        self.durable = durable
        self.recent = recent
        self.tasks = tasks
        self.documents = documents
        eventLimit = UInt64(limits.resumeEvents)
        nearEvents = UInt64(limits.nearEvents)
        waitingLimit = limits.resumingSubscriptions
        self.counters = counters
        self.logger = logger
        kept = KeptStates(tasks)
    }

    /// Says where results go; to be called once, before anything else.
    func connect(_ outputs: Outputs) { self.outputs.withLock { $0 = outputs } }

    /// Takes a subscription that has been told everything up to an event.
    func post(_ request: SubscriptionRequest, behind sequence: UInt64) {
        let isAnnounced = if case .after = request.start { true } else { false }
        post(Waiting(request: request, sequence: sequence, isAnnounced: isAnnounced))
    }

    private func post(_ waiting: Waiting) {
        // What memory has now it may not have when the turn comes; then it is posted anew.
        let isRecent = waiting.sequence >= recent.base.sequence
        let (isTaken, starts) = state.withLock { state in
            // One that has been told that it goes on is a subscription of its connection's, and counted there.
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
        // It may have ended before it was here to be forgotten.
        if !waiting.request.sink.isWanted { forget(waiting.request.sink) }
        if isTaken { return }
        let message = "Too many subscriptions are catching up; resume it later."
        let error = ExecutionError(message, code: .overloaded)
        outputs.withLock { $0 }?.deliver([
            Delivery(sink: waiting.request.sink, event: .failed([error]))
        ])
    }

    /// A subscription has ended. If it waits for its turn, its request is kept no longer, however large it is.
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
            await tellFromMemory(batch.filter(\.request.sink.isWanted), outputs)
        }
    }

    private func serveLog() async {
        guard let outputs = outputs.withLock({ $0 }) else { return }
        while true {
            let batch = state.withLock { $0.log.takeAll() }
            if batch.isEmpty { return }
            for part in Self.fromNearToFar(batch, end: recent.end) {
                await tellFromLog(part.filter(\.request.sink.isWanted), outputs)
            }
        }
    }

    /// Parts of a batch: first those that have missed least.
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

    private func tellFromMemory(_ batch: [Waiting], _ outputs: Outputs) async {
        guard var sequence = batch.map(\.sequence).min() else { return }
        // Memory has what they go on from; no state has to be kept for them.
        kept.leave(batch.map(\.request.sink))
        assert(
            batch.allSatisfy { $0.sequence <= durable.snapshot.sequence },
            "what is not durable has not been told")
        var pass = CatchUpPass(service, identity, documents)
        enter(batch, &pass, on: durable.snapshot, outputs)
        // What comes meanwhile is told by the publisher; otherwise a pass has no end under load, and others wait.
        let end = recent.end
        while !pass.isEmpty, sequence < end {
            guard let missed = recent.commits(after: sequence) else {
                // It has left memory meanwhile; the log has it.
                for (request, sequence) in pass.removeAll(after: sequence) {
                    post(request.starting(.after(sequence)), behind: sequence)
                }
                return
            }
            if missed.isEmpty { break }
            var size = DeliverySize()
            for commit in missed.prefix(Self.settleInterval) {
                sequence = commit.snapshot.sequence
                let told = pass.tell(commit.intent, commit.response, commit.snapshot)
                for held in told.held { deliverLater(held, at: sequence, outputs) }
                if told.deliveries.isEmpty { continue }
                outputs.deliver(told.deliveries)
                size += told.size
                if !size.isBelow(Self.settleSize) { break }
            }
            if size.count > 0 { await outputs.settle() }
            pass.removeUnwanted()
        }
        for (request, sequence) in pass.removeAll(after: sequence) {
            outputs.goOn(request.starting(.after(sequence)))
        }
    }

    /// Takes subscriptions into a pass, and says to each that it goes on.
    private func enter(
        _ batch: [Waiting], _ pass: inout CatchUpPass, on snapshot: Snapshot, _ outputs: Outputs
    ) {
        for waiting in batch {
            do throws(ExecutionErrors) {
                try pass.add(waiting.request, behind: waiting.sequence, snapshot)
                if waiting.isAnnounced { continue }
                let notes = RelayNotes(
                    cursor: identity.cursor(waiting.sequence), recovered: true)
                outputs.deliver([.missed(Response(notes), to: waiting.request.sink)])
            } catch {
                outputs.deliver([
                    Delivery(sink: waiting.request.sink, event: .failed(error.errors))
                ])
            }
        }
    }

    /// Delivers a result when there is room for it, and goes on behind it.
    private func deliverLater(
        _ held: CatchUpPass.Held, at sequence: UInt64, _ outputs: Outputs
    ) {
        let sink = held.request.sink
        sink.whenDrained { [weak self] in
            guard let self else { return }
            tasks.start { [self] in
                // Others of its connection have waited for room, too.
                if sink.isFull { return deliverLater(held, at: sequence, outputs) }
                outputs.deliver([.missed(held.response(), to: sink)])
                post(held.request, behind: sequence)
            }
        }
    }

    // MARK: One pass over the log

    private func tellFromLog(_ all: [Waiting], _ outputs: Outputs) async {
        // What is durable and not published yet is told by the publisher.
        let end = recent.end
        var batch = all
        let readableAfter = state.withLock { $0.failed.readableAfter }
        // One that has been told that it goes on does go on.
        let isTooFar: (Waiting) -> Bool = {
            !$0.isAnnounced
                && (end - min($0.sequence, end) > self.eventLimit || $0.sequence < readableAfter)
        }
        for waiting in batch where isTooFar(waiting) {
            outputs.goOn(waiting.request.starting(.lost))
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
            return error.isLasting
                ? await tellWithoutState(at: first, batch, outputs) : tryAgain(batch, outputs)
        }
        counters.count(\.resumedEvents, replay.readEvents)
        kept.keep(replay.snapshot)
        kept.leave(batch.map(\.request.sink))
        var pass = CatchUpPass(service.on(replay.snapshot.symbols), identity, documents)
        enter(batch, &pass, on: replay.snapshot, outputs)
        await run(&pass, replay, through: end, outputs)
    }

    /// The state after an event, and what comes then. Where a subscriber left an earlier pass, nothing has to be
    /// read or folded for it again.
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
                    // The others need nothing of what can't be read, if there is a later state to begin with.
                    for waiting in left where waiting.sequence > reached { post(waiting) }
                    return giveUp(left.filter { $0.sequence == reached }, outputs)
                }
                // Where they go on nothing has to be folded again.
                kept.keep(replay.snapshot)
                return tryAgain(left, outputs)
            }
            counters.count(\.resumedEvents)
            if replay.snapshot.sequence.isMultiple(of: Self.lookInterval) { pass.removeUnwanted() }
            guard let intent = step.intent, case .response(let response) = step.event.body else {
                continue
            }
            let told = pass.tell(intent, response, replay.snapshot)
            kept.park(replay.snapshot, for: told.held.map(\.request.sink))
            for held in told.held { deliverLater(held, at: replay.snapshot.sequence, outputs) }
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
            outputs.goOn(request.starting(.after(sequence)))
        }
    }

    // MARK: Readings that fail

    /// The farthest of a batch cannot be told what it has missed: there is no state to begin with, or it is too far
    /// away. Others may have a later one.
    private func tellWithoutState(
        at first: UInt64, _ batch: [Waiting], _ outputs: Outputs
    ) async {
        guard let last = batch.map(\.sequence).max() else { return }
        let state: Snapshot
        do {
            state = try await journal.state(near: last, indexes: service.indexes)
        } catch {
            logger.error("Could not read what subscriptions have missed: \(error)")
            return error.isLasting ? giveUp(batch, outputs) : tryAgain(batch, outputs)
        }
        if state.sequence > first {
            let isBehind: (Waiting) -> Bool = { $0.sequence >= state.sequence }
            await tellFromLog(batch.filter(isBehind), outputs)
            await tellWithoutState(at: first, batch.filter { !isBehind($0) }, outputs)
        } else {
            // It is the same for all.
            let isLost: (Waiting) -> Bool = { !$0.isAnnounced || $0.sequence == first }
            giveUp(batch.filter(isLost), outputs)
            await tellFromLog(batch.filter { !isLost($0) }, outputs)
        }
    }

    /// Reads again in a moment: a lack of descriptors or memory passes. The log still has what was missed.
    private func tryAgain(_ batch: [Waiting], _ outputs: Outputs) {
        let (retried, ended, starts) = state.withLock { $0.failed.append(batch) }
        giveUp(ended, outputs)
        // They may have ended before they were here to be forgotten.
        for waiting in retried where !waiting.request.sink.isWanted { forget(waiting.request.sink) }
        guard starts else { return }
        tasks.later(FailedReadings.retryInterval) { [weak self] in
            guard let self else { return }
            let due = state.withLock { $0.failed.takeDue() }
            for waiting in due { post(waiting) }
        }
    }

    /// What was missed cannot be had. A stream that was told that it goes on ends, and its last cursor is still good.
    private func giveUp(_ batch: [Waiting], _ outputs: Outputs) {
        for waiting in batch where !waiting.isAnnounced {
            outputs.goOn(waiting.request.starting(.lost))
        }
        let message = "What was missed could not be read from the log; resume it later."
        let error = ExecutionError(message, code: .overloaded)
        outputs.deliver(
            batch.filter(\.isAnnounced).map {
                Delivery(sink: $0.request.sink, event: .failed([error]))
            })
    }
}

extension Error {
    /// Whether a reading that failed with it would fail again.
    fileprivate var isLasting: Bool {
        self is PastReplay.TooFar || (self as? any EventReadError)?.isLasting ?? false
    }
}
