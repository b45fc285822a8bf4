import Foundation
import LoopbackPorts
import OpenCombine
import RelayNetwork
import RelayServer
import RelayTerminal
import TerminalTesting
import Testing

@testable import TodoViews

/// The client against the server, in one process, by its keys and its screen.
@MainActor @Suite(.bounded, .timeLimit(.minutes(5)))
struct TodoClientTests {
    private static let seeded = ["☑ Taste JavaScript", "☐ Buy a unicorn"]

    @Test func theListIsShownAndItsStateIsSaid() async throws {
        try await ServedTodos.run { server in
            let pilot = try TodoSession(port: server.port).pilot()
            await pilot.shows(rows: Self.seeded)
            await pilot.shows("live")
            #expect(pilot.text.hasPrefix("1 of 2 done · all\n"))
        }
    }

    @Test func whatKeysDoIsShownAtOnceAndTheServerDoesIt() async throws {
        try await ServedTodos.run { server in
            let pilot = try TodoSession(port: server.port).pilot()
            await pilot.shows(rows: Self.seeded)
            pilot.press(.enter)
            #expect(pilot.shownTexts == ["☐ Taste JavaScript", "☐ Buy a unicorn"])
            await pilot.shows(rows: ["☐ Taste JavaScript", "☐ Buy a unicorn"])

            pilot.press("a")
            pilot.type("Milk")
            pilot.press(.enter)
            #expect(pilot.shownTexts.last == "☐ Milk")
            await pilot.shows(rows: ["☐ Taste JavaScript", "☐ Buy a unicorn", "☐ Milk"])
            pilot.press(.escape)

            pilot.press("e")
            for _ in 0..<10 { pilot.press(.backspace) }
            pilot.type("Swift")
            pilot.press(.enter)
            #expect(pilot.shownTexts.first == "☐ Taste Swift")
            await pilot.shows(rows: ["☐ Taste Swift", "☐ Buy a unicorn", "☐ Milk"])

            pilot.press("J")
            #expect(pilot.shownTexts == ["☐ Buy a unicorn", "☐ Taste Swift", "☐ Milk"])
            await pilot.shows(rows: ["☐ Buy a unicorn", "☐ Taste Swift", "☐ Milk"])
            pilot.press("K")
            await pilot.shows(rows: ["☐ Taste Swift", "☐ Buy a unicorn", "☐ Milk"])

            pilot.press("d")
            #expect(pilot.rows == ["☐ Buy a unicorn", "☐ Milk"])
            let other = try TodoSession(port: server.port).pilot()
            await other.shows(rows: ["☐ Buy a unicorn", "☐ Milk"])
        }
    }

    @Test func theFilterShowsAPartOfTheList() async throws {
        try await ServedTodos.run { server in
            let pilot = try TodoSession(port: server.port).pilot()
            await pilot.shows(rows: Self.seeded)
            pilot.press("f")
            await pilot.shows(rows: ["☐ Buy a unicorn"])
            #expect(pilot.text.contains("· open\n"))
            // What is ticked leaves the part.
            pilot.press(.enter)
            await pilot.shows(rows: [])
            pilot.press("f")
            await pilot.shows(rows: ["☑ Taste JavaScript", "☑ Buy a unicorn"])
            pilot.press("f")
            await pilot.shows(rows: ["☑ Taste JavaScript", "☑ Buy a unicorn"])
        }
    }

    @Test func severalSideBySideStayInStep() async throws {
        try await ServedTodos.run { server in
            let one = try TodoSession(port: server.port).pilot()
            let other = try TodoSession(port: server.port).pilot()
            await one.shows(rows: Self.seeded)
            await other.shows(rows: Self.seeded)
            await other.shows("live")
            one.press("a")
            one.type("Milk")
            one.press(.enter)
            await other.shows(rows: Self.seeded + ["☐ Milk"])
            one.press(.escape)
            other.press(.down)
            other.press("K")
            await one.shows(rows: ["☐ Buy a unicorn", "☑ Taste JavaScript", "☐ Milk"])
            one.press("d")
            await other.shows { _ in other.rows.count == 2 }
            #expect(one.rows == other.rows)
        }
    }

    @Test func aLongListIsPaged() async throws {
        try await ServedTodos.run { server in
            let first = try TodoSession(port: server.port)
            let pilot = first.pilot(height: 60)
            await pilot.shows(rows: Self.seeded)
            pilot.press("a")
            for number in 0..<48 {
                pilot.type("n\(number)")
                pilot.press(.enter)
            }
            await pilot.shows { _ in pilot.text.contains(" of 50 done") }
            let one = try TodoSession(port: server.port).pilot(height: 60)
            let other = try TodoSession(port: server.port).pilot(height: 60)
            await showAll(one)
            await showAll(other)
            // What others change on the last page is seen, too.
            one.press(.end)
            one.press(.enter)
            await other.shows("☑ n47")
            #expect(other.rows.count == 50 && one.rows == other.rows)
        }
    }

    /// Asks for more until there is no more of a list of 50.
    private func showAll(_ pilot: Pilot) async {
        await pilot.shows { pilot.rows.count == 20 && $0.contains("More …") }
        pilot.press(.end)
        pilot.press(.enter)
        await pilot.shows { pilot.rows.count == 40 && $0.contains("More …") }
        pilot.press(.end)
        pilot.press(.enter)
        await pilot.shows { pilot.rows.count == 50 && !$0.contains("more") }
        #expect(!pilot.text.contains("More …") && pilot.rows.last == "☐ n47")
    }

    // MARK: Without a server

    private func withDirectory(
        _ body: (String) async throws -> Void
    ) async throws {
        let directory = FileManager.default.temporaryDirectory
            .appending(path: "todo-client-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        try await body(directory.path)
    }

    /// Both say so, what is done meanwhile is shown and waits; then both are in step, and nothing is lost.
    @Test func theServerGoesAndComesBackWhileClientsRun() async throws {
        try await withDirectory { directory in
            let port = try ReservedPort()
            var server = try await ServedTodos.start(
                .directory(directory + "/log"), port: port.number)
            let one = try TodoSession(port: port.number).pilot()
            let other = try TodoSession(port: port.number).pilot()
            await one.shows(rows: Self.seeded)
            await other.shows(rows: Self.seeded)
            await one.shows("live")
            await other.shows("live")
            await server.stop()
            await one.shows("offline")
            await other.shows("reconnecting")

            one.press(.enter)
            #expect(one.rows.first == "☐ Taste JavaScript …")
            other.press("a")
            other.type("Milk")
            other.press(.enter)
            #expect(other.rows.last == "☐ Milk …")
            await one.shows("1 change waits")

            server = try await ServedTodos.start(
                .directory(directory + "/log"), port: port.number)
            let both = ["☐ Taste JavaScript", "☐ Buy a unicorn", "☐ Milk"]
            await one.shows(rows: both)
            await other.shows(rows: both)
            await one.shows { $0.contains("live") && !$0.contains("wait") }
            await server.stop()
        }
    }

    /// A client starts without a server: it shows what it knew, takes changes, and its next run sends them.
    @Test func theStoreOnDiskIsShownWithoutAServerAndItsQueueIsSent() async throws {
        try await withDirectory { directory in
            let store = directory + "/store"
            let port = try ReservedPort()
            var server = try await ServedTodos.start(
                .directory(directory + "/log"), port: port.number)
            var session = try TodoSession(port: port.number, directory: store)
            var pilot: Pilot? = session.pilot()
            await pilot?.shows(rows: Self.seeded)
            await pilot?.shows("live")
            pilot = nil
            await session.close()
            await server.stop()

            session = try TodoSession(port: port.number, directory: store)
            pilot = session.pilot()
            #expect(pilot?.rows == Self.seeded)
            await pilot?.shows("offline")
            pilot?.press("a")
            pilot?.type("Milk")
            pilot?.press(.enter)
            #expect(pilot?.rows.last == "☐ Milk …")
            // The count follows what is shown.
            #expect(pilot?.text.hasPrefix("1 of 3 done") == true)
            pilot = nil
            await session.close()

            session = try TodoSession(port: port.number, directory: store)
            pilot = session.pilot()
            #expect(pilot?.rows.last == "☐ Milk …")
            server = try await ServedTodos.start(
                .directory(directory + "/log"), port: port.number)
            await pilot?.shows(rows: Self.seeded + ["☐ Milk"])
            pilot = nil
            await session.close()
            await server.stop()
        }
    }

    // MARK: What waits

    /// By whichever run it was begun, and however often its row was made since.
    @Test func whatWaitsIsCountedAndMarked() async throws {
        try await withDirectory { directory in
            let store = directory + "/store"
            let port = try ReservedPort()
            var server = try await ServedTodos.start(
                .directory(directory + "/log"), port: port.number)
            var session = try TodoSession(port: port.number, directory: store)
            var pilot: Pilot? = session.pilot()
            await pilot?.shows(rows: Self.seeded)
            await pilot?.shows("live")
            await server.stop()
            await pilot?.shows("offline")
            pilot?.press(.enter)
            #expect(pilot?.rows == ["☐ Taste JavaScript …", "☐ Buy a unicorn"])
            pilot?.press(.down)
            pilot?.press("K")
            let marked = ["☐ Buy a unicorn …", "☐ Taste JavaScript …"]
            #expect(pilot?.rows == marked)
            #expect(pilot?.text.contains("2 changes wait") == true)
            for _ in 0..<3 { pilot?.press("f") }
            #expect(pilot?.rows == marked)
            pilot = nil
            await session.close()

            session = try TodoSession(port: port.number, directory: store)
            pilot = session.pilot()
            #expect(pilot?.rows == marked)
            #expect(pilot?.text.contains("2 changes wait") == true)
            server = try await ServedTodos.start(
                .directory(directory + "/log"), port: port.number)
            await pilot?.shows(rows: ["☐ Buy a unicorn", "☐ Taste JavaScript"])
            await pilot?.shows { $0.contains("live") && !$0.contains("wait") }
            pilot = nil
            await session.close()
            await server.stop()
        }
    }

    /// Somebody asks for a suggestion and says what to expect of it.
    /// - Returns: ends with the answer.
    private func suggest(
        _ network: WebSocketNetwork, _ todo: VariableData, isNew: Bool = true
    ) -> Task<Void, any Error> {
        let edge: VariableData = ["node": todo]
        let expected: VariableData = isNew ? ["todo": todo, "todoEdge": edge] : ["todo": todo]
        var metadata = RelayMetadata()
        metadata.optimisticResponse = ["suggestTodo": expected]
        let text = """
            mutation Suggest {
              suggestTodo(input: { topic: "Relay" }) {
                todo { id text complete } todoEdge { node { id } } user { id }
              }
            }
            """
        let answers = network.execute(
            request: RequestParameters(name: "Suggest", operationKind: .mutation, text: text),
            variables: [:], cacheConfig: CacheConfig(metadata: metadata)
        ).values
        return Task { for try await _ in answers {} }
    }

    @Test func whatOthersWaitForIsDimmedUntilItIsThere() async throws {
        let (suggestions, suggest) = AsyncStream.makeStream(of: String.self)
        try await ServedTodos.run(suggestions: suggestions) { server in
            let pilot = try TodoSession(port: server.port).pilot()
            await pilot.shows(rows: Self.seeded)
            await pilot.shows("live")
            let other = try WebSocketNetwork(url: "ws://127.0.0.1:\(server.port)/graphql")
            let expected = VariableData([
                "id": "new:1", "text": "Something about Relay", "complete": false,
            ])
            // A row that is to come; what it becomes when it has come; and one that never comes.
            for (suggestion, texts) in [
                ("Read a book", ["☐ Read a book"]), ("", ["☐ Read a book"]),
            ] {
                let before = pilot.rows
                let answer = self.suggest(other, expected)
                await pilot.shows(rows: before + ["☐ Something about Relay"])
                #expect(pilot.dimmedRows == ["☐ Something about Relay"])
                suggest.yield(suggestion)
                await pilot.shows(rows: Self.seeded + texts)
                #expect(pilot.dimmedRows == [])
                try await answer.value
            }
            // A row that is there already.
            let known = VariableData([
                "id": "VG9kbzow", "text": "Taste TypeScript", "complete": true,
            ])
            let answer = self.suggest(other, known, isNew: false)
            await pilot.shows("☑ Taste TypeScript")
            #expect(pilot.dimmedRows == ["☑ Taste TypeScript"])
            suggest.yield("")
            await pilot.shows("☑ Taste JavaScript")
            #expect(pilot.dimmedRows == [])
            try await answer.value
        }
    }

    @Test func whatIsDoneUnderAFilterIsDoneToTheOtherLists() async throws {
        let server = try await ServedTodos.start()
        let pilot = try TodoSession(port: server.port).pilot()
        await pilot.shows(rows: Self.seeded)
        await pilot.shows("live")
        pilot.press("f")
        await pilot.shows(rows: ["☐ Buy a unicorn"])
        pilot.press("a")
        pilot.type("Milk")
        pilot.press(.enter)
        await pilot.shows(rows: ["☐ Buy a unicorn", "☐ Milk"])
        pilot.press(.escape)
        pilot.press("d")
        #expect(pilot.rows == ["☐ Milk"])
        await pilot.shows { $0.contains("live") && !$0.contains("wait") }
        await server.stop()
        await pilot.shows("offline")
        pilot.press("f")
        pilot.press("f")
        #expect(pilot.rows == ["☑ Taste JavaScript", "☐ Milk"])
    }

    @Test func noRowIsMovedBehindOneThatTheServerDoesNotKnow() async throws {
        try await withDirectory { directory in
            let port = try ReservedPort()
            var server = try await ServedTodos.start(
                .directory(directory + "/log"), port: port.number)
            let pilot = try TodoSession(port: port.number).pilot()
            await pilot.shows(rows: Self.seeded)
            await pilot.shows("live")
            await server.stop()
            await pilot.shows("offline")
            pilot.press("a")
            pilot.type("Milk")
            pilot.press(.enter)
            pilot.press(.escape)
            pilot.press(.down)
            pilot.press("J")
            #expect(pilot.rows == Self.seeded + ["☐ Milk …"])
            #expect(pilot.text.contains("1 change waits"))
            pilot.press("K")
            #expect(pilot.rows == ["☐ Buy a unicorn …", "☑ Taste JavaScript", "☐ Milk …"])
            server = try await ServedTodos.start(
                .directory(directory + "/log"), port: port.number)
            await pilot.shows(rows: ["☐ Buy a unicorn", "☑ Taste JavaScript", "☐ Milk"])
            await pilot.shows { $0.contains("live") && !$0.contains("wait") }
            #expect(!pilot.text.contains("refused"))
            await server.stop()
        }
    }

    @Test func whateverOthersWriteIsOneRow() async throws {
        try await ServedTodos.run { server in
            let other = try TodoSession(port: server.port).environment
            for text in ["one\ntwo\r\n☑ faked row", String(repeating: "long ", count: 60_000)] {
                _ = try await other.commit(
                    AddTodoMutation(input: .init(text: text), connections: []))
            }
            let pilot = try TodoSession(port: server.port).pilot()
            await pilot.shows { _ in pilot.rows.count == 4 }
            #expect(Array(pilot.rows.prefix(3)) == Self.seeded + ["☐ one two ☑ faked row"])
            #expect(pilot.rows[3].hasPrefix("☐ long long") && pilot.rows[3].hasSuffix("…"))
            #expect(!pilot.text.contains("\nlong"))
            // What is edited is what is shown; what was not edited is not changed.
            pilot.press(.down)
            pilot.press(.down)
            pilot.press("e")
            #expect(pilot.text.contains("one two ☑ faked row"))
            pilot.press(.enter)
            #expect(!pilot.text.contains("wait"))
        }
    }

    /// The network gives a stream up that it cannot have; the client does not.
    @Test func theListIsLiveAgainAfterItsStreamHasFailed() async throws {
        try await withDirectory { directory in
            let port = try ReservedPort()
            func start(_ tokens: [String]) async throws -> Server {
                try await ServedTodos.start(
                    .directory(directory + "/log"), port: port.number, tokens: tokens)
            }
            var server = try await start([])
            let pilot = try TodoSession(port: port.number).pilot()
            await pilot.shows(rows: Self.seeded)
            await pilot.shows("live")
            await server.stop()
            server = try await start(["secret"])
            await pilot.shows {
                $0.contains("Changes of others are not shown") && $0.contains("offline · ")
            }
            await server.stop()
            server = try await start([])
            let other = try TodoSession(port: port.number).pilot()
            await other.shows(rows: Self.seeded)
            other.press("d")
            await pilot.shows(rows: ["☐ Buy a unicorn"])
            await pilot.shows { $0.contains("live") && !$0.contains("not shown") }
            await server.stop()
        }
    }

    @Test func whyThereIsNoConnectionIsSaid() async throws {
        let port = try ReservedPort()
        let session = try TodoSession(port: port.number)
        let pilot = Pilot(size: Size(width: 160, height: 14)) { TodoScreen(session) }
        await pilot.shows { $0.contains("offline") && $0.contains("127.0.0.1:\(port.number)") }
        #expect(await session.close() == nil)
    }

    @Test func leavingSaysWhatIsLost() async throws {
        let server = try await ServedTodos.start()
        let session = try TodoSession(port: server.port)
        let pilot = session.pilot()
        await pilot.shows(rows: Self.seeded)
        await pilot.shows("live")
        await server.stop()
        await pilot.shows("offline")
        pilot.press(.enter)
        #expect(await session.close()?.hasPrefix("1 change is lost") == true)
    }

    // MARK: What is refused

    @Test func aRefusedMoveIsTakenBack() async throws {
        try await ServedTodos.run(refusing: "moveTodo") { server in
            let pilot = try TodoSession(port: server.port).pilot()
            await pilot.shows(rows: Self.seeded)
            await pilot.shows("live")
            pilot.press("J")
            await pilot.shows("The server refused the change")
            #expect(pilot.rows == Self.seeded)
        }
    }

    /// Told by a later run as by the one in which it was begun.
    @Test func aRefusalOfWhatAnEarlierRunLeftIsSaid() async throws {
        try await withDirectory { directory in
            let store = directory + "/store"
            let port = try ReservedPort()
            var server = try await ServedTodos.start(
                .directory(directory + "/log"), port: port.number)
            var session = try TodoSession(port: port.number, directory: store)
            var pilot: Pilot? = session.pilot()
            await pilot?.shows(rows: Self.seeded)
            await pilot?.shows("live")
            await server.stop()
            await pilot?.shows("offline")
            pilot?.press("a")
            pilot?.type("Milk")
            pilot?.press(.enter)
            #expect(pilot?.rows.last == "☐ Milk …")
            pilot = nil
            await session.close()

            session = try TodoSession(port: port.number, directory: store)
            pilot = session.pilot()
            server = try await ServedTodos.start(
                .directory(directory + "/log"), port: port.number, refusing: "addTodo")
            await pilot?.shows("Nobody may.")
            #expect(pilot?.rows == Self.seeded)
            pilot = nil
            await session.close()
            await server.stop()
        }
    }

    @Test func whatTheServerRefusesIsTakenBackAndSaid() async throws {
        try await ServedTodos.run { server in
            let pilot = try TodoSession(port: server.port).pilot()
            await pilot.shows(rows: Self.seeded)
            pilot.press("e")
            pilot.type("!")
            pilot.press(.enter)
            await pilot.shows("The server refused the change")
            #expect(pilot.rows == Self.seeded)
        }
    }
}
