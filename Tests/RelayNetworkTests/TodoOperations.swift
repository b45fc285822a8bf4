import GraphQLLanguage
import Relay
import RelayArtifacts
import RelayIR
import Testing

/// Operations of a todo client, compiled when the tests run.
enum TodoOperations {
    private static let text = """
        query TodoQuery($id: ID!) { node(id: $id) { id ... on Todo { text complete } } }

        mutation RenameMutation($input: RenameTodoInput!) {
          renameTodo(input: $input) { todo { id text } }
        }

        subscription AddedSubscription { todoAdded { todo { id text } } }
        """

    private static let sharedText = """
        query ListQuery {
          user { id todos(first: 100) @connection(key: "List_todos") { edges { node { id complete } } } }
        }

        mutation ChangeAllMutation($input: ChangeAllTodosInput!) {
          changeAllTodos(input: $input) {
            user {
              id todos(first: 100) @connection(key: "List_todos") { edges { node { id complete } } }
            }
          }
        }

        mutation SinkMutation($input: SinkFinishedTodosInput!) {
          sinkFinishedTodos(input: $input) {
            user {
              id todos(first: 100) @connection(key: "List_todos") { edges { node { id complete } } }
            }
          }
        }

        mutation MoveMutation($input: MoveTodoInput!) {
          moveTodo(input: $input) {
            user {
              id todos(first: 100) @connection(key: "List_todos") { edges { node { id complete } } }
            }
          }
        }
        """

    /// - Parameter extensions: of the schema, with which there are operations that need it.
    static func request(_ name: String, adding extensions: String? = nil) throws -> ConcreteRequest
    {
        let todo = try ServedTodos.example("todo.graphql") + (extensions ?? "")
        let schema = try Schema.build(
            [Source(todo, name: "todo.graphql")],
            predefined: [
                Source(try ServedTodos.example("directives.graphql"), name: "directives.graphql")
            ])
        let documents = try RelayDocuments(
            Document(parsing: extensions == nil ? text : sharedText), schema: schema)
        return try #require(documents.operation(name)?.request)
    }

    static func descriptor(
        _ name: String, _ variables: VariableData, adding extensions: String? = nil
    ) throws -> OperationDescriptor {
        OperationDescriptor(
            request: RequestDescriptor(
                node: try request(name, adding: extensions), variables: variables))
    }

    static func todo(_ id: String) throws -> OperationDescriptor {
        try descriptor("TodoQuery", ["id": id])
    }

    static func rename(_ id: String, _ text: String) throws -> OperationDescriptor {
        try descriptor("RenameMutation", ["input": ["id": id, "text": text]])
    }
}
