@_spi(Rooms) import RelayRecords
import Threads

/// States of the past, kept so that nothing has to be read or folded twice: the one that the last pass over the log
/// has begun with, and the one at which subscribers have left a pass. They share what has not changed between them.
///
/// The first is kept for a minute, since a client that was cut off while the log was read comes back with the same
/// cursor; the second for as long as one of those subscribers has still to go on.
final class KeptStates: Sendable {
    private struct State {
        var parked: ParkedState?
        var reached: ReachedState?
        var isWatched = false
    }

    /// How often a state is looked at to see whether it is still needed.
    private static let lookInterval = Duration.seconds(5)
    /// How often the state that a pass has begun with is looked at before it is dropped: a minute.
    private static let keepingLooks = 12

    private let tasks: EngineTasks
    private let state = Lock(State())

    init(_ tasks: EngineTasks) { self.tasks = tasks }

    /// The latest of them that is not behind an event.
    func nearest(to sequence: UInt64) -> Snapshot? {
        state.withLock { [$0.parked?.snapshot, $0.reached?.snapshot] }.compactMap { $0 }
            .filter { $0.sequence <= sequence }.max { $0.sequence < $1.sequence }
    }

    /// Keeps the state that a pass begins with, for subscribers that come back.
    func keep(_ snapshot: Snapshot) {
        let new = ReachedState(snapshot: snapshot, looksLeft: Self.keepingLooks)
        // The one before goes when the lock is free again, as everything that takes its time to go.
        let last = state.withLock { state in
            defer { state.reached = new }
            return state.reached
        }
        withExtendedLifetime(last) {}
        watch()
    }

    /// Keeps a state for those who have left a pass there.
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

    /// Subscribers that have left a pass go on.
    func leave(_ sinks: [any SubscriptionSink]) {
        state.withLock { state in
            for sink in sinks { state.parked?.remove(sink) }
        }
    }

    /// Looks now and then, as long as states are kept, whether they are needed.
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

    /// - Returns: whether nothing is kept now.
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

/// A state of the past that took some folding.
private struct ReachedState: Sendable {
    let snapshot: Snapshot
    var looksLeft: Int
}

/// A state of the past, and those who go on there.
private struct ParkedState: Sendable {
    let snapshot: Snapshot
    private var sinks: [ObjectIdentifier: any SubscriptionSink] = [:]
    /// With more, those that are not wanted any more are taken out.
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

    /// A subscriber goes on.
    mutating func remove(_ sink: any SubscriptionSink) { sinks[ObjectIdentifier(sink)] = nil }
}
