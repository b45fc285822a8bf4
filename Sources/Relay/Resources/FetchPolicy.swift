/// Where the data of a query comes from.
public enum FetchPolicy: Hashable, Sendable {
    /// The store; never fetches.
    case storeOnly
    /// The network, always. What the store has is not shown before.
    case networkOnly
    /// The store at once if it has all of it, and the network always.
    case storeAndNetwork
    /// The store if it has all of it and none of it is stale, or else the network.
    case storeOrNetwork
}
