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
    /// How often it has failed since it was live.
    @State private var failureCount = 0
    let count: Int
    let filter: TodoFilter

    var body: some View {
        if let error {
            Text("Changes of others are not shown: \(error)").frame(height: 1)
                .foregroundColor(.red)
                .task { await tryAgain() }
        }
    }

    private var error: (any Error)? {
        query.get(.init(count: count, complete: filter.complete)).error ?? query.refreshError
    }

    /// The network has given it up, for a server that answers as if there were none, say while it restarts.
    private func tryAgain() async {
        while error != nil, !Task.isCancelled {
            failureCount += 1
            let delay = Duration.seconds(1 << min(failureCount - 1, 5))
            guard (try? await Task.sleep(for: delay)) != nil else { return }
            await query.refetch()
            if error == nil { failureCount = 0 }
        }
    }
}
