import OpenCombine
import Relay
@_spi(Rooms) import RelayStore
import TodoFixtures

// A connection: its page is fetched anew, and mutations add edges, take them away and delete their nodes.

extension RuntimeLane {
    /// A connection that the lane keeps and follows.
    struct Connection {
        let query: UserQuery
        /// What mutations know it by.
        let id: String
        let retention: AnyCancellable
        let told: Outcomes
        var model: ConnectionModel
        var expected: [String] = []
    }

    func beginConnection() throws {
        let query = UserQuery(id: "\(name)-user")
        let operation = query.createDescriptor()
        let retention = environment.retain(operation: operation)
        var model = ConnectionModel()
        let nodes = nextPage(model)
        try answerPage(query, nodes)
        model.confirm(.page(nodes))
        let snapshot: Relay.Snapshot<UserQuery.Data> = environment.lookup(
            selector: operation.fragment)
        guard let user = snapshot.data?.user else {
            throw Mismatch(description: "a connection was fetched and is not there")
        }
        let list = environment.lookup(List_user(key: user))
        connection = Connection(
            query: query, id: list.data?.todos?.__id ?? "", retention: retention,
            told: Outcomes(environment.subscribe(snapshot: list), Self.line), model: model)
    }

    func fetchPage() throws {
        guard let connection else { return }
        let nodes = nextPage(connection.model)
        try committing {
            try answerPage(connection.query, nodes)
        } model: {
            self.connection?.model.confirm(.page(nodes))
        }
    }

    func changeConnection() async throws {
        guard let connection else { return }
        let update = next()
        let new = "\(name)-edge-\(next())"
        let there = connection.model.confirmedNodes
        let change: ConnectionModel.Change
        switch (Int.random(in: 0..<4, using: &random), there.randomElement(using: &random)) {
        case (0, let node?): change = .remove(node)
        case (1, let node?): change = .delete(node)
        default: change = .append(new)
        }
        note("change the connection: \(change)")
        let guess = Bool.random(using: &random) ? change.guess : nil
        let (outcomes, asked) = committing {
            asking { commit(change, guess, on: connection.id) }
        } model: {
            if let guess { self.connection?.model.show(guess, update: update) }
        }
        let made = await sent(asked)
        try require(made.count == 1, "\(made.count) requests were made for a connection")
        pending.append(
            Pending(
                kind: .connection(change, update: update), request: made[0], outcomes: [outcomes]))
    }

    func compareConnection() async throws {
        guard let connection else { return }
        try await compare(connection.told, connection.expected, "the connection's follower")
    }

    private func commit(
        _ change: ConnectionModel.Change, _ guess: ConnectionModel.Change?, on connection: String
    ) -> Outcomes {
        let response = guess?.optimisticResponse
        func run<Op: Relay.Operation>(_ operation: Op) -> Outcomes {
            Outcomes(
                environment.commitMutation(
                    operation, cacheConfig: CacheConfig(metadata: requests),
                    optimisticResponse: response)
            ) { _ in
                "done"
            }
        }
        switch change {
        case .page: preconditionFailure("a page is fetched")
        case .append(let node):
            return run(AddTodoMutation(variables: .init(text: node, connections: [connection])))
        case .remove(let node):
            return run(RemoveTodoMutation(variables: .init(id: node, connections: [connection])))
        case .delete(let node): return run(DeleteTodoMutation(variables: .init(id: node)))
        }
    }

    /// What is confirmed but for what was deleted, and perhaps something new.
    private func nextPage(_ model: ConnectionModel) -> [String] {
        let nodes = model.confirmedNodes
        let isMore = nodes.count < 2 || Bool.random(using: &random)
        return isMore ? nodes + ["\(name)-edge-\(next())"] : nodes
    }

    private func answerPage(_ query: UserQuery, _ nodes: [String]) throws {
        note("answer the page: \(nodes)")
        let (outcomes, made) = asking {
            Outcomes(environment.fetchQuery(query)) { $0?.user?.id ?? "null" }
        }
        try require(made.count == 1, "\(made.count) requests were made for a page")
        made[0].send(Payloads.user(nodes, id: "\(name)-user"))
        made[0].complete()
        expectations.append((outcomes, ["\(name)-user", "finished"]))
    }

    // MARK: Lines

    static func line(_ page: ConnectionModel.Page) -> String {
        "\(page.edges.map { $0.isDeleted ? "null" : $0.node })"
    }

    private static func line(_ snapshot: Relay.Snapshot<List_user.Data>) -> String {
        let edges = snapshot.data?.todos?.edges?.map { $0?.node?.id ?? "null" }
        return "\(edges ?? ["nothing"])"
    }
}

extension ConnectionModel.Change {
    /// What a client shows before it knows: a new node has another id then.
    fileprivate var guess: Self {
        if case .append(let node) = self { .append(node + "-guess") } else { self }
    }

    /// The data of a response that grants it.
    var response: String {
        switch self {
        case .append(let node):
            """
            {"data":{"addTodo":{"todoEdge":{"cursor":"\(node)","node":\
            {"id":"\(node)","text":"new","complete":false}}}}}
            """
        case .remove(let node), .delete(let node):
            #"{"data":{"removeTodo":{"deletedTodoId":"\#(node)"}}}"#
        case .page: preconditionFailure("a page is fetched")
        }
    }

    fileprivate var optimisticResponse: [String: Any] {
        switch self {
        case .append(let node):
            let todo: [String: Any] = ["id": node, "text": "new", "complete": false]
            return ["addTodo": ["todoEdge": ["node": todo]]]
        case .remove(let node), .delete(let node):
            return ["removeTodo": ["deletedTodoId": node]]
        case .page: preconditionFailure("a page is fetched")
        }
    }
}
