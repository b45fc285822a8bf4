import Threads

/// Begins when new snapshots must be distinguished from older ones; it lives as long as any of them.
package final class SymbolEpoch: Sendable {
    /// Whether no snapshot of the epoch is left.
    package final class End: Sendable {
        private let state = Lock((isOver: false, call: Optional<@Sendable () -> Void>.none))

        // Behind a lock: a thread that finds it over also sees everything done with those snapshots.
        package var isOver: Bool { state.withLock { $0.isOver } }

        /// Registers a call for the end of the epoch: on whichever thread releases the last snapshot, under whichever
        /// locks it holds.
        package func then(_ call: @escaping @Sendable () -> Void) {
            state.withLock { $0.call = call }
        }

        fileprivate func come() {
            let call = state.withLock { state in
                state.isOver = true
                return state.call
            }
            call?()
        }
    }

    package let end = End()

    package init() {}

    deinit { end.come() }
}
