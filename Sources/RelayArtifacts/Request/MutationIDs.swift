import Synchronization

/// Names the mutations of one client: `CLIENT:1`, `CLIENT:2`, and so on.
///
/// A server that knows such names (`extensions.relay.mutationId`) carries each out at most once, so that a
/// mutation whose answer was lost can be sent again. Networks of one client share one of these.
public final class MutationIDs: Sendable {
    /// Unique to the client; the server uses it to keep the answers of clients apart.
    public let client: String
    private let last: Atomic<UInt64>

    /// - Parameters:
    ///   - client: nil: a random name, for a client that keeps nothing across runs.
    ///   - last: the last number in use; numbering continues after it.
    public init(client: String? = nil, after last: UInt64 = 0) {
        self.client = client ?? Self.randomClient()
        self.last = Atomic(last)
    }

    /// The name of the next mutation.
    package func next() -> String {
        "\(client):\(last.wrappingAdd(1, ordering: .relaxed).newValue)"
    }

    /// 16 random hexadecimal digits.
    package static func randomClient() -> String {
        let digits = String(UInt64.random(in: 0...UInt64.max), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
