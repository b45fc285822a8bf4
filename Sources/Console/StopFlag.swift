import Synchronization

/// SIGTERM and SIGINT, as something to look at now and then.
package final class StopFlag: Sendable {
    private let isRaised = Atomic(false)

    /// From now on the signals no longer end the process.
    package init() {
        let signals = StopSignals()
        Task { [self] in
            _ = await signals.first()
            isRaised.store(true, ordering: .relaxed)
        }
    }

    package var isSet: Bool { isRaised.load(ordering: .relaxed) }
}
