import RelayTerminal

private let query = graphql(
    """
    query TodoListQuery($complete: Boolean) {
      user { id ...TodoList_user @arguments(complete: $complete) }
    }
    """)

private let fragment = graphql(
    """
    fragment TodoList_user on User
      @refetchable(queryName: "TodoListPaginationQuery")
      @argumentDefinitions(
        count: { type: "Int", defaultValue: 20 }
        cursor: { type: "String" }
        complete: { type: "Boolean" }
      ) {
      id
      totalCount
      completedCount
      todos(first: $count, after: $cursor, complete: $complete)
        @connection(key: "List_todos", filters: ["complete"]) {
        edges { node { id complete ...TodoItem_todo } }
      }
    }
    """)

/// The list, or the part of it that a filter lets through: what the store has at once, and what the server says from
/// then on.
struct TodoList: View {
    @Query<TodoListQuery>(fetchPolicy: .storeOrNetwork) var query
    let filter: TodoFilter

    var body: some View {
        switch query.get(.init(complete: filter.complete)) {
        case .loading:
            HStack {
                ProgressView()
                Text("loading")
            }
            Spacer()
        case .failure(let error):
            failure("The list could not be fetched: \(error)")
        case .success(let data):
            if let user = data?.user {
                TodoRows(user: .init(user), filter: filter)
            } else if query.errors.isEmpty {
                failure("There is no such user.")
            } else {
                failure(query.errors.map(\.message).joined(separator: " "))
            }
        }
    }

    private func failure(_ text: String) -> some View {
        Group {
            Text(text)
            Button("Try again") {
                let query = query
                Task { await query.refetch() }
            }
            Spacer()
        }
    }
}

struct TodoRows: View {
    /// How many rows a page has.
    static let pageSize = 20
    /// How often all rows were looked at so far; for tests.
    static var roundCount = 0

    @PaginationFragment<TodoList_user> var user
    @Mutation<AddTodoMutation> var add
    @OptimisticEntries var entries
    @OthersOptimisticRecords var others
    @EnvironmentValue(\.todoSession) var session
    /// How many rows are wanted: so many are kept up to date.
    @State private var wanted = TodoRows.pageSize
    @State private var isAdding = false
    let filter: TodoFilter

    var body: some View {
        if let user {
            let rows = rows(user.data)
            VStack {
                Text("\(count(of: user, rows)) · \(filter.rawValue)")
                    .bold()
                List {
                    ForEach(rows) {
                        TodoItem(
                            todo: .init($0.node), place: $0.place, isWaiting: $0.isWaiting,
                            isExpected: $0.isExpected)
                    }
                    if user.isLoadingNext {
                        Text("loading more")
                    } else if user.hasNext {
                        Button("More …") {
                            user.loadNext(Self.pageSize) { failure in
                                if let failure {
                                    session?.note(failure)
                                } else {
                                    wanted += Self.pageSize
                                }
                            }
                        }
                    }
                }
                if isAdding {
                    NewTodo { add($0, to: user.data) }
                        .onKey(KeyPress(.escape)) { isAdding = false }
                }
                LiveTodos(count: wanted, filter: filter)
            }
            .onKey("a") { isAdding = true }
        }
    }

    /// Counted here where all of them are, with what waits for the server; otherwise what the server knows.
    private func count(
        of user: PaginationFragment<TodoList_user>.Wrapper, _ rows: [Row]
    ) -> String {
        guard filter == .all, !user.hasNext else {
            return "\(user.completedCount) of \(user.totalCount) done"
        }
        return "\(rows.count { $0.node.complete }) of \(rows.count) done"
    }

    private func add(_ text: String, to user: TodoList_user.Data) {
        if text.isEmpty {
            isAdding = false
            return
        }
        // A list that is there to its end stays so.
        let count = user.todos?.edges?.count ?? 0
        if self.user?.hasNext == false, count >= wanted { wanted += Self.pageSize }
        add.commit(text: text, of: user.id) { [session] in session?.ended($0) }
    }

    private struct Row: Identifiable {
        let node: TodoList_user.Data.TodoConnection_todos.TodoEdge_edges.Todo_node
        let place: TodoPlace
        let isWaiting: Bool
        let isExpected: Bool
        var id: String { node.id }
    }

    private func rows(_ user: TodoList_user.Data) -> [Row] {
        Self.roundCount += 1
        let nodes = user.todos?.edges?.compactMap { $0?.node } ?? []
        let waiting = Set(entries.flatMap(\.subjects))
        let known = nodes.filter { !TemporaryID.isTemporary($0.id) }.map(\.id)
        var knownCount = 0
        return nodes.map { node in
            func id(_ index: Int) -> String? { known.indices.contains(index) ? known[index] : nil }
            let index = knownCount
            let isKnown = id(index) == node.id
            if isKnown { knownCount += 1 }
            return Row(
                node: node,
                place: TodoPlace(
                    user: user.id, canMove: filter == .all && isKnown, above: id(index - 1),
                    aboveThat: id(index - 2), below: id(index + 1)),
                isWaiting: waiting.contains(node.id),
                isExpected: others.contains(DataID(node.id)))
        }
    }
}
