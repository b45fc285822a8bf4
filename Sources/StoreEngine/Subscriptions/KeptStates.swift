@_spi(Rooms) import RelayRecords
import Threads

/// Past states, kept so that nothing is read or folded twice: the state at which the last pass over the log
/// started, and the state at which subscribers left a pass. They share everything that is equal in both.
///
/// The first is kept for a minute, because a client that was cut off while the log was read returns with the
/// same cursor. The second is kept until every such subscriber has resumed or ended.
final class KeptStates: Sendable {
    private struct State {
        var parked: ParkedState?
        var reached: ReachedState?
        var isWatched = false
    }

    /// The interval between checks whether a state is still needed.
    private static let lookInterval = Duration.seconds(5)
    /// The number of checks before the starting state of a pass is dropped: a minute.
    private static let keepingLooks = 12

    private let tasks: EngineTasks
    private let state = Lock(State())

    init(_ tasks: EngineTasks) { self.tasks = tasks }

    /// The latest of them that is at or before an event.
    func nearest(to sequence: UInt64) -> Snapshot? {
        state.withLock { [$0.parked?.snapshot, $0.reached?.snapshot] }.compactMap { $0 }
            .filter { $0.sequence <= sequence }.max { $0.sequence < $1.sequence }
    }

    /// Keeps the starting state of a pass, for subscribers that return.
    func keep(_ snapshot: Snapshot) {
        let new = ReachedState(snapshot: snapshot, looksLeft: Self.keepingLooks)
        // The previous state is released after the lock, because deallocating it may take a while.
        let last = state.withLock { state in
            defer { state.reached = new }
            return state.reached
        }
        withExtendedLifetime(last) {}
        watch()
    }

    /// Keeps a state for subscribers that left a pass there.
    func park(_ snapshot: Snapshot, for sinks: [any SubscriptionSink]) {
        if sinks.isEmpty { return }
        let last = state.withLock { state -> ParkedState? in
            if state.parked?.isNeeded == true {
                state.parked?.add(sinks)
                return nil
            }
            defer { state.parked = ParkedState(snapshot, for: sinks) }
            return state.parked
        }
        withExtendedLifetime(last) {}
        watch()
    }

    /// Subscribers that left a pass have resumed.
    func leave(_ sinks: [any SubscriptionSink]) {
        state.withLock { state in
            for sink in sinks { state.parked?.remove(sink) }
        }
    }

    /// While states are kept, periodically checks whether they are still needed.
    private func watch() {
        let starts = state.withLock { state in
            defer { state.isWatched = true }
            return !state.isWatched
        }
        if starts { lookLater() }
    }

    private func lookLater() {
        tasks.later(Self.lookInterval) { [weak self] in
            if let self, !dropUnneeded() { lookLater() }
        }
    }

    /// - Returns: whether nothing is kept any more.
    private func dropUnneeded() -> Bool {
        let (isWatched, last) = state.withLock { state in
            let last = (state.parked, state.reached)
            if state.parked?.isNeeded == false { state.parked = nil }
            state.reached?.looksLeft -= 1
            if state.reached?.looksLeft == 0 { state.reached = nil }
            state.isWatched = state.parked != nil || state.reached != nil
            return (state.isWatched, last)
        }
        withExtendedLifetime(last) {}
        return !isWatched
    }
}

/// A past state that took some folding to reach.
private struct ReachedState: Sendable {
    let snapshot: Snapshot
    var looksLeft: Int
}

/// A past state, with the subscribers that will resume from it.
private struct ParkedState: Sendable {
    let snapshot: Snapshot
    private var sinks: [ObjectIdentifier: any SubscriptionSink] = [:]
    /// Beyond this number, sinks that are no longer wanted are removed.
    private var looksAt = fewSinks
    private static let fewSinks = 64

    init(_ snapshot: Snapshot, for sinks: [any SubscriptionSink]) {
        self.snapshot = snapshot
        add(sinks)
    }

    var isNeeded: Bool { sinks.values.contains { $0.isWanted } }

    mutating func add(_ sinks: [any SubscriptionSink]) {
        for sink in sinks { self.sinks[ObjectIdentifier(sink)] = sink }
        if self.sinks.count <= looksAt { return }
        self.sinks = self.sinks.filter { $0.value.isWanted }
        looksAt = max(2 * self.sinks.count, Self.fewSinks)
    }

    /// A subscriber has resumed.
    mutating func remove(_ sink: any SubscriptionSink) { sinks[ObjectIdentifier(sink)] = nil }
}
