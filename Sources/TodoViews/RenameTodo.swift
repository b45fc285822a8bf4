import RelayTerminal

private let mutation = graphql(
    """
    mutation RenameTodoMutation($input: RenameTodoInput!) {
      renameTodo(input: $input) { todo { id text } }
    }
    """)

extension Mutation.Mutator where Operation == RenameTodoMutation {
    /// Gives a todo another text.
    func commit(id: String, text: String, ended: @escaping Ended) {
        commit(
            variables: .init(input: .init(id: id, text: text)),
            optimisticResponse: .init(renameTodo: .init(todo: .init(id: id, text: text))),
            completion: { ended($0.map { _ in }) })
    }
}
