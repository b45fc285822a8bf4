import Relay
import RelayTerminal
import TodoMutations

private let mutation = graphql(
    """
    mutation MoveTodoMutation($input: MoveTodoInput!) {
      moveTodo(input: $input) { user { id } }
    }
    """)

extension Relay.Mutation.Mutator where Operation == MoveTodoMutation {
    /// Puts a todo behind another one, or before all others. What is shown meanwhile is what the server does: both run
    /// the same function.
    func commit(id: String, after: String?, of userID: String, ended: @escaping Ended) {
        let variables = MoveTodoMutation.Variables(
            input: .init(id: id, after: after, userId: userID))
        commit(
            variables: variables,
            optimisticUpdater: sharedUpdater(TodoMutations.moveTodo, input: variables),
            updater: sharedUpdater(TodoMutations.moveTodo, input: variables),
            completion: { ended($0.map { _ in }) })
    }
}
