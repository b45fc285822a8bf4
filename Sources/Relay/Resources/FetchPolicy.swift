/// Where the data of a query comes from.
public enum FetchPolicy: Hashable, Sendable {
    /// The store; never fetches.
    case storeOnly
    /// The network, always. What the store has is not shown first.
    case networkOnly
    /// The store at once if it has all the data and none of it is stale, and the network always.
    case storeAndNetwork
    /// The store if it has all the data and none of it is stale, otherwise the network.
    case storeOrNetwork
}
