import RelayTerminal

private let mutation = graphql(
    """
    mutation RemoveTodoMutation($input: RemoveTodoInput!, $connections: [ID!]!) {
      removeTodo(input: $input) { deletedTodoId @deleteEdge(connections: $connections) }
    }
    """)

extension Mutation.Mutator where Operation == RemoveTodoMutation {
    /// Removes a todo.
    /// - Parameter connections: the lists that are shown.
    func commit(id: String, connections: [String], ended: @escaping Ended) {
        commit(
            variables: .init(input: .init(id: id), connections: connections),
            optimisticResponse: .init(removeTodo: .init(deletedTodoId: id)),
            completion: { ended($0.map { _ in }) })
    }
}
