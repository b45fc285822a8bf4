import BoundedTesting
import GraphQLExecution
import RelayJSON
@_spi(Rooms) import RelayRecords
import SchemaService
import Testing
import TodoMutations

/// `@move`, over the todo example with what its terminal client asks for. `ServiceUnderTest` checks on every run that a
/// refusal writes nothing and that the log gives the payload again.
@Suite(.bounded) struct MoveMutationTests {
    private static let user: JSONValue = "VXNlcjptZQ=="

    /// - Parameter count: so many todos, `t0` and so on.
    private static func seed(_ refs: [String], count: Int) -> String {
        let links: JSONValue = ["refs": .array(refs.map(JSONValue.string))]
        let todos = (0..<count).map {
            #"{"id":"t\#($0)","type":"Todo","fields":{"text":"\#($0)","complete":false}}"#
        }
        return todos.joined(separator: "\n") + """

            {"id":"VXNlcjptZQ==","type":"User","fields":{"userId":"me","todos":\(links.text)}}
            """
    }

    private static func served(_ refs: [String], count: Int? = nil) throws -> ServiceUnderTest {
        try ServiceUnderTest(
            try Example.text("todo.graphql") + Example.text("todo.client.graphql"),
            seed: seed(refs, count: count ?? refs.count))
    }

    /// Likewise, as `TodoServer` does it.
    private static func handled(_ refs: [String], count: Int? = nil) throws -> ServiceUnderTest {
        var handlers = Handlers()
        handlers.mutation("moveTodo", TodoMutations.moveTodo)
        handlers.mutation("changeAllTodos", TodoMutations.changeAllTodos)
        handlers.mutation("sinkFinishedTodos", TodoMutations.sinkFinishedTodos)
        return try ServiceUnderTest(
            try Example.text("todo.graphql") + TodoMutations.schema,
            seed: seed(refs, count: count ?? refs.count), handlers: handlers)
    }

    private static func list(_ service: ServiceUnderTest) -> [String] {
        service.fields("VXNlcjptZQ==")?["todos"]?["refs"]?.array?.map { $0.string ?? "null" } ?? []
    }

    // MARK: What it does

    @Test func aRecordGoesBehindAnother() throws {
        var todo = try Self.served(["t0", "t1", "t2"])
        #expect(
            try todo.mutate(
                #"mutation { moveTodo(input: { id: "t0", after: "t1", clientMutationId: "c" }) { user { userId } clientMutationId } }"#
            ) == #"{"data":{"moveTodo":{"user":{"userId":"me"},"clientMutationId":"c"}}}"#)
        #expect(Self.list(todo) == ["t1", "t0", "t2"])
    }

    @Test(arguments: [nil, JSONValue.null])
    func withoutANeighbourItGoesBeforeAllOthers(_ after: JSONValue?) throws {
        var todo = try Self.served(["t0", "t1", "t2"])
        var input: JSONObject = ["id": "t2", "userId": "me"]
        input["after"] = after
        try todo.run("moveTodo", ["input": .object(input)])
        #expect(Self.list(todo) == ["t2", "t0", "t1"])
        #expect(todo.lastResponse.result == "t2")
    }

    @Test(arguments: [("t1", "t0"), ("t1", "t1"), ("t0", nil)])
    func whereItIsAlreadyNothingChanges(_ id: String, _ after: String?) throws {
        var todo = try Self.served(["t0", "t1", "t2"])
        let after = after.map(JSONValue.string) ?? .null
        try todo.run("moveTodo", ["input": ["id": .string(id), "after": after, "userId": "me"]])
        #expect(Self.list(todo) == ["t0", "t1", "t2"])
        #expect(todo.lastWrites.isEmpty)
    }

    @Test func theLogKeepsTheMoveAndNotTheList() throws {
        var todo = try Self.served((0..<1_000).map { "t\($0)" })
        for after in ["t998", "t3"] {
            try todo.run(
                "moveTodo", ["input": ["id": "t500", "after": .string(after), "userId": "me"]])
            #expect(todo.lastWrites.bytes.count < 100)
        }
        #expect(Self.list(todo)[4] == "t500")
    }

    @Test func thePayloadShowsTheEdgeWhereItIs() throws {
        var service = try ServiceUnderTest(
            try Example.text("todo.graphql") + """
                extend type Mutation {
                  rank(input: RankInput!): RankPayload
                    @move(field: "User.todos", parent: "userId", child: "todoId", after: "belowId")
                }
                input RankInput { userId: ID! todoId: ID! belowId: ID! }
                type RankPayload { todo: Todo! todoEdge: TodoEdge! user: User! }
                """, seed: Self.seed(["t0", "t1", "t2"], count: 3))
        let moved = try service.mutate(
            """
            mutation { rank(input: { userId: "me", todoId: "t0", belowId: "t2" }) {
              todo { id } todoEdge { cursor node { text } } user { todos { edges { cursor node { id } } } } } }
            """)
        #expect(
            moved
                == #"{"data":{"rank":{"todo":{"id":"t0"},"todoEdge":{"cursor":"cDM","node":{"text":"0"}},"user":{"todos":{"edges":[{"cursor":"cDE","node":{"id":"t1"}},{"cursor":"cDI","node":{"id":"t2"}},{"cursor":"cDM","node":{"id":"t0"}}]}}}}}"#
        )
    }

    @Test func plainListsAreReorderedToo() throws {
        var tracker = try ServiceUnderTest(
            try Example.text("tracker.graphql") + """
                extend type Mutation {
                  rankWatcher(input: RankInput!): RankPayload
                    @move(field: "Issue.watchers", parent: "issueId", child: "login", after: "after")
                }
                input RankInput { issueId: ID! login: ID! after: ID }
                type RankPayload { issue: Issue person: Person }
                """,
            seed: """
                {"id":"p1","type":"Person","fields":{"login":"ada"}}
                {"id":"p2","type":"Person","fields":{"login":"bob"}}
                {"id":"i","type":"Issue","fields":{"title":"I","open":true,"priority":"LOW","watchers":{"refs":["p1","p2"]}}}
                """)
        #expect(
            try tracker.mutate(
                #"mutation { rankWatcher(input: { issueId: "i", login: "ada", after: "bob" }) { issue { watchers { login } } person { id } } }"#
            )
                == #"{"data":{"rankWatcher":{"issue":{"watchers":[{"login":"bob"},{"login":"ada"}]},"person":{"id":"p1"}}}}"#
        )
    }

    // MARK: What it refuses

    @Test(arguments: [
        (
            "t3", "t0",
            #"Could not run moveTodo: "t3" is not in User.todos (input.id). Nothing was changed."#
        ),
        (
            "t0", "t3",
            #"Could not run moveTodo: "t3" is not in User.todos (input.after). Nothing was changed."#
        ),
        (
            "t3", "t3",
            #"Could not run moveTodo: "t3" is not in User.todos (input.id). Nothing was changed."#
        ),
        (
            "t9", "t0",
            #"Could not run moveTodo: there is no Todo whose id is "t9" (input.id). Nothing was changed."#
        ),
        (
            "t0", "t9",
            #"Could not run moveTodo: there is no Todo whose id is "t9" (input.after). Nothing was changed."#
        ),
    ])
    func bothMustBeInTheList(_ id: String, _ after: String, _ message: String) throws {
        var todo = try Self.served(["t0", "t1", "t2"], count: 4)
        let refused = #expect(throws: ExecutionError.self) {
            try todo.run(
                "moveTodo",
                ["input": ["id": .string(id), "after": .string(after), "userId": "me"]])
        }
        #expect(refused?.code == .notFound)
        #expect(refused?.message == message)
    }

    // MARK: Beside TodoServer

    /// The list as it should be then.
    private static func moved(_ id: String, behind neighbour: String?, in list: [String])
        -> [String]
    {
        if id == neighbour { return list }
        var others = list.filter { $0 != id }
        others.insert(id, at: neighbour.flatMap(others.firstIndex).map { $0 + 1 } ?? 0)
        return others
    }

    /// Whatever is in the list, also several times or no more.
    @Test func itMovesAsTheSharedMutationDoes() throws {
        let seed = UInt64.random(in: 0 ... .max)
        print("moves: seed \(seed)")
        var random = SeededGenerator(seed: seed)
        for round in 0..<200 {
            let count = 1 + random.below(8)
            let refs = (0..<1 + random.below(12)).map { _ in "t\(random.below(count + 1))" }
            var ours = try Self.served(refs, count: count + 1)
            var theirs = try Self.handled(refs, count: count + 1)
            for _ in 0..<8 {
                let listed = Self.list(ours)
                let id = random.pick(listed)
                let after = random.below(4) == 0 ? nil : random.pick(listed)
                let input: JSONValue = [
                    "id": .string(id), "after": after.map(JSONValue.string) ?? .null,
                    "userId": Self.user,
                ]
                try ours.run("moveTodo", ["input": input])
                try theirs.run("moveTodo", ["input": input])
                let expected = Self.moved(id, behind: after, in: listed)
                let isRight = Self.list(ours) == expected && Self.list(theirs) == expected
                #expect(
                    isRight,
                    """
                    seed \(seed), round \(round): \(listed), \(input.text): \(Self.list(ours)), \
                    \(Self.list(theirs))
                    """)
                #expect(ours.lastWrites == theirs.lastWrites, "seed \(seed), round \(round)")
                if !isRight { return }
            }
        }
    }

    @Test func bothAreAskedInTheSameWay() throws {
        for name in ["MoveTodoInput", "MoveTodoPayload"] {
            let query = """
                { __type(name: "\(name)") { name kind description
                  fields { name description type { ...T } }
                  inputFields { name description defaultValue type { ...T } } } }
                fragment T on __Type { kind name ofType { kind name } }
                """
            let ours = try Self.served([]).query(query)
            #expect(ours.contains(name))
            #expect(try ours == Self.handled([]).query(query))
        }
        let mutation = """
            { __schema { mutationType { fields { name description args { name type { kind ofType { name } } }
              type { kind name } } } } }
            """
        func move(_ service: ServiceUnderTest) throws -> JSONValue? {
            let answer = try JSONValue(parsing: service.query(mutation))
            let fields = answer["data"]?["__schema"]?["mutationType"]?["fields"]?.array
            return fields?.first { $0["name"] == "moveTodo" }
        }
        let ours = try #require(try move(Self.served([])))
        #expect(try ours == move(Self.handled([])))
    }
}
