import Relay

private let mutation = graphql(
    """
    mutation AddTodoMutation($input: AddTodoInput!) {
      addTodo(input: $input) { todo { text } }
    }
    """)

extension Todos {
    static func add(_ text: String, to environment: Environment) async throws {
        let mutation = AddTodoMutation(input: .init(text: text))
        let added = try await environment.commit(mutation).data?.addTodo?.todo
        print("Added:", added?.text ?? "nothing")
    }
}
