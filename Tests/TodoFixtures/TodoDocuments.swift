import Foundation
import GraphQLLanguage
package import RelayArtifacts
package import RelayIR

/// The documents of a small todo client, compiled against `docs/examples/todo.graphql`.
package enum TodoDocuments {
    static let text = """
        query UserQuery($id: ID = "me") @relay_test_operation { user(id: $id) { id userId totalCount ...List_user } }

        fragment List_user on User
          @refetchable(queryName: "ListPaginationQuery")
          @argumentDefinitions(count: {type: "Int", defaultValue: 10}, cursor: {type: "String"}) {
          todos(first: $count, after: $cursor) @connection(key: "List_todos") {
            __id
            edges { node { id ...Item_todo } }
          }
        }

        fragment Item_todo on Todo { id text complete }

        query TodoQuery($id: ID!) @relay_test_operation { node(id: $id) { ... on Todo { id text complete } } }

        query LiveTodosQuery @live {
          user { id totalCount todos { edges { node { id text complete } } } }
        }

        query NodesQuery($ids: [ID!]!) { nodes(ids: $ids) { ... on Todo { id text complete } } }

        mutation ChangeTodoStatusMutation($input: ChangeTodoStatusInput!) {
          changeTodoStatus(input: $input) { todo { id complete } }
        }

        mutation AddTodoMutation($input: AddTodoInput!, $connections: [ID!]!) {
          addTodo(input: $input) {
            todoEdge @appendEdge(connections: $connections) { node { id text complete } }
          }
        }

        mutation RenameTodoMutation($input: RenameTodoInput!) {
          renameTodo(input: $input) { todo { id text } }
        }

        mutation RemoveTodoMutation($input: RemoveTodoInput!, $connections: [ID!]!) {
          removeTodo(input: $input) { deletedTodoId @deleteEdge(connections: $connections) }
        }

        mutation DeleteTodoMutation($input: RemoveTodoInput!) {
          removeTodo(input: $input) { deletedTodoId @deleteRecord }
        }

        query RecordIDsQuery { __id user { __id todos(first: 1) { __id } } }

        subscription TodoAddedSubscription($userId: ID! = "me") @relay_test_operation {
          todoAdded(userId: $userId) { todo { id text complete } }
        }

        subscription TodoRemovedSubscription($userId: ID! = "me") {
          todoRemoved(userId: $userId) { deletedTodoId @deleteRecord }
        }
        """

    package static let all: Result<RelayDocuments, any Error> = Result {
        let schema = try Schema.build(
            [
                try read("todo"),
                Source(utf8: Array(deferDirective.utf8), name: "defer.graphql"),
            ], predefined: [try read("directives")])
        return try RelayDocuments(
            Document(parsing: text + fieldErrors + deferred + paging), schema: schema)
    }

    package static func request(_ name: String) -> ConcreteRequest {
        guard let request = try? all.get().operation(name)?.request else {
            preconditionFailure("The document has no operation \(name): \(all).")
        }
        return request
    }

    package static func fragment(_ name: String) -> ReaderFragment {
        guard let node = try? all.get().fragment(name)?.node else {
            preconditionFailure("The document has no fragment \(name): \(all).")
        }
        return node
    }

    private static func read(_ name: String) throws -> Source {
        Source(utf8: try example("\(name).graphql"), name: "\(name).graphql")
    }

    /// A file of `docs/examples`.
    package static func example(_ name: String) throws -> [UInt8] {
        let root = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        return Array(try Data(contentsOf: root.appending(path: "docs/examples/\(name)")))
    }
}
