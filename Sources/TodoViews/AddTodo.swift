import RelayTerminal

private let mutation = graphql(
    """
    mutation AddTodoMutation($input: AddTodoInput!, $connections: [ID!]!) {
      addTodo(input: $input) {
        todoEdge @appendEdge(connections: $connections) {
          cursor
          node { id ...TodoItem_todo }
        }
      }
    }
    """)

extension Mutation.Mutator where Operation == AddTodoMutation {
    /// Adds a todo to the end of those of a user's lists that it belongs to, and shows it there at once.
    /// - Parameters:
    ///   - text: what is to be done.
    ///   - ended: told how it ended.
    func commit(text: String, of userID: String, ended: @escaping Ended) {
        commit(
            variables: .init(
                input: .init(text: text),
                connections: TodoFilter.allCases.filter { $0 != .done }.map { $0.list(of: userID) }),
            // With everything that the list selects, the cursor too: what is incomplete is not shown by a later run
            // without a server.
            optimisticResponse: .init(
                addTodo: .init(
                    todoEdge: .init(
                        cursor: "",
                        node: .init(id: TemporaryID.next(), text: text, complete: false)))),
            completion: { ended($0.map { _ in }) })
    }
}
