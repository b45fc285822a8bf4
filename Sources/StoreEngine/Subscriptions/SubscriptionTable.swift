import GraphQLExecution
import GraphQLLanguage
import RelayJSON
@_spi(Rooms) import RelayRecords
import ResultPatches
import SchemaService

/// All subscribers, and what they are to be told: the publisher's state.
///
/// Invariants:
/// 1. A sink is in one group or in none.
/// 2. Every sink of a group has been told everything up to `snapshot` that concerns it.
struct SubscriptionTable {
    /// What the messages since the last look have led to.
    struct Output {
        private(set) var deliveries: [Delivery] = []
        private(set) var size = DeliverySize()
        /// Subscriptions that the log must be read for, and the event behind which they go on.
        var behind: [(SubscriptionRequest, UInt64)] = []
        fileprivate(set) var figures = Figures()

        /// - Parameter isShared: the result has been counted, for another sink that gets the same.
        mutating func append(_ delivery: Delivery, isShared: Bool = false) {
            deliveries.append(delivery)
            size.count += 1
            if !isShared { size.byteCount += delivery.event.resultByteCount }
        }
    }

    /// What there is, and what was done so far.
    struct Figures: Sendable {
        var subscriptions = 0
        /// Groups of equal ones.
        var groups = 0
        /// About what the groups keep in memory.
        var byteCount = 0
        /// Executions, and those that were saved because others had asked the same.
        var executions = (run: 0, saved: 0)
    }

    let service: SchemaService
    let identity: StoreIdentity
    let recent: RecentCommits
    /// The state after the last commit that was told.
    private(set) var snapshot: Snapshot
    /// What is expected beyond it, when anything is.
    private var expected: ExpectedState?
    var output = Output()
    /// What has changed since live groups were told last, and since those were that see what is expected.
    private var untold = ChangeSet()
    private var untoldExpected = ChangeSet()
    /// What is expected on `snapshot` comes with a later step.
    private var isExpectationDue = false
    /// Deliveries that are handed on together. What is handed on can be sent while the others are made, and a connection
    /// that it is too much for is closed.
    private static let handOverSize = DeliverySize(count: 16_384, byteCount: 16 << 20)
    /// What was handed on of the messages that are handled now.
    private var handed = DeliverySize()
    /// Commits of which a subscriber that comes back is told here.
    static let resumeLimit = 32

    var groups: [SubscriptionGroup.ID: SubscriptionGroup] = [:]
    var groupIDs: [SubscriptionGroup.Key: SubscriptionGroup.ID] = [:]
    var groupsBySink: [ObjectIdentifier: SubscriptionGroup.ID] = [:]
    var lastGroupID: SubscriptionGroup.ID = 0
    /// Groups of events by the mutations that they wait for.
    var eventGroups: [String: Set<SubscriptionGroup.ID>] = [:]
    var liveIndex = LiveIndex()
    var memory = SubscriptionMemory()
    let memoryLimit: Int

    private(set) var executions = (run: 0, saved: 0)

    /// - Parameters:
    ///   - recent: gets every commit that is told.
    ///   - memoryLimit: how many bytes all groups may keep, about; the one that would keep more ends.
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
    ///   - isBehind: live groups are told once of all commits that stand behind each other.
    ///   - limit: deliveries after which no further message is handled.
    ///   - hand: takes what the messages lead to, in order.
    /// - Returns: how many of the messages are handled, at least one. The others wait, because what these led to
    ///   is much.
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
            case .subscribe(let request):
                // One that joins a group is told its last result, which must be that of now.
                tellLive(hand)
                // One that has stopped meanwhile says so before this or after it, in the same queue.
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

    /// Hands on what there is, if it is much.
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
        snapshot = step.publication.snapshot
        if let commit = step.publication.commit {
            recent.append(commit.mutation)
            untold.formUnion(commit.changes)
            untoldExpected.formUnion(commit.changes)
            let mutation = told(commit.mutation, commit.payload)
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
            // A group that shows what is expected is concerned by what was expected before and is now, too.
            if let expected { untoldExpected.formUnion(expected.changes) }
            if let now { untoldExpected.formUnion(now.changes) }
            expected = now
            isExpectationDue = false
        }
    }

    /// Tells live groups what has changed since they were told last, as far as they are concerned.
    private mutating func tellLive(_ hand: (Output) -> Void) {
        let changes = untold
        // What is expected must be that on top of the newest state.
        let expectedChanges = isExpectationDue ? ChangeSet() : untoldExpected
        if changes.isEmpty, expectedChanges.isEmpty { return }
        untold = ChangeSet()
        if !isExpectationDue { untoldExpected = ChangeSet() }
        let concerned = isExpectationDue ? changes : expectedChanges
        let newest = isExpectationDue ? snapshot : expected?.snapshot ?? snapshot
        for id in liveIndex.candidates(concerned, in: newest) {
            guard let group = groups[id], case .live(let dependencies) = group.trigger,
                dependencies.isTouched(
                    by: group.key.showsOptimistic ? expectedChanges : changes,
                    in: visible(to: group))
            else { continue }
            refreshAndTell(group)
            handOver(hand)
        }
    }

    /// The state that a live group is told of.
    func visible(to group: SubscriptionGroup) -> Snapshot {
        group.key.showsOptimistic ? expected?.snapshot ?? snapshot : snapshot
    }

    /// - Parameter payload: where it is known.
    func told(_ commit: MutationCommit, _ payload: MutationPayload? = nil) -> ToldMutation {
        ToldMutation(commit.intent, commit.response, in: commit.snapshot, service, payload: payload)
    }

    /// What a mutation means to a group of events; nil when it is none of theirs.
    mutating func event(_ mutation: ToldMutation, for group: SubscriptionGroup) -> ExecutedResult? {
        guard case .events(let question) = group.trigger,
            let result = question.result(of: mutation, service)
        else { return nil }
        executions.run += 1
        return result
    }

    /// Tells a group of an event.
    private mutating func tell(_ group: SubscriptionGroup, _ result: ExecutedResult) {
        let full = response(result)
        guard let normalizer = group.normalizer else { return tell(group, .next(full)) }
        let patch = Response(eventPatch: result, normalizer, notes(result, at: snapshot.sequence))
        executions.saved += group.sinks.count - 1
        var isShared = false
        for sink in group.sinks.sinks {
            let isFirst = group.newSinks.remove(ObjectIdentifier(sink)) != nil
            let event = Delivery.Event.next(isFirst ? full : patch)
            output.append(Delivery(sink: sink, event: event), isShared: isShared && !isFirst)
            isShared = isShared || !isFirst
        }
    }

    /// Executes a live group anew and tells it what has changed, if anything has.
    private mutating func refreshAndTell(_ group: SubscriptionGroup) {
        let last = group.lastResult
        let lastRecords = group.lastRecords
        let result = refresh(group)
        if memory.count(group), memory.byteCount > memoryLimit {
            return end(group, Self.memoryLimitError)
        }
        if result == last { return }
        guard group.normalizer != nil else { return tell(group, .latest(response(result))) }
        let visible = visible(to: group)
        let patch = RecordPatch(from: lastRecords, to: group.lastRecords) {
            visible.existing($0.text) == nil
        }
        // What is left is errors, or what is not confirmed any more.
        tell(
            group,
            .patch(
                Response(patch: patch, result, notes(result, at: snapshot.sequence)),
                full: { [full = notes(result, at: snapshot.sequence)] in Response(result, full) }))
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
        RelayNotes(cursor: identity.cursor(sequence), isOptimistic: result.isOptimistic)
    }

    func response(_ result: ExecutedResult, at sequence: UInt64? = nil) -> Response {
        Response(result, notes(result, at: sequence ?? snapshot.sequence))
    }

    /// Executes a live group anew and takes in what the result depends on.
    mutating func refresh(_ group: SubscriptionGroup) -> ExecutedResult {
        let visible = visible(to: group)
        var execution = Execution(
            group.plan, variables: group.key.variables, on: visible, schema: service.executable,
            viewer: group.key.viewer, recordsDependencies: true)
        var result = execution.result()
        executions.run += 1
        let dependencies = execution.dependencies ?? Dependencies()
        if group.key.showsOptimistic, let expected {
            result.isOptimistic = dependencies.isTouched(by: expected.changes, in: visible)
        }
        if let normalizer = group.normalizer {
            group.lastRecords = normalizer.records(of: result.json["data"] ?? .null)
        }
        if case .live(let old) = group.trigger {
            liveIndex.update(group.id, from: old, to: dependencies)
        }
        group.trigger = .live(dependencies)
        group.lastResult = result
        return result
    }
}
