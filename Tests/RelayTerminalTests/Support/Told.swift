import RelayStore
import RelayTerminal
import Threads

extension MockEnvironment {
    /// How many subscriptions an update is told to.
    func countTold(_ update: StoreUpdater) throws -> Int {
        let told = Told()
        let observation = store.observe { event in
            if case .notifyCompleted(let count) = event { told.count.withLock { $0 += count } }
        }
        defer { observation.cancel() }
        try commitUpdate(update)
        return told.count.withLock { $0 }
    }
}

private final class Told: Sendable {
    let count = Lock(0)
}
