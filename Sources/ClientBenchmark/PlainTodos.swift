/// The same response as plain structs for a `JSONDecoder`: the fields and types of ``FetchedTodos``, without
/// a store behind them.
struct PlainTodos: Decodable {
    var data: Root

    struct Root: Decodable { var user: User }

    struct User: Decodable {
        var __typename: String
        var id: String
        var todos: Connection
    }

    struct Connection: Decodable {
        var edges: [Edge]
        var pageInfo: PageInfo
    }

    struct Edge: Decodable {
        var __typename: String
        var cursor: String
        var node: Todo
    }

    struct Todo: Decodable {
        var __typename: String
        var id: String
        var text: String
        var complete: Bool
        var notes: String
        var priority: Int
        var position: Int
        var weight: Double
        var color: String
        var createdAt: String
        var dueAt: String?
        var author: Author
    }

    struct Author: Decodable {
        var __typename: String
        var id: String
        var name: String
    }

    struct PageInfo: Decodable {
        var endCursor: String
        var hasNextPage: Bool
        var hasPreviousPage: Bool
        var startCursor: String
    }
}
