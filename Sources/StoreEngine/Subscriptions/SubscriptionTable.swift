import GraphQLExecution
import GraphQLLanguage
import RelayJSON
@_spi(Rooms) import RelayRecords
import ResultPatches
import SchemaService

/// All subscribers and their pending deliveries: the publisher's state.
///
/// Invariants:
/// 1. A sink is in one group or in none.
/// 2. Every sink of a group has been notified of everything up to `snapshot` that concerns it.
struct SubscriptionTable {
    /// What the messages since the last hand-over led to.
    struct Output {
        private(set) var deliveries: [Delivery] = []
        private(set) var size = DeliverySize()
        /// Subscriptions for which the log must be read, and the event after which they resume.
        var behind: [(SubscriptionRequest, UInt64)] = []
        fileprivate(set) var figures = Figures()

        /// - Parameter isShared: the result was already counted, for another sink that gets the same one.
        mutating func append(_ delivery: Delivery, isShared: Bool = false) {
            deliveries.append(delivery)
            size.count += 1
            if !isShared { size.byteCount += delivery.event.resultByteCount }
        }
    }

    /// Current counts and totals so far.
    struct Figures: Sendable {
        var subscriptions = 0
        /// Groups of equal subscriptions.
        var groups = 0
        /// Approximate memory kept by the groups.
        var byteCount = 0
        /// Executions run, and those saved because others asked the same.
        var executions = (run: 0, saved: 0)
    }

    let service: SchemaService
    let identity: StoreIdentity
    let recent: RecentCommits
    /// The state after the last published commit.
    private(set) var snapshot: Snapshot
    /// The expected state beyond it, if any.
    private var expected: ExpectedState?
    var output = Output()
    /// Changes since live groups were last notified, and since those that show the expected state were.
    private var untold = ChangeSet()
    private var untoldExpected = ChangeSet()
    /// The expected state on top of `snapshot` comes with a later step.
    private var isExpectationDue = false
    /// Size of the deliveries handed over together. Those handed over can be sent while others are made, and
    /// a connection that cannot keep up is closed.
    private static let handOverSize = DeliverySize(count: 16_384, byteCount: 16 << 20)
    /// What was handed over for the current call to `handle`.
    private var handed = DeliverySize()
    /// The most commits that a resuming subscriber can catch up on here.
    static let resumeLimit = 32

    var groups: [SubscriptionGroup.ID: SubscriptionGroup] = [:]
    var groupIDs: [SubscriptionGroup.Key: SubscriptionGroup.ID] = [:]
    var groupsBySink: [ObjectIdentifier: SubscriptionGroup.ID] = [:]
    var lastGroupID: SubscriptionGroup.ID = 0
    /// Event groups by the mutations that trigger them.
    var eventGroups: [String: Set<SubscriptionGroup.ID>] = [:]
    var liveIndex = LiveIndex()
    var memory = SubscriptionMemory()
    let memoryLimit: Int

    private(set) var executions = (run: 0, saved: 0)

    /// - Parameters:
    ///   - recent: gets every published commit.
    ///   - memoryLimit: the approximate number of bytes that all groups may keep; a group that would exceed
    ///     it is ended.
    init(
        _ service: SchemaService, _ identity: StoreIdentity, snapshot: Snapshot,
        recent: RecentCommits, memoryLimit: Int = .max
    ) {
        self.service = service
        self.identity = identity
        self.snapshot = snapshot
        self.recent = recent
        self.memoryLimit = memoryLimit
    }

    /// - Parameters:
    ///   - isBehind: live groups are notified once for all consecutive commits.
    ///   - limit: on deliveries; once it is reached, no further message is handled.
    ///   - hand: takes the output of the messages, in order.
    /// - Returns: how many messages were handled, at least one. The others wait, because these produced a lot
    ///   of output.
    @discardableResult
    mutating func handle(
        _ messages: some Sequence<Publisher.Message>, isBehind: Bool,
        limit: DeliverySize = DeliverySize(count: .max, byteCount: .max),
        hand: (Output) -> Void
    ) -> Int {
        var handledCount = 0
        handed = DeliverySize()
        for message in messages {
            handledCount += 1
            switch message {
            case .step(let step):
                publish(step, hand)
                if !isBehind { tellLive(hand) }
            case .subscribe(let request, _):
                // A sink that joins a group is sent its last result, which must be current.
                tellLive(hand)
                // If the sink was stopped in the meantime, its unsubscribe message comes before or after this
                // one in the same queue.
                if request.sink.isWanted { subscribe(request) }
            case .unsubscribe(let sink):
                unsubscribe(sink)
            }
            var all = handed
            all += output.size
            guard all.isBelow(limit) else { break }
            handOver(hand)
        }
        tellLive(hand)
        hand(takeOutput())
        return handledCount
    }

    /// Hands over the output so far, if it is large.
    private mutating func handOver(_ hand: (Output) -> Void) {
        if output.size.isBelow(Self.handOverSize) { return }
        handed += output.size
        hand(takeOutput())
    }

    private mutating func takeOutput() -> Output {
        defer { output = Output() }
        output.figures = Figures(
            subscriptions: groupsBySink.count, groups: groups.count, byteCount: memory.byteCount,
            executions: executions)
        return output
    }

    // MARK: Commits

    private mutating func publish(_ step: Step, _ hand: (Output) -> Void) {
        assert(step.publication.snapshot.sequence > snapshot.sequence, "steps come in log order")
        let before = snapshot
        snapshot = step.publication.snapshot
        if let commit = step.publication.commit {
            recent.append(commit.mutation)
            untold.formUnion(commit.changes)
            untoldExpected.formUnion(commit.changes)
            let mutation = told(commit.mutation, commit.payload, before: before)
            for id in eventGroups[commit.intent.field] ?? [] {
                guard let group = groups[id], group.isWanted,
                    let result = event(mutation, for: group)
                else { continue }
                tell(group, result)
                handOver(hand)
            }
        }
        switch step.expected {
        case .later:
            isExpectationDue = true
        case .current(let now):
            // A group that shows the expected state is affected both by what was expected before and by what
            // is expected now.
            if let expected { untoldExpected.formUnion(expected.changes) }
            if let now { untoldExpected.formUnion(now.changes) }
            expected = now
            isExpectationDue = false
        }
    }

    /// Notifies the affected live groups of the changes since the last notification.
    private mutating func tellLive(_ hand: (Output) -> Void) {
        let changes = untold
        // The expected state must be on top of the newest durable state.
        let expectedChanges = isExpectationDue ? ChangeSet() : untoldExpected
        if changes.isEmpty, expectedChanges.isEmpty { return }
        untold = ChangeSet()
        if !isExpectationDue { untoldExpected = ChangeSet() }
        let concerned = isExpectationDue ? changes : expectedChanges
        let newest = isExpectationDue ? snapshot : expected?.snapshot ?? snapshot
        var candidates = liveIndex.candidates(concerned, in: newest)
        // A record that is created may be gone again in what is expected, which not every group shows.
        if newest.sequence != snapshot.sequence || expected != nil {
            candidates.formUnion(liveIndex.candidates(changes, in: snapshot))
        }
        for id in candidates {
            guard let group = groups[id], case .live(let dependencies) = group.trigger,
                dependencies.isTouched(
                    by: group.key.showsOptimistic ? expectedChanges : changes,
                    in: visible(to: group))
            else { continue }
            refreshAndTell(group)
            handOver(hand)
        }
    }

    /// The state that a live group shows.
    func visible(to group: SubscriptionGroup) -> Snapshot {
        group.key.showsOptimistic ? expected?.snapshot ?? snapshot : snapshot
    }

    /// - Parameters:
    ///   - payload: if known.
    ///   - before: the state right before the mutation.
    func told(
        _ commit: MutationCommit, _ payload: MutationPayload? = nil, before: Snapshot?
    ) -> ToldMutation {
        ToldMutation(
            commit.intent, commit.response, from: before, in: commit.snapshot, service,
            payload: payload)
    }

    /// The result of a mutation for an event group; nil if it is not one of its events.
    mutating func event(_ mutation: ToldMutation, for group: SubscriptionGroup) -> ExecutedResult? {
        guard case .events(let question) = group.trigger,
            let answer = question.answer(to: mutation, present: snapshot, service)
        else { return nil }
        let start = ContinuousClock.now
        let result = answer.result()
        group.cost.count(since: start)
        executions.run += 1
        return result
    }

    /// Notifies a group of an event.
    private mutating func tell(_ group: SubscriptionGroup, _ result: ExecutedResult) {
        let full = response(result)
        guard let normalizer = group.patching else { return tell(group, .next(full)) }
        let later = Response(event: result, normalizer, notes(result, at: snapshot.sequence))
        executions.saved += group.sinks.count - 1
        var isShared = false
        for sink in group.sinks.sinks {
            let isFirst = group.newSinks.remove(ObjectIdentifier(sink)) != nil
            let event = Delivery.Event.next(isFirst ? full : later)
            output.append(Delivery(sink: sink, event: event), isShared: isShared && !isFirst)
            isShared = isShared || !isFirst
        }
    }

    /// Executes a live group again and notifies it if the result changed.
    private mutating func refreshAndTell(_ group: SubscriptionGroup) {
        let last = group.lastResult
        let lastRecords = group.lastRecords
        let result = refresh(group)
        if memory.count(group), memory.byteCount > memoryLimit {
            return end(group, Self.memoryLimitError)
        }
        if result == last { return }
        guard let lastRecords, let records = group.lastRecords,
            let patch = RecordPatch(
                from: lastRecords, to: records, inPlaceOf: result,
                isDeleted: isDeleted(for: group))
        else { return tell(group, .latest(response(result))) }
        // If no record changed, the difference is in the errors, or in what is confirmed.
        tell(
            group,
            .patch(
                Response(patch: patch, result, notes(result, at: snapshot.sequence)),
                full: { [full = notes(result, at: snapshot.sequence)] in Response(result, full) }))
    }

    /// Whether a record does not exist for a group: a patch says so of what left its result.
    private func isDeleted(for group: SubscriptionGroup) -> (ExactText) -> Bool {
        let visible = visible(to: group)
        let access = Access(
            group.identity, service.access, on: visible, present: present(for: group))
        return { id in
            guard let record = visible.existing(id.text) else { return true }
            return access.map { !$0.isVisible(record, for: .patch) } ?? false
        }
    }

    /// What a client expects may not open what is closed.
    private func present(for group: SubscriptionGroup) -> Snapshot? {
        group.key.showsOptimistic && expected != nil ? snapshot : nil
    }

    private mutating func tell(_ group: SubscriptionGroup, _ event: Delivery.Event) {
        executions.saved += group.sinks.count - 1
        var isShared = false
        for sink in group.sinks.sinks {
            output.append(Delivery(sink: sink, event: event), isShared: isShared)
            isShared = true
        }
    }

    mutating func tell(_ sink: any SubscriptionSink, _ event: Delivery.Event) {
        output.append(Delivery(sink: sink, event: event))
    }

    func notes(_ result: ExecutedResult, at sequence: UInt64) -> RelayNotes {
        RelayNotes(cursor: identity.cursor(sequence), unconfirmed: result.unconfirmed)
    }

    func response(_ result: ExecutedResult, at sequence: UInt64? = nil) -> Response {
        Response(result, notes(result, at: sequence ?? snapshot.sequence))
    }

    /// What of a result is not confirmed: what it shows otherwise than the result without what is expected. So whoever may
    /// not see that is not told of it.
    private mutating func unconfirmed(
        in result: ExecutedResult, of group: SubscriptionGroup
    ) -> Unconfirmed? {
        var execution = Execution(
            group.plan, variables: group.key.variables, on: snapshot, schema: service.executable,
            identity: group.identity)
        executions.run += 1
        let confirmed = execution.result()
        if confirmed.bytes == result.bytes { return nil }
        guard let normalizer = group.normalizer,
            let shown = group.lastRecords ?? result.records(normalizer),
            let known = confirmed.records(normalizer)
        else { return Unconfirmed(records: nil) }
        return Unconfirmed(in: shown, beyond: known)
    }

    /// Executes a live group again and updates its dependencies.
    mutating func refresh(_ group: SubscriptionGroup) -> ExecutedResult {
        let start = ContinuousClock.now
        defer { group.cost.count(since: start) }
        let visible = visible(to: group)
        var execution = Execution(
            group.plan, variables: group.key.variables, on: visible, schema: service.executable,
            identity: group.identity, present: present(for: group), recordsDependencies: true)
        var result = execution.result()
        executions.run += 1
        let dependencies = execution.dependencies ?? Dependencies()
        if let normalizer = group.patching {
            group.lastRecords = result.records(normalizer)
        }
        if group.key.showsOptimistic, let expected,
            dependencies.isTouched(by: expected.changes, in: visible)
        {
            result.unconfirmed = unconfirmed(in: result, of: group)
        }
        if case .live(let old) = group.trigger {
            liveIndex.update(group.id, from: old, to: dependencies)
        }
        group.trigger = .live(dependencies)
        group.lastResult = result
        return result
    }
}
