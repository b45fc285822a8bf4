import Console
import Disk
import Foundation
import LoopbackPorts
import RelayJSON
import RelayServer
import TerminalTesting
import TerminalUI
import Testing
import Threads

@testable import Workbench

/// The workbench against servers, in one process, by its keys and its screen.
@MainActor @Suite(.bounded, .timeLimit(.minutes(5)))
struct WorkbenchTests {
    private static let run = KeyPress(.character("r"), .control)
    private static let list = """
        query @live { user(id: "me") { todos(first: 9) { edges { node { id text complete } } } } }
        """

    private static func add(_ text: String) -> String {
        """
        mutation { addTodo(input: { text: "\(text)", userId: "me" }) { todoEdge { node { id } } } }
        """
    }

    @Test func theFirstScreenShowsTheRootFieldsAndTheConnection() async throws {
        try await Todos.serve { server in
            let bench = try Bench(port: server.port, size: Size(width: 80, height: 24))
            #expect(bench.pilot.text.contains("connecting"))
            await bench.pilot.shows("todoAdded(userId)")
            let text = bench.pilot.text
            #expect(text.hasPrefix("relay ws://127.0.0.1:\(server.port)/graphql connected"))
            for part in ["▾ query", "node(id): Node", "▾ mutation", "addTodo", "▾ subscription"] {
                #expect(text.contains(part))
            }
            await bench.pilot.shows("No results yet")
        }
    }

    @Test func whatIsTypedIsCompletedAndRun() async throws {
        try await Todos.bench { bench in
            let pilot = bench.pilot
            pilot.type("{ us")
            await pilot.shows("▶ user User")
            pilot.press(.tab)
            pilot.type("(i")
            await pilot.shows("▶ id: ")
            pilot.press(.tab)
            pilot.type("\"me\") { ")
            await pilot.shows { $0.contains("▶ id ID!") && $0.contains("  userId String!") }
            pilot.press(KeyPress(.character("n"), .control))
            pilot.press(.tab)
            // A suggestion that is asked for before it is there is taken when it is.
            pilot.type(" us")
            pilot.press(.tab)
            await pilot.shows("{ userId userId")
            for _ in 0..<7 { pilot.press(.backspace) }
            pilot.type(" nothing")
            await pilot.shows("Syntax Error")
            pilot.type(" } }")
            await pilot.shows("Cannot query field \"nothing\" on type \"User\". (1:27)")
            for _ in 0..<12 { pilot.press(.backspace) }
            pilot.type(" } }")
            await pilot.shows { !$0.contains("Cannot query") }
            pilot.press(Self.run)
            await pilot.shows("query user: ended")
            #expect(bench.results.contains("user"))
            #expect(bench.results.contains("  userId: \"me\""))
            #expect(pilot.text.contains("{ user(id: \"me\") { userId } }"))
        }
    }

    @Test func liveResultsMarkWhatChangedAndAllAreKept() async throws {
        try await Todos.bench { bench in
            let pilot = bench.pilot
            bench.run(Self.list)
            await pilot.shows("result 1 of 1")
            #expect(pilot.text.contains("query user: live"))
            #expect(pilot.color(of: "\"Buy a unicorn\"") == .primary)
            bench.run(Self.add("Milk"))
            await pilot.shows("mutation addTodo: ended")
            #expect(pilot.text.contains("✓ mutation addTodo"))

            // Back to the list: of the operations, the second one.
            await pilot.shows("● query user  2")
            try bench.focusOperations()
            pilot.press(.down)
            pilot.press(.enter)
            await pilot.shows("result 2 of 2")
            #expect(pilot.color(of: "\"Milk\"") == .yellow)
            #expect(pilot.color(of: "\"Buy a unicorn\"") == .primary)

            // The table, and the result before.
            pilot.press(.function(2))
            await pilot.shows("user › todos › edges")
            #expect(pilot.color(of: "Milk") == .yellow)
            #expect(pilot.color(of: "Buy a unicorn") == .primary)
            bench.focusResults()
            pilot.press(.left)
            await pilot.shows("result 1 of 2")
            #expect(!bench.results.contains { $0.contains("Milk") })
            pilot.press(">")
            await pilot.shows("result 2 of 2")

            // What was looked at stays while others come, the newest does not.
            pilot.press("<")
            await pilot.shows("result 1 of 2")
            bench.run(Self.add("Bread"))
            await pilot.shows("● query user  3")
            try bench.focusOperations()
            pilot.press(.down, [])
            pilot.press(.down, [])
            pilot.press(.enter)
            await pilot.shows("result 1 of 3")
        }
    }

    @Test func severalSubscriptionsRunAndOneIsStopped() async throws {
        try await Todos.bench { bench in
            let pilot = bench.pilot
            bench.run(
                "subscription Added { todoAdded(userId: \"me\") { todoEdge { node { text } } } }")
            bench.run("subscription Gone { todoRemoved(userId: \"me\") { deletedTodoId } }")
            bench.run(Self.list)
            await pilot.shows("result 1 of 1")
            bench.run(Self.add("Milk"))
            await pilot.shows("● subscription Added")
            await pilot.shows("● query user  2")
            await pilot.shows("mutation addTodo: ended")
            #expect(pilot.text.contains("… subscription Gone"))
            // Only the one that is shown is stopped.
            pilot.press(KeyPress(.character("x"), .control))
            await pilot.shows("This operation is not running.")
            try bench.focusOperations()
            pilot.press(.down)
            pilot.press("x")
            await pilot.shows("■ query user")
            #expect(pilot.text.contains("● subscription Added"))
            bench.run(Self.add("Bread"))
            await pilot.shows("● subscription Added  2")
            #expect(pilot.text.contains("■ query user  2"))
        }
    }

    @Test func variablesAreSent() async throws {
        try await Todos.bench { bench in
            let pilot = bench.pilot
            pilot.paste(
                "query A { nodes(ids: []) { id } } query B($id: ID) { user(id: $id) { userId } }"
            )
            pilot.press(.tab)
            pilot.paste("[1]")
            pilot.press(Self.run)
            #expect(pilot.text.contains("The variables are not a JSON object"))
            for _ in 0..<3 { pilot.press(.backspace) }
            pilot.paste(#"{"id": "me"}"#)
            pilot.press(Self.run)
            // The caret is in the second operation.
            await pilot.shows("query B: ended")
            #expect(bench.results.contains("  userId: \"me\""))
        }
    }

    @Test func fieldsOfTheSchemaAreFoundAndInserted() async throws {
        try await Todos.bench { bench in
            let pilot = bench.pilot
            bench.focusSchema()
            pilot.press(.down)
            pilot.press(.enter)
            #expect(pilot.text.contains("▾ node(id): Node"))
            #expect(pilot.text.contains("id: ID!"))
            pilot.press(.left)
            #expect(pilot.text.contains("▸ node(id): Node"))
            pilot.press("/")
            pilot.type("TODOS")
            pilot.press(.enter)
            await pilot.shows("User.todos(")
            #expect(!pilot.text.contains("▾ query"))
            pilot.press(.escape)
            await pilot.shows("▾ query")
            pilot.press(.home)
            pilot.press("i")
            #expect(pilot.text.contains("Only fields can be inserted."))
            pilot.press(.down)
            pilot.press("i")
            #expect(
                bench.editor.prefix(4).map { $0.trimmingCharacters(in: .whitespaces) } == [
                    "{", "node(id: \"\") {", "id", "}",
                ])
            // What it takes the place of is in the history.
            pilot.press("i")
            #expect(bench.history.documents.count == 1)
        }
    }

    @Test func theHistoryIsKeptInAFileOfOnesOwn() async throws {
        let folder = try TemporaryFolder()
        let file = HistoryFile(
            POSIXFileSystem(), directory: folder.path + "/state/relay", name: "history")
        try await Todos.serve { server in
            let bench = try Bench(port: server.port, history: file)
            await bench.pilot.shows("todoAdded(userId)")
            bench.run("{ user(id: \"me\") { userId } }")
            bench.run("{ user(id: \"me\") { id } }")
            await bench.pilot.shows("✓ query user")
            await bench.history.settle()
        }
        let path = folder.path + "/state/relay/history"
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
        #expect((mode as? NSNumber)?.intValue == 0o600)
        try await Todos.serve { server in
            let bench = try Bench(port: server.port, history: file)
            let pilot = bench.pilot
            await pilot.shows("todoAdded(userId)")
            pilot.type("{")
            pilot.press(.up, .control)
            #expect(pilot.text.contains("{ user(id: \"me\") { id } }"))
            pilot.press(.up, .control)
            #expect(
                bench.editor == ["{ user(id: \"me\") { userId } }"], "\(bench.history.documents)")
            pilot.press(.up, .control)
            #expect(pilot.text.contains("This is the first operation of the history."))
            pilot.press(.down, .control)
            pilot.press(.down, .control)
            #expect(bench.editor == ["{"])
        }
    }

    /// The server is gone and comes back: both are said, and the streams lose nothing.
    @Test func anOutageIsSaidAndStreamsGoOn() async throws {
        let folder = try TemporaryFolder()
        let port = try ReservedPort()
        let first = try await Todos.start(.directory(folder.path + "/log"), port: port.number)
        let bench = try Bench(port: port.number)
        let pilot = bench.pilot
        await pilot.shows("todoAdded(userId)")
        bench.run("subscription Added { todoAdded(userId: \"me\") { todoEdge { node { text } } } }")
        bench.run(Self.add("Milk"))
        await pilot.shows("● subscription Added")
        await first.stop()
        await pilot.shows("offline")
        // Waits for the server.
        bench.run(Self.add("Bread"))
        await pilot.shows("… mutation addTodo")

        let second = try await Todos.start(.directory(folder.path + "/log"), port: port.number)
        await pilot.shows("connected, resumed")
        await pilot.shows("● subscription Added  2")
        #expect(!pilot.text.contains("… mutation addTodo"))
        try bench.focusOperations()
        pilot.press(.end)
        pilot.press(.enter)
        await pilot.shows("result 2 of 2")
        #expect(pilot.text.contains("\"Bread\""))
        await bench.session.close()
        await second.stop()
    }

    @Test func aValueIsShownWholeWithWhatResultsToldOfItsRecord() async throws {
        try await Todos.serve { server in
            let bench = try Bench(port: server.port)
            let pilot = bench.pilot
            await pilot.shows("todoAdded(userId)")
            let text = String(repeating: "long ", count: 100) + "end"
            bench.run(
                "query @live { user(id: \"me\") { todos(last: 1) { edges { node { text complete id } } } } }"
            )
            await pilot.shows("Buy a unicorn")
            let other = try Bench(port: server.port)
            await other.pilot.shows("todoAdded(userId)")
            other.run(
                "mutation { renameTodo(input: { id: \"VG9kbzox\", text: \"\(text)\" }) { todo { id } } }"
            )
            await pilot.shows("result 2 of 2")
            bench.focusResults()
            pilot.press(.function(2))
            await pilot.shows("user › todos › edges")
            pilot.press(.end)
            pilot.press(.enter)
            await pilot.shows("VG9kbzox, as this operation's results tell it")
            await pilot.shows("VG9kbzox, as the server has it")
            await pilot.shows("Who wrote it, newest first")
            await pilot.shows("renameTodo")
            #expect(pilot.text.contains("user › todos › edges › 0  result 2 of 2"))
            await pilot.shows("text  \"Buy a unicorn\" -> \"long")
            // While it is shown, more is told.
            other.run(
                "mutation { changeTodoStatus(input: { id: \"VG9kbzox\", complete: true }) { todo { id } } }"
            )
            await pilot.shows("complete  false -> true")
            // The value stays that of its result; from there, Enter goes deeper.
            #expect(pilot.text.contains("result 2 of 3"))
            pilot.press(.home)
            pilot.press(.enter)
            await pilot.shows("user › todos › edges › 0 › node  result 2 of 3")
            pilot.press(.home)
            pilot.press(.enter)
            await pilot.shows("user › todos › edges › 0 › node › text  result 2 of 3")
            #expect(bench.results.joined().contains("long end"))
            // Back to the table that it was opened from, and to the tree.
            pilot.press(.escape)
            await pilot.shows { $0.contains("complete id") }
            pilot.press("v")
            await pilot.shows("    edges")
            // The whole text, in as many rows as it takes: it is on the third line from the end.
            pilot.press(.end)
            pilot.press(.up)
            pilot.press(.up)
            pilot.press(.enter)
            await pilot.shows("user › todos › edges › 0 › node › text")
            #expect(bench.results.joined().contains("long end"))
        }
    }

    @Test func whatTheServerRefusesIsSaid() async throws {
        try await Todos.serve(tokens: ["secret"]) { server in
            let bench = try Bench(port: server.port, token: "wrong")
            await bench.pilot.shows("offline")
            await bench.pilot.shows("4403")
            let other = try Bench(port: server.port, token: "secret")
            await other.pilot.shows("todoAdded(userId)")
            other.run(
                "mutation { removeTodo(input: { id: \"no\", userId: \"me\" }) { deletedTodoId } }")
            await other.pilot.shows("there is no Todo whose id is \"no\"")
            #expect(other.pilot.color(of: "there is no Todo") == .red)
            other.run("{ nothing }")
            await other.pilot.shows("Cannot query field")
            other.run("{")
            await other.pilot.shows("an operation: ended")
        }
    }

    // MARK: Other servers

    /// One that knows the edition of 2018 only: no `isOneOf`, no arguments of `args`.
    @Test func anOlderServerIsAskedInItsOwnWords() async throws {
        let introspection = try #require(
            try? JSONValue(
                parsing: """
                    {"queryType": {"name": "Query"}, "mutationType": null, "subscriptionType": null,
                    "types": [{"kind": "OBJECT", "name": "Query", "fields": [{"name": "greeting",
                    "args": [], "type": {"kind": "SCALAR", "name": "String"}, "isDeprecated": false}],
                    "interfaces": []}], "directives": []}
                    """))
        try await PlainServer.serve({ query in
            if query.contains("isOneOf") || query.contains("args(") {
                return [#"{"errors": [{"message": "Cannot query field \"isOneOf\"."}]}"#]
            }
            if query.contains("__schema") {
                return ["{\"data\": {\"__schema\": \(introspection.text)}}"]
            }
            return [#"{"data": {"greeting": "Hello"}}"#]
        }) { port in
            let bench = try Bench(port: port)
            await bench.pilot.shows("greeting: String")
            bench.run("{ greeting }")
            await bench.pilot.shows("greeting: \"Hello\"")
            #expect(!bench.pilot.text.contains("cursor"))
            await bench.session.close()
        }
    }

    /// Some servers say that there are no errors.
    @Test func aServerWithoutIntrospectionIsStillOfUse() async throws {
        try await PlainServer.serve({ query in
            query.contains("__schema")
                ? [#"{"errors": [{"message": "Introspection is off."}]}"#]
                : (1...3).map { #"{"data": {"a": [\#($0), {"b": null}]}, "errors": null}"# }
        }) { port in
            let bench = try Bench(port: port)
            await bench.pilot.shows("is off.")
            bench.run("{ a }")
            await bench.pilot.shows("query a: ended")
            await bench.pilot.shows("result 3 of 3")
            #expect(bench.results.prefix(2) == ["a", "  0: 3"])
            await bench.session.close()
        }
    }

    /// It knows no ids of mutations, and would carry them out twice.
    @Test func aMutationIsNotSentAgainToAnotherServer() async throws {
        let count = Lock(0)
        try await PlainServer.serve(
            closesAfter: "pay",
            { query in
                if query.contains("__schema") { return [#"{"errors": [{"message": "off"}]}"#] }
                count.withLock { $0 += 1 }
                return []
            }
        ) { port in
            let bench = try Bench(port: port)
            await bench.pilot.shows("off")
            bench.run("mutation { pay }")
            await bench.pilot.shows("✗ mutation pay")
            await bench.pilot.shows("it was not sent")
            await bench.pilot.shows("connected")
            bench.run("{ a }")
            await bench.pilot.shows("✓ query a")
            #expect(count.withLock { $0 } == 2)
            await bench.session.close()
        }
    }

    @Test func aServerTellsWhetherItIsOurs() async throws {
        try await Todos.serve { server in
            let bench = try Bench(port: server.port)
            #expect(try await bench.session.isOurs())
        }
        try await PlainServer.serve({ _ in [#"{"data": {"__typename": "Query"}}"#] }) { port in
            let bench = try Bench(port: port)
            #expect(try await !bench.session.isOurs())
            await bench.session.close()
        }
    }

    /// Everything has some room, also where there is little.
    @Test(arguments: [(80, 16), (60, 14)])
    func smallScreensShowResults(_ width: Int, _ height: Int) async throws {
        try await Todos.bench(size: Size(width: width, height: height)) { bench in
            bench.run("{ user(id: \"me\") { userId } }")
            await bench.pilot.shows("user: ended")
            await bench.pilot.shows("userId: \"me\"")
            #expect(bench.pilot.text.contains("✓ query user"))
        }
    }

    /// What comes at once is all there.
    @Test func aBurstIsKept() async throws {
        try await PlainServer.serve({ query in
            query.contains("__schema")
                ? [#"{"errors": [{"message": "off"}]}"#]
                : (1...3_000).map { #"{"data": {"n": \#($0)}}"# }
        }) { port in
            let bench = try Bench(port: port)
            await bench.pilot.shows("off")
            bench.run("subscription { n }")
            await bench.pilot.shows("✓ subscription n  3000")
            await bench.pilot.shows("n: 3000")
            bench.focusResults()
            bench.pilot.press("<")
            await bench.pilot.shows("result 1 of 3000")
            await bench.session.close()
        }
    }

    @Test func theKeysAreShownOnTheWholeScreen() async throws {
        try await Todos.bench(size: Size(width: 80, height: 24)) { bench in
            bench.pilot.type("{ us")
            bench.pilot.press(.function(1))
            #expect(bench.pilot.text.contains("Tab, Shift-Tab    the next part"))
            bench.pilot.press(.end)
            #expect(bench.pilot.text.contains("not confirmed yet"))
            bench.pilot.press(.escape)
            #expect(bench.pilot.text.contains("{ us"))
            bench.pilot.type("er")
            #expect(bench.pilot.text.contains("{ user"))
        }
    }
}

extension Bench {
    /// Goes on by Tab until the list of operations has the focus, at its first row.
    func focusOperations() throws {
        go(1)
        pilot.press(.home)
    }

    func focusSchema() { go(0) }
    func focusResults() { go(4) }

    /// To a part, from wherever the focus is.
    private func go(_ part: Int) {
        for _ in 0..<5 where current != part { pilot.press(.tab) }
    }

    /// The part that has the focus: where the cursor or the inverted line is.
    private var current: Int? {
        if let cursor = pilot.cursor { return cursor.column < 31 ? 0 : cursor.row < 12 ? 2 : 3 }
        guard let buffer = pilot.buffer else { return nil }
        for row in 0..<buffer.size.height {
            for column in [0, 33]
            where buffer[Position(column: column, row: row)].style.attributes.contains(.inverse) {
                if column > 0 { return 4 }
                return row < buffer.size.height - 8 ? 0 : 1
            }
        }
        return nil
    }
}
