package import Logging
@_spi(Rooms) package import RelayRecords
import Threads

/// Whether the journal takes mutations: said in the log when that changes, and on request.
package final class StorageHealth: Sendable {
    private struct State {
        /// What the disk has said, while it is full.
        var reason: String?
        var refusals = 0
        /// An append has succeeded meanwhile, and a try is to say whether there is room: how many had been refused when
        /// it began.
        var trial: Int?
        /// A write or a sync has failed, and nothing is taken until the log is opened anew.
        var isFrozen = false
    }

    private let state = Lock(State())
    private let logger: Logger

    package init(logger: Logger) { self.logger = logger }

    /// Why mutations cannot be made durable; nil when they can.
    package var reason: String? { state.withLock { $0.reason } }

    /// The log takes nothing any more.
    package var isFrozen: Bool { state.withLock { $0.isFrozen } }

    /// Appends that a full disk has refused.
    package var refusalCount: Int { state.withLock { $0.refusals } }

    /// Takes in what became of an append; nil is success.
    ///
    /// - Returns: whether room is to be tried, for ``finishTrial(hasRoom:)``: a small append succeeds on a full
    ///   disk, too, in what is left of a segment that was filled ahead.
    package func note(_ error: JournalError?) -> Bool {
        guard let error else {
            return state.withLock { state in
                guard state.reason != nil, state.trial == nil else { return false }
                state.trial = state.refusals
                return true
            }
        }
        if error.code == .frozen { state.withLock { $0.isFrozen = true } }
        guard error.code == .storageFull else { return false }
        let isNew = state.withLock { state in
            defer { state.reason = error.message }
            state.refusals += 1
            return state.reason == nil
        }
        if isNew {
            logger.error(
                "The disk is full, so mutations are refused until there is room. \(error.message)")
        }
        return false
    }

    /// Takes in what a try after an append has said.
    package func finishTrial(hasRoom: Bool) {
        let refusals = state.withLock { $0.trial.take() }
        if hasRoom, let refusals { noteRoom(asOf: refusals) }
    }

    /// A try has found room. If an append was refused since it began, that says more.
    /// - Parameter refusals: ``refusalCount`` when it began.
    package func noteRoom(asOf refusals: Int) {
        let wasFull = state.withLock { state in
            guard state.refusals == refusals else { return false }
            defer { state.reason = nil }
            return state.reason != nil
        }
        if wasFull { logger.notice("The disk has room again; mutations are accepted.") }
    }
}
