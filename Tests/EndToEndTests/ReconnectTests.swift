import LoopbackPorts
import RelayJSON
import Testing

/// The commands of a client, whose connection breaks off in the middle.
@Suite(.bounded)
struct ReconnectTests {
    private static let added = "subscription { todoAdded { todo { text } } }"

    private let sandbox: Sandbox

    init() throws { sandbox = try Sandbox() }

    private static func add(_ text: String) -> String {
        #"mutation { addTodo(input: {text: "\#(text)"}) { todo { text } } }"#
    }

    @Test(.enabled(if: ReservedPort.letsServersIn))
    func anEventStreamGoesOnBehindItsLastEventWhenItsServerWasKilled() async throws {
        let port = try ReservedPort()
        var server = try await sandbox.serve("--port", "\(port.number)")
        let count = 12
        let events = try sandbox.start(["request", server.url, Self.added, "--count", "\(count)"])
        // What happens before a stream is there is not told to it.
        var told: [String] = []
        var number = 0
        func addNext() async throws {
            number += 1
            _ = try await server.data(Self.add("\(number)"))
        }
        try await eventually("an event stream that is there") {
            if try await events.hasLine(within: .milliseconds(100)) { return () }
            try await addNext()
            return nil
        }
        func takeEvent() async throws {
            let payload = try await events.nextLine("an event").payload()
            told.append(try #require(payload.data["todoAdded"]?["todo"]?["text"]?.string))
        }
        try await takeEvent()
        let first = try #require(Int(told[0]))
        // No line of it is taken before the end: what was told and what was missed must fit together by itself.
        while number < first + 3 { try await addNext() }
        try await server.kill()
        // Nobody is at the client's port now, and more happens.
        server = try await sandbox.serve()
        while number < first + 6 { try await addNext() }
        try await server.kill()
        server = try await sandbox.serve("--port", "\(port.number)")
        while number < first + count - 1 { try await addNext() }

        while told.count < count { try await takeEvent() }
        #expect(told == (first..<first + count).map(String.init))
        let finished = try await events.finish()
        #expect(finished.exit == .code(0), "\(finished)")
        #expect(finished.output.count == count)
        #expect(finished.errors.count == 1 && finished.errors[0].hasSuffix("Reconnecting."))
        #expect(try await server.stop() == .code(0))
    }

    @Test func aPromptsMutationWhoseAnswerGotLostIsDoneOnce() async throws {
        let server = try await sandbox.serve()
        let way = try LossyWay(to: server.port)
        let url = "ws://127.0.0.1:\(way.port)/graphql"
        way.loses(from: "addTodo")
        let client = try sandbox.start(["connect", url])
        try client.write(line: Self.add("once"))
        client.closeInput()
        // It is done, and the client does not know.
        try await eventually("the mutation") {
            try await Self.texts(server).contains("once") ? () : nil
        }
        way.cut()

        let finished = try await client.finish()
        #expect(finished.exit == .code(0), "\(finished)")
        let answer = try #require(finished.output.first).payload()
        #expect(finished.output.count == 1)
        #expect(answer.data == ["addTodo": ["todo": ["text": "once"]]])
        #expect(answer.json["extensions"]?["relay"]?["mutationId"]?.string?.hasSuffix(":1") == true)
        #expect(finished.errors.count == 1 && finished.errors[0].hasSuffix("Reconnecting."))
        #expect(try await Self.texts(server).filter { $0 == "once" }.count == 1)
        #expect(try await server.stop() == .code(0))
    }

    /// A single request is no client whose answers the server keeps: its mutations have no ids.
    @Test func aRequestWhoseAnswerGotLostSaysThatItIsNotKnown() async throws {
        let server = try await sandbox.serve()
        let way = try LossyWay(to: server.port)
        way.loses(from: "addTodo")
        let client = try sandbox.start([
            "request", "ws://127.0.0.1:\(way.port)/graphql", Self.add("once"),
        ])
        try await eventually("the mutation") {
            try await Self.texts(server).contains("once") ? () : nil
        }
        way.cut()

        let finished = try await client.finish()
        #expect(finished.exit == .code(1), "\(finished)")
        #expect(finished.output.isEmpty)
        // That it reconnects may be said before it or after it.
        #expect(
            finished.errors.contains { $0.contains("Whether it was carried out is not known") },
            "\(finished)")
        #expect(try await Self.texts(server).filter { $0 == "once" }.count == 1)
        #expect(try await server.stop() == .code(0))
    }

    private static func texts(_ server: RunningServer) async throws -> [String] {
        let found = try await server.data("{ user { todos { edges { node { text } } } } }")
        return (found["user"]?["todos"]?["edges"]?.array ?? [])
            .compactMap { $0["node"]?["text"]?.string }
    }

    @Test func aPromptGoesOnOverANewConnection() async throws {
        let server = try await sandbox.serve()
        let way = try LossyWay(to: server.port)
        let client = try sandbox.start(["connect", "ws://127.0.0.1:\(way.port)/graphql"])
        try client.write(line: "{ user { totalCount } }")
        #expect(
            try await client.nextLine("a result").payload().data == ["user": ["totalCount": 2]])
        // Nothing is under way.
        way.cut()
        _ = try await client.errorLine(containing: "Reconnecting.")
        try client.write(line: Self.add("a"))
        #expect(
            try await client.nextLine("a result").payload().data
                == ["addTodo": ["todo": ["text": "a"]]])
        client.closeInput()
        #expect(try await client.finish().exit == .code(0))
        #expect(try await server.stop() == .code(0))
    }

    @Test func aServerThatDoesNotComeBackIsGivenUp() async throws {
        let port = try ReservedPort()
        let server = try await sandbox.serve()
        let way = try LossyWay(to: server.port)
        let live = try sandbox.start([
            "request", "ws://127.0.0.1:\(way.port)/graphql", "subscription { user { totalCount } }",
        ])
        _ = try await live.nextLine("the state")
        way.leads(to: port.number)
        way.cut()
        let finished = try await live.finish()
        #expect(finished.exit == .code(1))
        #expect(finished.output.count == 1)
        #expect(finished.errors.count == 2, "\(finished)")
        #expect(finished.errors.first?.hasSuffix("Reconnecting.") == true)
        #expect(finished.errors.last?.hasPrefix("Error: ") == true)
        #expect(try await server.stop() == .code(0))
    }
}
