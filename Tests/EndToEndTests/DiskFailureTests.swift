import Foundation
import RelayJSON
import Testing

/// What a server does when its disk is full, and when its disk fails.
@Suite(.bounded)
struct DiskFailureTests {
    private let sandbox: Sandbox

    init() throws { sandbox = try Sandbox() }

    /// Adds a todo; gives what the server answered, success or not.
    private static func add(_ text: String, to server: RunningServer) async throws -> Payload {
        let request: JSONValue = [
            "query":
                "mutation Add($text: String!) { addTodo(input: {text: $text}) { todo { id } } }",
            "variables": ["text": .string(text)],
        ]
        let reply = try await onThread { [port = server.port] in
            try HTTPClient(port: port).post(request.text)
        }
        return try reply.body.payload()
    }

    @Test(
        .enabled(
            if: SmallDisk.isPossible,
            "a small tmpfs can only be mounted as root; FileJournalTests fills a disk that is made up"
        ))
    func aFullDiskRefusesMutationsAndNothingElseUntilThereIsRoom() async throws {
        let disk = try SmallDisk(in: sandbox, megabytes: 8)
        let data = disk.path + "/data"
        let server = try await sandbox.serve("--data", data)
        let live = try sandbox.start(
            ["request", server.url, "subscription { user { totalCount } }"])
        _ = try await live.nextLine("the state")
        try disk.fill()

        // The segment that is filled with zeros still takes some. Deflating full segments may free a
        // little more.
        let text = String(repeating: "x", count: 60_000)
        var added: Int64 = 0
        var refusal: Payload?
        var refusals = 0
        while refusals < 3, added < 200 {
            let answer = try await Self.add(text, to: server)
            if answer.errors.isEmpty {
                added += 1
            } else {
                refusal = answer
                refusals += 1
            }
        }
        #expect(refusal?.code == "STORAGE_FULL", "\(added) todos, then \(refusal?.json.text ?? "")")
        #expect(refusal?.message?.hasPrefix("There is no room on the server's disk.") == true)
        #expect(refusal?.data == .null)
        _ = try await eventually("a server that says that its disk is full") {
            if try await server.get("/readyz") == Self.notReady,
                try await server.metric("relay_storage_full") == "1"
            {
                return true
            }
            // Deflating a segment has made room meanwhile.
            try disk.fill()
            if try await Self.add(text, to: server).errors.isEmpty {
                added += 1
            } else {
                refusals += 1
            }
            return nil
        }
        #expect(try await server.metric("relay_storage_refusals_total") == "\(refusals)")
        let said = try await server.process.errorLine(containing: "The disk is full")
        #expect(said.contains("error") && said.contains(data), "where and what: \(said)")
        // Reads go on, and show what was acknowledged.
        let count: JSONValue = ["user": ["totalCount": .int(2 + added)]]
        #expect(try await server.data("{ user { totalCount } }") == count)
        var seen = try await live.nextLine("a state").payload().data
        while seen != count { seen = try await live.nextLine("a state").payload().data }

        try disk.empty()
        // While a segment is filled ahead there may be no room for a moment.
        _ = try await eventually("a mutation that is taken") {
            if try await Self.add(text, to: server).errors.isEmpty { return true }
            refusals += 1
            return nil
        }
        let next = try await live.nextLine("the state after it").payload().data
        #expect(next == ["user": ["totalCount": .int(3 + added)]])
        _ = try await eventually("a server that says that there is room") {
            try await server.get("/readyz") == Page(status: 200, body: "ok\n") ? true : nil
        }
        #expect(try await server.metric("relay_storage_full") == "0")
        #expect(try await server.metric("relay_storage_refusals_total") == "\(refusals)")
        _ = try await server.process.errorLine(containing: "The disk has room again")

        try await server.kill()
        let again = try await sandbox.serve("--data", data)
        #expect(
            try await again.data("{ user { totalCount } }")
                == ["user": ["totalCount": .int(3 + added)]])
        #expect(try await again.stop() == .code(0))
    }

    private static let notReady = Page(
        status: 503, body: "The disk is full: mutations are refused until there is room.\n")

    @Test(
        .enabled(
            if: PreloadedLibrary.isPossible,
            "making syncs fail takes a C compiler, on Linux; FailureWhileRunningTests uses a made-up disk"
        ))
    func theFirstFailedSyncIsToldAndEndsTheServer() async throws {
        let sync = try await FailingSync(in: sandbox)
        let server = try await RunningServer(
            sandbox.start(
                [
                    "serve", "--schema", Sandbox.todoSchema, "--seed", Sandbox.todoSeed, "--data",
                    sandbox.path("data"), "--port", "0", "--log-level", "critical",
                ], environment: sync.environment))
        #expect(try await Self.add("before", to: server).errors.isEmpty)
        let live = try sandbox.start(
            ["request", server.url, "subscription { user { totalCount } }"])
        _ = try await live.nextLine("the state")

        try sync.fail()
        let answer = try await Self.add("lost", to: server)
        #expect(
            answer.message?.hasPrefix("The server can no longer write its log.") == true,
            "\(answer.json.text)")
        #expect(answer.data == .null)

        let finished = try await server.process.finish()
        #expect(finished.exit == .code(1))
        #expect(
            finished.errors.last?.hasPrefix("Error: Could not append event") == true, "\(finished)")
        // The subscription was ended, not cut off, and never saw what was not durable.
        let ended = try await live.finish()
        #expect(ended.exit == .code(1) && ended.errors.count == 1, "\(ended)")
        #expect(ended.output.count == 1)

        let again = try await sandbox.serve()
        let data = try await again.data("{ user { todos { edges { node { text } } } } }")
        #expect(data.text.contains("before"))
        #expect(try await again.stop() == .code(0))
    }
}
