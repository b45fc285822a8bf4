import RelayTerminal

private let query = graphql(
    """
    query LiveTodosQuery($count: Int!, $complete: Boolean) @live {
      user { id ...TodoList_user @arguments(count: $count, complete: $complete) }
    }
    """)

/// Shows nothing, and keeps the list in the store as the server has it.
struct LiveTodos: View {
    @Query<LiveTodosQuery> var query
    let count: Int
    let filter: TodoFilter

    var body: some View {
        let result = query.get(.init(count: count, complete: filter.complete))
        if let error = result.error ?? query.refreshError {
            Text("Changes of others are not shown: \(error)").foregroundColor(.red)
        }
    }
}
