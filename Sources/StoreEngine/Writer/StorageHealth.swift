package import Logging
@_spi(Rooms) package import RelayRecords
import Threads

/// Whether the journal takes mutations: said in the log when that changes, and on request.
///
/// While the disk is full, the writer takes no turn before it has been tried whether there is room again, and carries
/// out nothing new in a turn if there is not (``MutationRunner``): what it would make, only to be refused by the log,
/// would leave the names of its records behind.
package final class StorageHealth: Sendable {
    private struct State {
        /// What the disk has said, while it is full.
        var reason: String?
        /// Appends that a full disk has refused.
        var failedAppends = 0
        /// Mutations that were refused for it.
        var refusals = 0
        /// It is being tried whether there is room, for a turn of the writer.
        var isTrying = false
        /// There was none when it was tried for the next turn.
        var isTried = false
        /// There was no room when the turn was admitted.
        var refusesTurn = false
        /// A write or a sync has failed, and nothing is taken until the log is opened anew.
        var isFrozen = false
    }

    private let state = Lock(State())
    private let logger: Logger
    private let tasks: EngineTasks
    private let hasRoom: @Sendable () async -> Bool
    private let onTried = Lock<@Sendable () -> Void>({})

    /// - Parameter hasRoom: tries whether the disk has room.
    package init(
        logger: Logger, tasks: EngineTasks = EngineTasks(),
        hasRoom: @escaping @Sendable () async -> Bool
    ) {
        self.logger = logger
        self.tasks = tasks
        self.hasRoom = hasRoom
    }

    /// Why mutations cannot be made durable; nil when they can.
    package var reason: String? { state.withLock { $0.reason } }

    /// The log takes nothing any more.
    package var isFrozen: Bool { state.withLock { $0.isFrozen } }

    /// Appends that a full disk has refused.
    package var failedAppendCount: Int { state.withLock { $0.failedAppends } }

    /// Mutations that were refused because the disk was full, by the log or before they came to it.
    package var refusalCount: Int { state.withLock { $0.refusals } }

    /// Takes in why an append has failed. One that succeeds says little: there may be something left of a segment that
    /// was filled ahead.
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

    /// Tries whether there is room again, if the disk is full.
    package func tryRoom() async {
        let failedAppends = state.withLock { $0.reason == nil ? nil : $0.failedAppends }
        guard let failedAppends, await hasRoom() else { return }
        let wasFull = state.withLock { state in
            // If an append was refused meanwhile, that says more.
            guard state.failedAppends == failedAppends else { return false }
            defer { state.reason = nil }
            return state.reason != nil
        }
        if wasFull { logger.notice("The disk has room again; mutations are accepted.") }
    }

    // MARK: The writer's turns

    /// Says whom to call when a turn may be taken.
    func whenTried(_ action: @escaping @Sendable () -> Void) { onTried.withLock { $0 = action } }

    /// Whether a new mutation is to be refused in the turn that was admitted last, which is counted then. What the disk
    /// has said since does not matter, as it has not been tried for this turn.
    func refusesMutation() -> Bool {
        state.withLock { state in
            if state.refusesTurn { state.refusals += 1 }
            return state.refusesTurn
        }
    }

    /// Whether the writer may take a turn now: not before it has been tried for this one, while the disk is full.
    func admitsTurn() -> Bool {
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
}
