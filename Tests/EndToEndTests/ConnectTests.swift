import RelayJSON
import Testing

/// `relay connect` without a terminal: one operation a line in, one JSON line a result out.
@Suite(.bounded)
struct ConnectTests {
    private let sandbox: Sandbox

    init() throws { sandbox = try Sandbox() }

    @Test func throughAPipeEachLineIsAnOperationAndEachResultALine() async throws {
        let server = try await sandbox.serve()
        let client = try sandbox.start(["connect", server.url])
        try client.write(line: "{ user { totalCount } }")
        #expect(
            try await client.nextLine("a result").payload().data == ["user": ["totalCount": 2]])
        try client.write(line: #"mutation { addTodo(input: {text: "a"}) { todo { text } } }"#)
        #expect(
            try await client.nextLine("a result").payload().data
                == ["addTodo": ["todo": ["text": "a"]]])
        try client.write(line: "{ nothing }")
        #expect(
            try await client.nextLine("a result").payload().message?.contains("nothing") == true)
        client.closeInput()
        let finished = try await client.finish()
        #expect(finished.output.count == 3)
        #expect(finished.errors.isEmpty)
    }

    @Test func throughAPipeASubscriptionKeepsTelling() async throws {
        let server = try await sandbox.serve()
        let client = try sandbox.start(["connect", server.url])
        try client.write(line: "subscription { user { totalCount } }")
        #expect(
            try await client.nextLine("a result").payload().data == ["user": ["totalCount": 2]])
        _ = try await server.data(
            #"mutation { addTodo(input: {text: "a"}) { todo { id } } }"#)
        #expect(
            try await client.nextLine("a result").payload().data == ["user": ["totalCount": 3]])
    }
}
