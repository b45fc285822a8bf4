import Synchronization

/// Results that subscriptions missed, and that wait until their clients have room: how many bytes they have together.
final class HeldResults: Sendable {
    private let count = Atomic(0)
    private let limit: Int

    /// - Parameter limit: a result that finds more than so many bytes waiting is not made.
    init(limit: Int) { self.limit = limit }

    var byteCount: Int { count.load(ordering: .relaxed) }

    var hasRoom: Bool { byteCount < limit }

    /// Counts a result for as long as the claim exists.
    func claim(_ bytes: Int) -> Claim {
        count.wrappingAdd(bytes, ordering: .relaxed)
        return Claim(bytes, self)
    }

    final class Claim: Sendable {
        private let bytes: Int
        private let results: HeldResults

        fileprivate init(_ bytes: Int, _ results: HeldResults) {
            self.bytes = bytes
            self.results = results
        }

        deinit { results.count.wrappingSubtract(bytes, ordering: .relaxed) }
    }
}
