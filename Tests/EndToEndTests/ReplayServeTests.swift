import Foundation
import RelayJSON
import Testing

/// `relay replay --serve`: clients see a recorded history happen once more.
@Suite(.bounded)
struct ReplayServeTests {
    private let sandbox: Sandbox
    private let log: SmallLog

    init() async throws {
        sandbox = try Sandbox()
        log = try await SmallLog(in: sandbox)
    }

    private func serve(_ options: String...) async throws -> RunningServer {
        try await RunningServer(
            sandbox.start(["replay", log.directory, "--serve", "--port", "0"] + options))
    }

    private func watch(
        _ query: String, on server: RunningServer, count: Int
    ) throws -> ChildProcess {
        try sandbox.start(["request", server.url, query, "--count", "\(count)"])
    }

    private func waitForSubscriptions(_ count: Int, on server: RunningServer) async throws {
        try await eventually("\(count) subscriptions") {
            let page = try await onThread { [port = server.port] in
                try HTTPClient(port: port).get("/metrics")
            }
            return page.body.contains("relay_subscriptions \(count)\n") ? () : nil
        }
    }

    @Test func clientsSeeTheHistoryHappenEventByEvent() async throws {
        let server = try await serve("--step")
        let live = try watch(
            "query @live { user { totalCount completedCount } }", on: server, count: 4)
        let added = try watch("subscription { todoAdded { todo { text } } }", on: server, count: 1)
        func counts() async throws -> [JSONValue?] {
            let user = try JSONValue(parsing: await live.nextLine("a result"))["data"]?["user"]
            return [user?["totalCount"], user?["completedCount"]]
        }
        #expect(try await counts() == [2, 1])
        try await waitForSubscriptions(2, on: server)
        for (sequence, expected) in [(3, [2, 2]), (5, [3, 2]), (9, [2, 1])] as [(Int, [JSONValue])]
        {
            repeat {
                try server.process.write(line: "")
                let line = try await server.process.nextLine("an event")
                if line.hasPrefix("\(sequence) ") { break }
            } while true
            #expect(try await counts() == expected)
        }
        let first = try JSONValue(parsing: await added.nextLine("the new todo"))
        #expect(first["data"]?["todoAdded"]?["todo"]?["text"] == "Ride it")
        try server.process.write(line: "q")
        #expect(try await server.process.finish().exit == .code(0))
    }

    @Test func theClockStartsWithTheFirstClientAndRunsAsFastAsAsked() async throws {
        let server = try await serve("--speed", "1000000")
        let added = try watch("subscription { todoAdded { todo { text } } }", on: server, count: 1)
        #expect(try await added.nextLine("the new todo").contains("Ride it"))
        _ = try await server.process.errorLine(containing: "Event 9 was the last.")
        #expect(
            try await server.data("{ user { totalCount } }") == ["user": ["totalCount": 2]])
        #expect(try await server.stop() == .code(0))
    }

    @Test func thePastIsNotChanged() async throws {
        let before = try await sandbox.relay("log", "verify", log.directory)
        let server = try await serve("--at", "3")
        let refused = try await sandbox.relay(
            "request", server.url,
            #"mutation { addTodo(input: {text: "No"}) { todo { id } } }"#)
        #expect(refused.exit == .code(1))
        #expect(refused.output.first?.contains("the past can be read, not changed") == true)
        #expect(try await server.stop() == .code(0))
        #expect(try await sandbox.relay("log", "verify", log.directory).output == before.output)
    }
}
