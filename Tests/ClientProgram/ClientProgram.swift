import Relay
import RelayNetwork

/// Somebody's program. Its target has no package access, so it sees of this package what is public, as the program of
/// another package does.
public enum ClientProgram {
    /// - Parameter text: the URL of a server of the todo example.
    /// - Returns: the texts of the first page, and of all pages.
    public static func run(_ text: String) async throws -> (first: [String], all: [String]) {
        let e = Environment(network: try WebSocketNetwork(url: text), store: Store())
        let r = try await e.fetch(ShelfQuery())
        guard let user = r.data?.user else { return ([], []) }
        let shelf = e.lookup(Shelf_user(key: user)).data

        let pages = PaginationResource(user.asFragment(), environment: e)
        while pages.hasNext { try await pages.loadNext(20) }
        return (texts(shelf), texts(e.lookup(user.asFragment()).data))
    }

    private static func texts(_ shelf: Shelf_user.Data?) -> [String] {
        (shelf?.todos?.edges ?? []).compactMap { $0?.node?.text }
    }
}
