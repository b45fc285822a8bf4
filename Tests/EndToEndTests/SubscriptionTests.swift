import RelayJSON
import Testing

/// Both kinds of subscription, as another program sees them.
@Suite(.bounded)
struct SubscriptionTests {
    private let sandbox: Sandbox

    init() throws { sandbox = try Sandbox() }

    private static func add(_ text: String) -> String {
        #"mutation { addTodo(input: {text: "\#(text)"}) { todo { id } } }"#
    }

    @Test func everyCommitOfAMutationIsOneEventInOrder() async throws {
        let server = try await sandbox.serve()
        let events = try sandbox.start(
            ["request", server.url, "subscription { todoAdded { todo { text } } }"])
        // An event stream is silent until something happens; what happened before it is not told.
        try await eventually("an event stream that is there") {
            if try await events.hasLine(within: .milliseconds(100)) { return () }
            _ = try await server.data(Self.add("early"))
            return nil
        }

        let texts = (1...5).map { "todo \($0)" }
        for text in texts { _ = try await server.data(Self.add(text)) }
        var told: [String] = []
        while told.count < texts.count {
            let payload = try await events.nextLine("an event").payload()
            let text = try #require(payload.data["todoAdded"]?["todo"]?["text"]?.string)
            if text != "early" { told.append(text) }
        }
        #expect(told == texts)
    }

    @Test func aLiveFieldSaysTheStateNowAndAfterEachCommitThatChangesIt() async throws {
        let server = try await sandbox.serve()
        let live = try sandbox.start(
            ["request", server.url, #"subscription { todo(id: "VG9kbzox") { text complete } }"#])
        func expect(_ text: JSONValue, _ complete: JSONValue) async throws {
            let payload = try await live.nextLine("a state").payload()
            #expect(payload.data == ["todo": ["text": text, "complete": complete]])
        }
        try await expect("Buy a unicorn", false)
        // Neither another record nor the same value is a change.
        _ = try await server.data(Self.add("other"))
        _ = try await server.data(
            #"mutation { renameTodo(input: {id: "VG9kbzox", text: "Buy a unicorn"}) { todo { id } } }"#
        )
        _ = try await server.data(
            #"mutation { changeTodoStatus(input: {id: "VG9kbzox", complete: true}) { todo { id } } }"#
        )
        try await expect("Buy a unicorn", true)
        _ = try await server.data(
            #"mutation { removeTodo(input: {id: "VG9kbzox"}) { deletedTodoId } }"#)
        #expect(try await live.nextLine("a state").payload().data == ["todo": .null])
    }

    @Test func aSubscriptionEndsInOrderWhenItsServerStops() async throws {
        let server = try await sandbox.serve()
        let live = try sandbox.start(
            ["request", server.url, "subscription { user { totalCount } }"])
        _ = try await live.nextLine("the state")
        #expect(try await server.stop() == .code(0))
        let finished = try await live.finish()
        #expect(finished.exit == .code(1))
        #expect(finished.errors.count == 1, "\(finished)")
    }

    @Test func anInterruptEndsASubscriptionForGood() async throws {
        let server = try await sandbox.serve()
        let live = try sandbox.start(
            ["request", server.url, "subscription { user { totalCount } }"])
        _ = try await live.nextLine("the state")
        live.send(signal: 2)
        #expect(try await live.finish().exit == .code(0))
    }
}
