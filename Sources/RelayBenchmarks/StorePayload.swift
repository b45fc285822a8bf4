import GraphQLLanguage
import RelayArtifacts
import RelayIR

/// The response that `relay bench store` works on: a user with a connection of N todos, 15 scalars an edge,
/// 100 authors among them. Deterministic, so that other stores can be given the very same bytes.
struct StorePayload {
    let todoCount: Int
    /// The number of the first todo: other todos, other ids.
    var first = 0

    static let scalarsPerEdge = 15

    var recordCount: Int { 2 * todoCount + 104 }

    var scalarCount: Int { todoCount * Self.scalarsPerEdge }

    /// `{"data": {"user": …}}`
    var response: [UInt8] {
        var text = #"{"data":{"user":{"__typename":"User","id":"user:me","todos":{"edges":["#
        for index in first..<first + todoCount {
            if index > first { text += "," }
            text += #"{"__typename":"TodoEdge","cursor":"c\#(index)","node":"#
            text += Self.todo(index, text: "Buy milk and read chapter \(index)") + "}"
        }
        text += #"],"pageInfo":{"endCursor":"c\#(todoCount - 1)","hasNextPage":false,"#
        text += #""hasPreviousPage":false,"startCursor":"c0"}}}}}"#
        return Array(text.utf8)
    }

    private static func todo(_ index: Int, text: String) -> String {
        let day = index % 28 + 1
        let date = "-\(day < 10 ? "0" : "")\(day)T10:00:00Z"
        let weight = index % 97
        let color = ["red", "green", "blue", "grey"][index & 3]
        let due = index % 4 == 0 ? "null" : #""2025-01\#(date)""#
        return #"{"__typename":"Todo","id":"todo:\#(index)","text":"\#(text)","#
            + #""complete":\#(index % 3 == 0),"notes":"note \#(index * 7_919 % 10_007)","#
            + #""priority":\#(index % 5),"position":\#(index),"#
            + #""weight":\#(weight % 8 == 0 ? "\(weight / 8)" : "\(Double(weight) / 8)"),"#
            + #""color":"\#(color)","createdAt":"2024-05\#(date)","dueAt":\#(due),"#
            + #""author":{"__typename":"User","id":"user:\#(index % 100)","#
            + #""name":"Author \#(index % 100)"}}"#
    }

    /// What a mutation of one todo is answered.
    static func answer(_ index: Int, text: String) -> [UInt8] {
        Array(
            #"{"data":{"change":{"todo":{"id":"todo:\#(index)","text":"\#(text)"}}}}"#.utf8)
    }

    /// What a query of one todo is answered.
    static func one(_ index: Int) -> [UInt8] {
        Array((#"{"data":{"todo":"# + todo(index, text: "Text \(index)") + "}}").utf8)
    }

    /// An event about one todo.
    static func event(_ index: Int) -> [UInt8] {
        Array(#"{"data":{"changed":{"id":"todo:\#(index)","text":"Text \#(index)"}}}"#.utf8)
    }

    // MARK: Documents

    static func documents() throws -> RelayDocuments {
        try RelayDocuments(Document(parsing: document), schema: Schema.build([Source(schema)]))
    }

    private static let schema = """
        type Query { user: User todo(id: ID!): Todo }
        type User { id: ID! name: String todos: TodoConnection }
        type TodoConnection { edges: [TodoEdge] pageInfo: PageInfo }
        type TodoEdge { cursor: String node: Todo }
        type PageInfo {
          endCursor: String hasNextPage: Boolean hasPreviousPage: Boolean startCursor: String
        }
        type Todo {
          id: ID! text: String complete: Boolean notes: String priority: Int position: Int
          weight: Float color: String createdAt: String dueAt: String author: User
        }
        type Mutation { change(id: ID!, text: String): ChangePayload }
        type ChangePayload { todo: Todo }
        type Subscription { changed: Todo }
        """

    private static let document = """
        query All {
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
        fragment Row on Todo {
          __typename id text complete notes priority position weight color createdAt dueAt
        }
        query Rows { user { todos { edges { node { ...Row } } } } }
        query One($id: ID!) {
          todo(id: $id) {
            __typename id text complete notes priority position weight color createdAt dueAt
            author { __typename id name }
          }
        }
        mutation Change($id: ID!, $text: String) { change(id: $id, text: $text) { todo { id text } } }
        subscription Changed { changed { id text } }
        """
}
