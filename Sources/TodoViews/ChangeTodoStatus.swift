import RelayTerminal

private let mutation = graphql(
    """
    mutation ChangeTodoStatusMutation($input: ChangeTodoStatusInput!) {
      changeTodoStatus(input: $input) { todo { id complete } }
    }
    """)

extension Mutation.Mutator where Operation == ChangeTodoStatusMutation {
    /// Ticks a todo, or takes the tick away.
    func commit(id: String, complete: Bool, ended: @escaping Ended) {
        commit(
            variables: .init(input: .init(complete: complete, id: id)),
            optimisticResponse: .init(
                changeTodoStatus: .init(todo: .init(id: id, complete: complete))),
            completion: { ended($0.map { _ in }) })
    }
}
