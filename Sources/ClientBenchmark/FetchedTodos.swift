import GraphQLLanguage
import Relay
import RelayArtifacts
import RelayIR

/// The query of the benchmark: a user with a connection of todos, 15 scalars an edge, with the data that the
/// compiler would make of it.
struct FetchedTodos: Relay.Operation {
    static let node = compiled()

    var variables: EmptyVariables

    struct Data: ReadableRecord {
        var user: User

        init(_ record: inout RecordReader) throws { user = try record.linked("user") }
    }

    struct User: ReadableRecord {
        var typename: String
        var id: String
        var todos: Connection

        init(_ record: inout RecordReader) throws {
            typename = try record.string("__typename")
            id = try record.string("id")
            todos = try record.linked("todos")
        }
    }

    struct Connection: ReadableRecord {
        var edges: [Edge]
        var pageInfo: PageInfo

        init(_ record: inout RecordReader) throws {
            edges = try record.completeList("edges")
            pageInfo = try record.linked("pageInfo")
        }
    }

    struct Edge: ReadableRecord {
        var typename: String
        var cursor: String
        var node: Todo

        init(_ record: inout RecordReader) throws {
            typename = try record.string("__typename")
            cursor = try record.string("cursor")
            node = try record.linked("node")
        }
    }

    struct Todo: ReadableRecord {
        var typename: String
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

        init(_ record: inout RecordReader) throws {
            typename = try record.string("__typename")
            id = try record.string("id")
            text = try record.string("text")
            complete = try record.bool("complete")
            notes = try record.string("notes")
            priority = try record.int("priority")
            position = try record.int("position")
            weight = try record.double("weight")
            color = try record.string("color")
            createdAt = try record.string("createdAt")
            dueAt = try record.optionalString("dueAt")
            author = try record.linked("author")
        }
    }

    struct Author: ReadableRecord {
        var typename: String
        var id: String
        var name: String

        init(_ record: inout RecordReader) throws {
            typename = try record.string("__typename")
            id = try record.string("id")
            name = try record.string("name")
        }
    }

    struct PageInfo: ReadableRecord {
        var endCursor: String
        var hasNextPage: Bool
        var hasPreviousPage: Bool
        var startCursor: String

        init(_ record: inout RecordReader) throws {
            endCursor = try record.string("endCursor")
            hasNextPage = try record.bool("hasNextPage")
            hasPreviousPage = try record.bool("hasPreviousPage")
            startCursor = try record.string("startCursor")
        }
    }
}

extension FetchedTodos {
    private static func compiled() -> ConcreteRequest {
        let request = try? RelayDocuments(
            Document(parsing: document), schema: Schema.build([Source(schema)])
        ).operation("FetchedTodos")?.request
        guard let request else { preconditionFailure("The benchmark's own query is invalid.") }
        return request
    }

    private static let schema = """
        type Query { user: User! }
        type User { id: ID! name: String! todos: TodoConnection! }
        type TodoConnection { edges: [TodoEdge!]! pageInfo: PageInfo! }
        type TodoEdge { cursor: String! node: Todo! }
        type PageInfo {
          endCursor: String! hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String!
        }
        type Todo {
          id: ID! text: String! complete: Boolean! notes: String! priority: Int! position: Int!
          weight: Float! color: String! createdAt: String! dueAt: String author: User!
        }
        """

    private static let document = """
        query FetchedTodos {
          user {
            __typename id
            todos {
              edges {
                __typename cursor
                node {
                  __typename id text complete notes priority position weight color createdAt dueAt
                  author { __typename id name }
                }
              }
              pageInfo { endCursor hasNextPage hasPreviousPage startCursor }
            }
          }
        }
        """
}
