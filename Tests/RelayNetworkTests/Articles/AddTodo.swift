import Relay

private let mutation = graphql(
    """
    mutation AddTodoMutation($input: AddTodoInput!, $connections: [ID!]!) {
      addTodo(input: $input) {
        todoEdge @appendEdge(connections: $connections) { node { ...Item_todo } }
      }
    }
    """)
