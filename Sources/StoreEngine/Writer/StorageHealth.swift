package import Logging
@_spi(Rooms) package import RelayRecords
import Threads

/// Whether the journal accepts mutations. Changes are logged, and the state can be read.
///
/// While the disk is full, the writer takes no turn until it has been tried for room again. If there is none,
/// the turn carries out nothing new (``MutationRunner``): records made only to be refused by the log would
/// leave their names behind.
///
/// A disk of another machine is tried by a turn, once a second; the others carry out nothing new meanwhile.
package final class StorageHealth: Sendable {
    private struct State {
        /// The disk's error message, while it is full.
        var reason: String?
        /// Appends refused because the disk was full.
        var failedAppends = 0
        /// Mutations refused because the disk was full.
        var refusals = 0
        /// A check for room is under way, for the next turn of the writer. Where turns try: one will soon.
        var isTrying = false
        /// The check for the next turn is done. Where turns try: the next one does.
        var isTried = false
        /// There was no room when the turn was admitted.
        var refusesTurn = false
        /// A write or a sync has failed, and nothing is accepted until the log is reopened.
        var isFrozen = false
    }

    private let state = Lock(State())
    private let logger: Logger
    private let tasks: EngineTasks
    private let hasRoom: (@Sendable () async -> Bool)?
    private let onTried = Lock<@Sendable () -> Void>({})

    /// How often a turn tries a disk that only appends can try.
    static let trialInterval = Duration.seconds(1)

    /// - Parameter hasRoom: checks whether the disk has room; nil if only an append tells.
    package init(
        logger: Logger, tasks: EngineTasks = EngineTasks(),
        hasRoom: (@Sendable () async -> Bool)?
    ) {
        self.logger = logger
        self.tasks = tasks
        self.hasRoom = hasRoom
    }

    /// Why mutations cannot be made durable; nil when they can.
    package var reason: String? { state.withLock { $0.reason } }

    /// The log accepts nothing any more.
    package var isFrozen: Bool { state.withLock { $0.isFrozen } }

    /// Appends refused because the disk was full.
    package var failedAppendCount: Int { state.withLock { $0.failedAppends } }

    /// Mutations refused because the disk was full, by the log or before reaching it.
    package var refusalCount: Int { state.withLock { $0.refusals } }

    /// Records why an append failed. On a disk of this machine a success would say little, because part of a
    /// preallocated segment may have been left.
    /// - Parameter refusals: the mutations that fail with it.
    package func note(_ error: JournalError, refusals: Int = 1) {
        if error.code == .frozen { state.withLock { $0.isFrozen = true } }
        guard error.code == .storageFull else { return }
        let isNew = state.withLock { state in
            defer { state.reason = error.message }
            state.failedAppends += 1
            state.refusals += refusals
            return state.reason == nil
        }
        if isNew {
            logger.error(
                "The disk is full, so mutations are refused until there is room. \(error.message)")
        }
    }

    /// If the disk is full, checks whether there is room again.
    package func tryRoom() async {
        let failedAppends = state.withLock { $0.reason == nil ? nil : $0.failedAppends }
        guard let hasRoom, let failedAppends, await hasRoom() else { return }
        let wasFull = state.withLock { state in
            // If an append was refused in the meantime, that takes precedence.
            guard state.failedAppends == failedAppends else { return false }
            defer { state.reason = nil }
            return state.reason != nil
        }
        if wasFull { noteRoom() }
    }

    /// The journal has taken events.
    package func noteAppended() {
        guard hasRoom == nil else { return }
        let wasFull = state.withLock { state in
            defer { state.reason = nil }
            return state.reason != nil
        }
        if wasFull { noteRoom() }
    }

    private func noteRoom() {
        logger.notice("The disk has room again; mutations are accepted.")
    }

    // MARK: The writer's turns

    /// Sets the action to call when a turn may be taken.
    func whenTried(_ action: @escaping @Sendable () -> Void) { onTried.withLock { $0 = action } }

    /// Whether to refuse a new mutation in the turn admitted last; a refusal is counted. Disk errors since
    /// then are ignored, because no check has been made for this turn since.
    func refusesMutation() -> Bool {
        state.withLock { state in
            if state.refusesTurn { state.refusals += 1 }
            return state.refusesTurn
        }
    }

    /// Whether the writer may take a turn now. While the disk is full, it must first be checked for this
    /// turn.
    func admitsTurn() -> Bool {
        if hasRoom == nil { return admitsTrial() }
        let (isAdmitted, starts) = state.withLock { state in
            if state.reason == nil || state.isTried {
                (state.isTried, state.refusesTurn) = (false, state.reason != nil)
                return (true, false)
            }
            defer { state.isTrying = true }
            return (false, !state.isTrying)
        }
        if starts {
            tasks.start(.utility) { [self] in
                await tryRoom()
                state.withLock { ($0.isTrying, $0.isTried) = (false, true) }
                onTried.withLock { $0 }()
            }
        }
        return isAdmitted
    }

    /// Every turn may be taken; if the disk is full, one of them tries it.
    private func admitsTrial() -> Bool {
        let starts = state.withLock { state in
            guard state.reason != nil else {
                (state.isTried, state.refusesTurn) = (false, false)
                return false
            }
            (state.isTried, state.refusesTurn) = (false, !state.isTried)
            defer { state.isTrying = true }
            return !state.isTrying
        }
        if starts {
            tasks.later(Self.trialInterval) { [self] in
                state.withLock { ($0.isTrying, $0.isTried) = (false, true) }
            }
        }
        return true
    }
}
