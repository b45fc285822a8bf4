import RelayJSON
import Testing

/// The path that the whole project stands on: a mutation, from one program through the log to every
/// other.
@Suite(.bounded)
struct FirstLightTests {
    private let sandbox: Sandbox

    init() throws { sandbox = try Sandbox() }

    private static let live = """
        subscription { user { completedCount todos(first: 10) { edges { node { text complete } } } } }
        """
    private static let change = """
        mutation { changeTodoStatus(input: {id: "VG9kbzox", complete: true}) \
        { todo { id complete } user { completedCount } } }
        """
    private static let completed = "{ user { completedCount } }"

    private static func state(completed: Int64, unicorn: Bool) -> JSONValue {
        [
            "user": [
                "completedCount": .int(completed),
                "todos": [
                    "edges": [
                        ["node": ["text": "Taste JavaScript", "complete": true]],
                        ["node": ["text": "Buy a unicorn", "complete": .bool(unicorn)]],
                    ]
                ],
            ]
        ]
    }

    /// The data that `relay request` prints in its one line.
    private func request(_ server: RunningServer, _ document: String) async throws -> JSONValue {
        let finished = try await sandbox.relay("request", server.url, document)
        #expect(finished.exit == .code(0), "\(finished)")
        #expect(finished.output.count == 1, "\(finished)")
        return try #require(finished.output.first).payload().data
    }

    @Test func aMutationReachesTheOtherScreenOutlivesItsServerAndIsFoundInThePast() async throws {
        var server = try await sandbox.serve()

        // The other screen: the state before, then the state after, then it has had its two.
        let screen = try sandbox.start(["request", server.url, Self.live, "--count", "2"])
        let before = try await screen.nextLine("the state before").payload()
        #expect(before.data == Self.state(completed: 1, unicorn: false))

        #expect(
            try await request(server, Self.change) == [
                "changeTodoStatus": [
                    "todo": ["id": "VG9kbzox", "complete": true], "user": ["completedCount": 2],
                ]
            ])
        let after = try await screen.nextLine("the state after").payload()
        #expect(after.data == Self.state(completed: 2, unicorn: true))
        #expect(try await screen.finish().exit == .code(0))

        // What was answered is there after the hardest of ends.
        try await server.kill()
        server = try await sandbox.serve()
        #expect(
            try await request(
                server, #"{ node(id: "VG9kbzox") { ... on Todo { complete } } }"#)
                == ["node": ["complete": true]])
        #expect(try await server.stop() == .code(0))

        // The log says what happened, and still knows how it was before.
        let events = try await sandbox.events()
        #expect(events.map { $0["sequence"]?.int } == [1, 2, 3])
        #expect(events.map { $0["kind"]?.string } == ["genesis", "mutation", "response"])
        let data = sandbox.path("data")
        for (point, count) in [("1", 1), ("3", 2)] {
            let past = try await sandbox.relay(
                "replay", data, "--at", point, "--query", Self.completed)
            #expect(past.exit == .code(0))
            let payload = try #require(past.output.first).payload()
            #expect(payload.data == ["user": ["completedCount": .int(Int64(count))]])
        }
    }

    @Test func theLogCanBeReadBesideTheServerThatWritesIt() async throws {
        let server = try await sandbox.serve()
        _ = try await server.data(Self.change)
        #expect(try await sandbox.events().count == 3)
        let past = try await sandbox.relay(
            "replay", sandbox.path("data"), "--at", "1", "--query", Self.completed)
        #expect(try past.output.first?.payload().data == ["user": ["completedCount": 1]])
    }

    @Test func aRepeatedMutationIsAnsweredAsTheFirstTimeAndAppendsNothing() async throws {
        var server = try await sandbox.serve()
        let add = """
            {"query": "mutation { addTodo(input: {text: \\"once\\"}) { todo { id text } } }",
             "extensions": {"relay": {"mutationId": "tester:1"}}}
            """
        let port = server.port
        let first = try await onThread { try HTTPClient(port: port).post(add) }
        #expect(first.status == 200)
        let count = try await sandbox.events().count
        let second = try await onThread { try HTTPClient(port: port).post(add) }
        #expect(try second.body.payload().data == first.body.payload().data)

        // A new server has the answer from its log.
        try await server.kill()
        server = try await sandbox.serve()
        let newPort = server.port
        let third = try await onThread { try HTTPClient(port: newPort).post(add) }
        #expect(try third.body.payload().data == first.body.payload().data)
        #expect(try await sandbox.events().count == count)
    }
}
