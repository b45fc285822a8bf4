import RelayJSON
import Testing

/// `relay replay`, `diff`, `blame`, `bisect` and `what-if` on a small log of the built server.
struct ReplayToolsTests {
    private let sandbox: Sandbox
    private let log: SmallLog
    private let unicorn = SmallLog.unicorn

    init() async throws {
        sandbox = try Sandbox()
        log = try await SmallLog(in: sandbox)
    }

    @Test func aStateIsPrintedInTheFormOfASeedFile() async throws {
        let seeded = try await sandbox.json("replay", log.directory, "state", "--at", "1")
        #expect(
            seeded == [
                [
                    "id": "VXNlcjptZQ==", "type": "User",
                    "fields": [
                        "userId": "me",
                        "todos": ["refs": [.string(SmallLog.first), .string(unicorn)]],
                    ],
                ],
                [
                    "id": .string(SmallLog.first), "type": "Todo",
                    "fields": ["text": "Taste JavaScript", "complete": true],
                ],
                [
                    "id": .string(unicorn), "type": "Todo",
                    "fields": ["text": "Buy a unicorn", "complete": false],
                ],
            ])
        let record = try await sandbox.json("replay", log.directory, "state", unicorn)
        #expect(
            record == [
                [
                    "id": .string(unicorn), "type": "Todo",
                    "fields": ["text": "Buy two unicorns", "complete": true],
                ]
            ])
        let field = try await sandbox.json(
            "replay", log.directory, "state", "\(unicorn).complete", "--at", "2")
        #expect(
            field == [["id": .string(unicorn), "type": "Todo", "fields": ["complete": false]]])
    }

    @Test func aQueryIsAnsweredAtAnyPoint() async throws {
        func completed(at point: String) async throws -> JSONValue? {
            try await sandbox.json(
                "replay", log.directory, "--query", "{ user { completedCount } }", "--at", point
            ).first
        }
        #expect(try await completed(at: "2") == ["data": ["user": ["completedCount": 1]]])
        #expect(try await completed(at: "3") == ["data": ["user": ["completedCount": 2]]])
        #expect(try await completed(at: "@-1") == ["data": ["user": ["completedCount": 2]]])
        #expect(try await completed(at: "@") == ["data": ["user": ["completedCount": 1]]])
    }

    @Test func stepsTellWhatEachEventChanged() async throws {
        let steps = try await sandbox.json(
            "replay", log.directory, "--step", "--at", "1", "--query", "{ user { totalCount } }")
        #expect(steps.map { $0["sequence"] } == (2...9).map { .int($0) })
        #expect(steps[0]["changes"] == [])
        #expect(steps[1]["changes"] == [completion])
        #expect(
            steps.map { $0["result"]?["data"]?["user"]?["totalCount"] }
                == [2, 2, 2, 3, 3, 3, 3, 2])
    }

    private var completion: JSONValue {
        ["record": .string(unicorn), "field": "complete", "before": false, "after": true]
    }

    private var renaming: JSONValue {
        [
            "record": .string(unicorn), "field": "text", "before": "Buy a unicorn",
            "after": "Buy two unicorns",
        ]
    }

    @Test func aDiffShowsTheFieldsThatAreNotTheSame() async throws {
        #expect(try await sandbox.json("diff", log.directory, "1", "3", exit: 2) == [completion])
        #expect(
            try await sandbox.json("diff", log.directory, "1", "@", "--record", unicorn, exit: 2)
                == [completion, renaming])
        #expect(try await sandbox.json("diff", log.directory, "3", "4") == [])
    }

    @Test func blameNamesEveryWriteNewestFirst() async throws {
        let writes = try await sandbox.json("blame", log.directory, "\(unicorn).complete")
        #expect(writes.map { $0["sequence"] } == [3, 1])
        #expect(writes.map { $0["operation"] } == ["changeTodoStatus", .null])
        #expect(writes.map { $0["mutationId"] } == ["cli:1", .null])
        #expect(writes.map { $0["value"] } == [true, false])
        #expect(writes.map { $0["optimistic"] } == [false, false])
        let text = try await sandbox.relay("blame", log.directory, "\(unicorn).text")
        #expect(
            text.output.first?.contains(#"renameTodo              "Buy a unicorn" -> "Buy two"#)
                == true)
        // A record that is gone has a past, too.
        let removed = try await sandbox.json("blame", log.directory, SmallLog.first)
        #expect(removed.first?["sequence"] == 9 && removed.first?["operation"] == "removeTodo")
    }

    @Test func bisectFindsTheFirstEventThatGivesTheData() async throws {
        let query = "{ user { totalCount } }"
        let two = ["{ user { completedCount } }", "--expect", #"{"user": {"completedCount": 2}}"#]
        let counted = try await sandbox.start(
            ["bisect", log.directory, "--json", "--to", "8", "--query"] + two
        ).finish()
        #expect(counted.output == [#"{"sequence":3,"operation":"changeTodoStatus"}"#])
        let uncounted = try await sandbox.start(
            ["bisect", log.directory, "--json", "--from", "3", "--stops", "--query"] + two
        ).finish()
        #expect(uncounted.output == [#"{"sequence":9,"operation":"removeTodo"}"#])
        let added = try await sandbox.json(
            "bisect", log.directory, "--query",
            "{ node(id: \"\(log.added)\") { id } }", "--expect",
            "{\"node\": {\"id\": \"\(log.added)\"}}")
        #expect(added == [["sequence": 5, "operation": "addTodo"]])
        let stopped = try await sandbox.json(
            "bisect", log.directory, "--query",
            "{ node(id: \"\(SmallLog.first)\") { id } }", "--expect",
            "{\"node\": {\"id\": \"\(SmallLog.first)\"}}", "--stops")
        #expect(stopped == [["sequence": 9, "operation": "removeTodo"]])
        let never = try await sandbox.relay(
            "bisect", log.directory, "--query", query, "--expect", #"{"user": {"totalCount": 7}}"#)
        #expect(never.exit == .code(1) && never.errors.count == 1)
        let mistake = try await sandbox.relay(
            "bisect", log.directory, "--query", "{ nobody }", "--expect", "{}")
        #expect(mistake.exit == .code(1) && mistake.errors.first?.contains("nobody") == true)
    }

    @Test func whatIfTellsWhatWouldBeDifferentWithoutAMutation() async throws {
        let without: JSONValue = [
            "record": .string(unicorn), "field": "complete", "before": true, "after": false,
        ]
        #expect(
            try await sandbox.json("what-if", log.directory, "--skip", "2", exit: 2) == [without])
        #expect(
            try await sandbox.json("what-if", log.directory, "--skip", "3", exit: 2) == [without])
        let both = try await sandbox.json(
            "what-if", log.directory, "--skip", "2", "6", exit: 2)
        #expect(both.map { $0["field"] } == ["complete", "text"])
    }

    @Test func noToolWritesToTheDirectoryItReads() async throws {
        func contents() async throws -> [String] {
            let listing = "cd \(log.directory) && find . -type f | sort | xargs cksum && ls -lR"
            return try await sandbox.start(["-c", listing], program: "/bin/sh").finish().output
        }
        let before = try await contents()
        let directory = log.directory
        for arguments in [
            ["log", "list", directory], ["log", "show", directory, "3"],
            ["log", "tail", directory], ["log", "stats", directory],
            ["log", "verify", directory, "--deep"], ["log", "export", directory],
            ["replay", directory, "state"], ["replay", directory, "--step"],
            ["diff", directory, "1", "3"], ["blame", directory, unicorn],
            ["what-if", directory, "--skip", "2"],
        ] {
            let finished = try await sandbox.start(arguments).finish()
            #expect(finished.errors.isEmpty && !finished.output.isEmpty, "\(arguments)")
        }
        #expect(try await contents() == before)
    }
}
