import Relay
import Synchronization

@testable import RelayNetwork

/// A provider that can give no token for a while.
final class Offline: Sendable {
    struct Failure: Error {}

    private let asked = Atomic(0)
    private let times: Int

    init(times: Int) { self.times = times }

    /// How often it was asked.
    var count: Int { asked.load(ordering: .relaxed) }

    var tokens: TokenProvider {
        TokenProvider { [self] _ in
            if asked.wrappingAdd(1, ordering: .relaxed).newValue <= times { throw Failure() }
            return "good"
        }
    }
}
