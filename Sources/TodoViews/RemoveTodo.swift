import RelayTerminal

private let mutation = graphql(
    """
    mutation RemoveTodoMutation($input: RemoveTodoInput!, $connections: [ID!]!) {
      removeTodo(input: $input) { deletedTodoId @deleteEdge(connections: $connections) }
    }
    """)

extension Mutation.Mutator where Operation == RemoveTodoMutation {
    /// Removes a todo from all lists of a user, also from those that are not shown.
    func commit(id: String, of userID: String, ended: @escaping Ended) {
        commit(
            variables: .init(
                input: .init(id: id), connections: TodoFilter.allCases.map { $0.list(of: userID) }),
            optimisticResponse: .init(removeTodo: .init(deletedTodoId: id)),
            completion: { ended($0.map { _ in }) })
    }
}
