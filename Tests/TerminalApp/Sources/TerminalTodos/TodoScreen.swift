import RelayTerminal

private let query = graphql(
    """
    query TodoScreenQuery @live {
      user { todos(first: 100) { edges { node { id ...TodoRow_todo } } } }
    }
    """)

struct TodoScreen: View {
    @Query<TodoScreenQuery> var query
    @OptimisticEntries var entries
    @EnvironmentValue(\.leave) var leave

    var body: some View {
        VStack {
            switch query.get() {
            case .loading: ProgressView()
            case .failure(let error):
                Text("\(error)")
                Button("Try again") { Task { [query] in await query.refetch() } }
            case .success(let data):
                let nodes = data?.user?.todos?.edges?.compactMap { $0?.node } ?? []
                List(nodes) { TodoRow(todo: .init($0)) }
            }
            Spacer()
            Divider()
            if let error = query.refreshError { Text("\(error)").foregroundColor(.red) }
            Text(entries.isEmpty ? "Enter tick  q leave" : "\(entries.count) in flight")
        }
        .onKey("q") { leave() }
    }
}
