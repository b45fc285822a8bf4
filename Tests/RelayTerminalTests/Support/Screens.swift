import RelayTerminal
import TodoFixtures

/// Counts how often bodies are evaluated, by the name of their view.
@MainActor final class Evaluations {
    private(set) var counts: [String: Int] = [:]

    func note(_ name: String) { counts[name, default: 0] += 1 }

    /// Those since the last time.
    func take() -> [String: Int] {
        defer { counts = [:] }
        return counts
    }
}

/// A user's list: the state of its query, a page of rows, and what each can do.
struct TodoScreen: View {
    @Query<UserQuery> var query
    let evaluations: Evaluations
    var id = "me"
    var fetchKey = 0

    init(_ policy: FetchPolicy, _ evaluations: Evaluations, id: String = "me", fetchKey: Int = 0) {
        _query = Query(fetchPolicy: policy)
        self.evaluations = evaluations
        self.id = id
        self.fetchKey = fetchKey
    }

    var body: some View {
        let _ = evaluations.note("screen")
        switch query.get(.init(id: id), fetchKey: fetchKey) {
        case .loading: Text("loading")
        case .failure(let error):
            Button("failed: \(error)") {
                let query = query
                Task { await query.refetch() }
            }
        case .success(let data):
            if let user = data?.user {
                TodoRows(user: .init(user), evaluations: evaluations)
            } else {
                Text("nobody")
            }
            if query.refreshError != nil { Text("out of date") }
        }
    }
}

struct TodoRows: View {
    @PaginationFragment<List_user> var user
    let evaluations: Evaluations

    var body: some View {
        let _ = evaluations.note("rows")
        if let user {
            ForEach(user.todos?.edges?.compactMap { $0?.node } ?? []) { todo in
                TodoRow(todo: .init(todo), evaluations: evaluations)
            }
            if user.isLoadingNext { Text("loading more") }
            if user.hasNext { Button("more") { user.loadNext(3) } }
        }
    }
}

struct TodoRow: View {
    @Fragment<Item_todo> var todo
    @Mutation<ChangeTodoStatusMutation> var changeStatus
    let evaluations: Evaluations

    var body: some View {
        let _ = evaluations.note("row")
        if let todo {
            Button(
                "\(todo.complete ? "x" : "-") \(todo.text)\(changeStatus.isInFlight ? " …" : "")"
            ) {
                changeStatus.commit(
                    variables: .init(input: .init(complete: !todo.complete, id: todo.id)),
                    optimisticResponse: [
                        "changeTodoStatus": ["todo": ["id": todo.id, "complete": !todo.complete]]
                    ])
            }
        }
    }
}

/// Responses as a server sends them.
enum Payloads {
    /// The page of a user's list after a cursor, of todos 0 to `total` - 1.
    static func page(
        _ ids: some Sequence<Int>, of total: Int, as field: String = "user", user: String = "U",
        complete: Bool = false
    ) -> String {
        let ids = Array(ids)
        let edges = ids.map {
            """
            {"cursor":"\($0)","node":{"__typename":"Todo","id":"t\($0)","text":"todo \($0)",\
            "complete":\(complete)}}
            """
        }
        return """
            {"data":{"\(field)":{"__typename":"User","id":"\(user)","userId":"me",\
            "totalCount":\(total),"todos":{"edges":[\(edges.joined(separator: ","))],\
            "pageInfo":{"endCursor":"\(ids.last ?? -1)",\
            "hasNextPage":\((ids.last ?? -1) + 1 < total)}}}}}
            """
    }

    static func status(_ id: String, complete: Bool) -> String {
        #"{"data":{"changeTodoStatus":{"todo":{"id":"\#(id)","complete":\#(complete)}}}}"#
    }
}
