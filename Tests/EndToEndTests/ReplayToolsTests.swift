import Foundation
import RelayJSON
import Testing

/// `relay replay`, `diff`, `blame`, `bisect` and `what-if` on a small log of the built server.
@Suite(.bounded)
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

    @Test(arguments: ["", ".", ".text"])
    func anEmptyRecordIsNone(_ record: String) async throws {
        for command in [
            ["blame", log.directory, record], ["replay", log.directory, "state", record],
        ] {
            let finished = try await sandbox.start(command).finish()
            #expect(finished.exit == .code(1) || finished.exit == .code(64), "\(finished)")
        }
    }

    @Test func blameNamesEveryWriteNewestFirst() async throws {
        let writes = try await sandbox.json("blame", log.directory, "\(unicorn).complete")
        #expect(writes.map { $0["sequence"] } == [3, 1])
        #expect(writes.map { $0["operation"] } == ["changeTodoStatus", nil])
        #expect(writes.map { $0["mutationId"] } == ["cli:1", nil])
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

    @Test func bisectFindsTheFirstAndAllChangesOfAnAnswerThatChangesOften() async throws {
        // 2 todos after events 1 and 9, 3 between.
        let two = [
            "--query", "{ user { totalCount } }", "--expect", #"{"user": {"totalCount": 2}}"#,
        ]
        func bisect(_ options: String...) async throws -> Finished {
            try await sandbox.start(["bisect", log.directory, "--json"] + two + options).finish()
        }
        let all = try await bisect("--all")
        #expect(
            all.output == [
                #"{"sequence":1,"holds":true}"#,
                #"{"sequence":5,"operation":"addTodo","holds":false}"#,
                #"{"sequence":9,"operation":"removeTodo","holds":true}"#,
            ])
        #expect(
            try await bisect("--first", "--from", "5").output
                == [#"{"sequence":9,"operation":"removeTodo"}"#])
        #expect(
            try await bisect("--first", "--stops").output
                == [#"{"sequence":5,"operation":"addTodo"}"#])
        let halved = try await bisect("--from", "5")
        #expect(halved.output == [#"{"sequence":9,"operation":"removeTodo"}"#])
        #expect(halved.errors.first?.contains("--first looks at all of them") == true)
        // The completed are 1, 2, 1: what lies in the middle is not seen from the ends.
        let hidden = [
            "bisect", log.directory, "--json", "--query", "{ user { completedCount } }", "--expect",
            #"{"user": {"completedCount": 2}}"#,
        ]
        let first = try await sandbox.start(hidden + ["--first"]).finish()
        #expect(first.output == [#"{"sequence":3,"operation":"changeTodoStatus"}"#])
        #expect(first.errors.isEmpty)
        #expect(try await bisect("--first", "--all").exit == .code(64))
    }

    @Test func aWatchPrintsEachResultThatIsAnother() async throws {
        let counts = try await sandbox.json(
            "replay", log.directory, "--watch", "{ user { totalCount } }")
        #expect(counts.map { $0["sequence"] } == [1, 5, 9])
        #expect(counts.map { $0["operation"] } == [nil, "addTodo", "removeTodo"])
        #expect(counts.allSatisfy { $0["viewer"] == nil })
        #expect(counts.map { $0["data"]?["user"]?["totalCount"] } == [2, 3, 2])
        #expect(counts.allSatisfy { $0["time"]?.string?.hasSuffix("Z") == true })
        let events = try await sandbox.json(
            "replay", log.directory, "--watch", "subscription { todoAdded { todo { text } } }")
        #expect(events.map { $0["sequence"] } == [5])
        #expect(events.first?["data"] == ["todoAdded": ["todo": ["text": "Ride it"]]])
        let later = try await sandbox.json(
            "replay", log.directory, "--watch", "{ user { totalCount } }", "--at", "6")
        #expect(later.map { $0["sequence"] } == [6, 9])
        let wrong = try await sandbox.relay("replay", log.directory, "--watch", "{ nobody }")
        #expect(wrong.exit == .code(1) && wrong.errors.count == 1)
    }

    @Test func listsAreShownByWhatCameAndWent() async throws {
        let todos = "VXNlcjptZQ==.todos"
        let writes = try await sandbox.json("blame", log.directory, todos)
        #expect(
            writes.map { $0["change"] } == [
                ["splice": [0, 1, []]], ["splice": [2, 0, [.string(log.added)]]], nil,
            ])
        #expect(writes.map { $0["value"] == nil } == [true, true, false])
        #expect(writes.allSatisfy { $0["viewer"] == nil })
        let difference = try await sandbox.json(
            "diff", log.directory, "1", "5", "--record", "VXNlcjptZQ==", exit: 2)
        #expect(
            difference == [
                [
                    "record": "VXNlcjptZQ==", "field": "todos",
                    "change": ["splice": [2, 0, [.string(log.added)]]],
                ]
            ])
    }

    @Test func whatIsNotThereHasNoKeyAndNullIsNull() async throws {
        let added = try await sandbox.json(
            "diff", log.directory, "4", "5", "--record", log.added, exit: 2)
        #expect(added.allSatisfy { $0["before"] == nil && $0["after"] != nil })
        let removed = try await sandbox.json("blame", log.directory, SmallLog.first)
        let type = try #require(removed.first { $0["field"] == "__typename" })
        #expect(type["value"] == nil && type["before"] == "Todo")
    }

    private static let notes = """
        interface Node { id: ID! }
        type Query { node(id: ID!): Node }
        type Note implements Node { id: ID! text: String due: String }
        type Mutation {
          addNote(input: AddNoteInput!): AddNotePayload @create(type: "Note")
          changeNote(input: ChangeNoteInput!): ChangeNotePayload @update(type: "Note")
        }
        input AddNoteInput { text: String due: String }
        type AddNotePayload { note: Note! }
        input ChangeNoteInput { id: ID! text: String due: String }
        type ChangeNotePayload { note: Note! }
        """

    @Test func aFieldThatIsSetToNullIsToldFromOneThatIsNotThere() async throws {
        let data = sandbox.path("notes")
        let server = try await RunningServer(
            sandbox.start([
                "serve", "--schema", try sandbox.write(Self.notes, to: "notes.graphql"), "--data",
                data, "--port", "0", "--log-level", "warning",
            ]))
        let added = try await server.data(
            #"mutation { addNote(input: {text: "x"}) { note { id } } }"#)
        let note = try #require(added["addNote"]?["note"]?["id"]?.string)
        for change in ["due: null", "text: null", #"text: "y""#] {
            _ = try await server.data(
                "mutation { changeNote(input: {id: \"\(note)\", \(change)}) { note { id } } }")
        }
        #expect(try await server.stop() == .code(0))

        func difference(_ from: String, _ to: String) async throws -> [JSONValue] {
            try await sandbox.json("diff", data, from, to, exit: 2)
        }
        let id = JSONValue.string(note)
        // Events 3, 5, 7, 9 are the responses.
        let due: JSONValue = ["record": id, "field": "due", "after": .null]
        let toNull: JSONValue = ["record": id, "field": "text", "before": "x", "after": .null]
        #expect(try await difference("3", "5") == [due])
        #expect(try await difference("5", "7") == [toNull])
        #expect(
            try await difference("7", "9")
                == [["record": id, "field": "text", "before": .null, "after": "y"]])
        #expect(
            try await difference("5", "3") == [["record": id, "field": "due", "before": .null]])

        let blamed = try await sandbox.json("blame", data, note).map { line in
            var object: JSONObject = [:]
            for key in ["sequence", "field", "before", "value"] { object[key] = line[key] }
            return JSONValue.object(object)
        }
        #expect(
            blamed == [
                ["sequence": 9, "field": "text", "before": .null, "value": "y"],
                ["sequence": 7, "field": "text", "before": "x", "value": .null],
                ["sequence": 5, "field": "due", "value": .null],
                ["sequence": 3, "field": "text", "value": "x"],
                ["sequence": 3, "field": "__typename", "value": "Note"],
            ])
        for (event, change) in [("5", due), ("7", toNull)] {
            let shown = try await sandbox.json("log", "show", data, event)
            #expect(shown.first?["changes"] == [change])
        }
        let state = try await sandbox.json("replay", data, "state", note, "--at", "3")
        #expect(state.first?["fields"] == ["text": "x"])
        let last = try await sandbox.json("replay", data, "state", note, "--at", "7")
        #expect(last.first?["fields"] == ["due": .null, "text": .null])
    }

    @Test func mutationsAreCarriedOutAgainOnRequest() async throws {
        // Without its creation the unicorn's friend is renamed by nobody; the effects are written all the same.
        let server = try await sandbox.serve("--data", log.directory)
        _ = try await server.data(
            """
            mutation { renameTodo(input: {id: "\(log.added)", text: "Ride on"}) { todo { id } } }
            """)
        #expect(try await server.stop() == .code(0))
        let replayed = try await sandbox.relay("what-if", log.directory, "--skip", "4", "--json")
        #expect(replayed.exit == .code(2))
        #expect(replayed.errors.first?.contains("effects were replayed") == true)
        let again = try await sandbox.relay(
            "what-if", log.directory, "--skip", "4", "--re-execute", "--json")
        #expect(again.exit == .code(2), "\(again)")
        #expect(again.errors.first?.contains("carried out again") == true)
        let lines = try again.output.map { try JSONValue(parsing: $0) }
        let refused = try #require(lines.first)
        #expect(refused["operation"] == "renameTodo" && refused["sequence"] == 11)
        #expect(refused["refused"]?.string?.isEmpty == false)
        // The record is not there at all, where replayed effects have made a piece of it.
        let gone = lines.filter { $0["record"] == .string(log.added) }
        #expect(!gone.isEmpty && gone.allSatisfy { $0["after"] == nil && $0["before"] != nil })
        let half = try replayed.output.map { try JSONValue(parsing: $0) }
        #expect(!half.contains { $0["field"] == "__typename" && $0["after"] == nil })
        // Ids stay, so that what follows finds what it is about.
        let other = try await sandbox.json(
            "what-if", log.directory, "--skip", "6", "--re-execute", exit: 2)
        #expect(
            other == [
                [
                    "record": .string(unicorn), "field": "text", "before": "Buy two unicorns",
                    "after": "Buy a unicorn",
                ]
            ])
    }

    @Test func aRefusedMutationHasItsOwnPlaceAlsoWhereItStandsInAnothers() async throws {
        // The renaming is of the todo that was added; in its place, that is not there yet.
        let server = try await sandbox.serve("--data", log.directory)
        _ = try await server.data(
            """
            mutation { renameTodo(input: {id: "\(log.added)", text: "Ride on"}) { todo { id } } }
            """)
        #expect(try await server.stop() == .code(0))
        let lines = try await sandbox.json(
            "what-if", log.directory, "--exchange", "4", "10", "--re-execute", exit: 2)
        let refused = try #require(lines.first { $0["refused"] != nil })
        #expect(refused["operation"] == "renameTodo" && refused["sequence"] == 11)
    }

    @Test func recordsOfSeveralInsertionsAreSeveral() async throws {
        let one = try sandbox.write(
            #"mutation { addTodo(input: {text: "one"}) { todo { id } } }"#, to: "one.graphql")
        let two = try sandbox.write(
            #"mutation { addTodo(input: {text: "two"}) { todo { id } } }"#, to: "two.graphql")
        let replayed = try await sandbox.json(
            "what-if", log.directory, "--insert", one, "--after", "3", "--insert", two, "--after",
            "5", exit: 2)
        let again = try await sandbox.json(
            "what-if", log.directory, "--insert", one, "--after", "3", "--insert", two, "--after",
            "5", "--re-execute", exit: 2)
        for lines in [replayed, again] {
            let texts = lines.filter { $0["field"] == "text" && $0["before"] == nil }
            #expect(texts.compactMap { $0["after"]?.string }.sorted() == ["one", "two"])
            #expect(Set(texts.compactMap { $0["record"]?.string }).count == 2)
        }
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

    @Test func whatIfInsertsFromAFileAndExchanges() async throws {
        let records = try sandbox.write(
            #"{"id": "\#(unicorn)", "fields": {"complete": false}}"# + "\n"
                + #"{"id": "\#(SmallLog.first)", "deleted": true}"# + "\n", to: "records.ndjson")
        #expect(
            try await sandbox.json(
                "what-if", log.directory, "--insert", records, "--after", "7", exit: 2)
                == [
                    [
                        "record": .string(unicorn), "field": "complete", "before": true,
                        "after": false,
                    ]
                ])
        let mutation = try sandbox.write(
            #"mutation { removeTodo(input: {id: "\#(log.added)"}) { deletedTodoId } }"#,
            to: "mutation.graphql")
        let removed = try await sandbox.json(
            "what-if", log.directory, "--insert", mutation, "--after", "5", exit: 2)
        #expect(removed.contains { $0["field"] == "__typename" && $0["after"] == nil })
        let early = try await sandbox.relay(
            "what-if", log.directory, "--insert", mutation, "--after", "3")
        #expect(early.exit == .code(1) && early.errors.first?.contains("refused") == true)
        // The seed's todo is removed before it is renamed, and so is made anew by the renaming.
        #expect(
            try await sandbox.json("what-if", log.directory, "--exchange", "2", "6") == [])
        let large = try sandbox.write(
            #"{"id": "\#(unicorn)", "fields": {"complete": 1e400}}"#, to: "large.ndjson")
        let refused = try await sandbox.relay(
            "what-if", log.directory, "--insert", large, "--after", "7")
        #expect(
            refused.exit == .code(1)
                && refused.errors.first?.contains("Could not read line 1 of \(large).") == true,
            "\(refused)")
        for arguments in [["--exchange", "2"], ["--insert", records], []] {
            let usage = try await sandbox.start(["what-if", log.directory] + arguments).finish()
            #expect(usage.exit == .code(64))
        }
    }

    @Test func aCommandCanDecideABisect() async throws {
        func bisect(_ script: String, _ options: String...) async throws -> Finished {
            try await sandbox.start(
                ["bisect", log.directory, "--json"] + options + ["--run", "sh", "-c", script]
            ).finish()
        }
        let renaming = [#"{"sequence":7,"operation":"renameTodo"}"#]
        #expect(try await bisect("! grep -q 'two unicorns'").output == renaming)
        let passing = try await bisect(
            "[ $RELAY_SEQUENCE = 5 ] && exit 125; ! grep -q 'two unicorns'")
        #expect(passing.exit == .code(0) && passing.output == renaming)
        let counting = try await bisect(
            #"[ "$(relay log list {} | wc -l)" -lt 5 ]"#)
        #expect(counting.output == [#"{"sequence":5,"operation":"addTodo"}"#])
        let answered = try await bisect(
            "! grep -q :3", "--query", "{ user { totalCount } }", "--to", "8")
        #expect(answered.output == [#"{"sequence":5,"operation":"addTodo"}"#])
        #expect(try await bisect("exit 0").exit == .code(1))
        let unclear = try await bisect("exit 125")
        #expect(unclear.exit == .code(1) && unclear.output.count == 8)
        let among = try await bisect(
            "[ $RELAY_SEQUENCE = 7 ] && exit 125; ! grep -q 'two unicorns'", "--all")
        #expect(
            among.output == [
                #"{"sequence":7,"operation":"renameTodo","holds":true,"certain":false}"#,
                #"{"sequence":8,"operation":"removeTodo","holds":true,"certain":false}"#,
                #"{"sequence":9,"operation":"removeTodo","holds":true,"certain":false}"#,
            ])
        #expect(among.exit == .code(1) && among.errors.count == 1)
        let broken = try await bisect("exit 200")
        #expect(broken.exit == .code(1) && broken.errors.last?.contains("status 200") == true)
    }

    /// Where signals of children are ignored, nobody hears how a command has ended.
    @Test func aCommandWhoseEndIsNotKnownDecidesNothing() async throws {
        let script = "trap '' CHLD; exec relay bisect \"$0\" --run sh -c 'exit 1'"
        let finished = try await sandbox.start(["-c", script, log.directory], program: "/bin/bash")
            .finish()
        #expect(finished.exit == .code(1) && finished.output.isEmpty, "\(finished)")
        #expect(finished.errors.last?.contains("could not be waited for") == true, "\(finished)")
    }

    @Test func aLogIsMinimizedToWhatStillFails() async throws {
        let small = sandbox.path("small")
        let check = "! relay replay {} state | grep -q 'two unicorns'"
        let report = try await sandbox.start(
            ["log", "minimize", log.directory, small, "--json", "--", "sh", "-c", check]
        ).finish()
        #expect(report.exit == .code(0))
        let said = try report.output.map { try JSONValue(parsing: $0) }
        #expect(said.map { $0["events"] } == [3] && said.map { $0["effects"] } == ["replayed"])
        #expect(report.errors.contains { $0.hasPrefix("Note: effects were replayed") })
        let events = try await sandbox.json("log", "list", small)
        #expect(events.map { $0["operation"] } == [nil, "renameTodo", "renameTodo"])
        #expect(events.map { $0["records"] } == [[], [], [.string(unicorn)]])
        let verified = try await sandbox.relay("log", "verify", small, "--deep")
        #expect(verified.exit == .code(0))
        let sound = try await sandbox.start(
            ["log", "minimize", log.directory, sandbox.path("none"), "--", "true"]
        ).finish()
        #expect(sound.exit == .code(1) && sound.errors.count == 1)
        let again = try await sandbox.start(
            ["log", "minimize", log.directory, small, "--", "false"]
        ).finish()
        #expect(again.exit == .code(1) && again.errors.first?.contains("not empty") == true)
    }

    @Test func aLogIsMinimizedWithItsMutationsCarriedOutAgain() async throws {
        let server = try await sandbox.serve("--data", log.directory)
        _ = try await server.data(
            """
            mutation { renameTodo(input: {id: "\(log.added)", text: "Ride on"}) { todo { id } } }
            """)
        #expect(try await server.stop() == .code(0))
        func minimize(_ name: String, _ check: String, _ flags: String...) async throws -> JSONValue
        {
            let arguments = ["log", "minimize", log.directory, sandbox.path(name), "--json"]
            let report = try await sandbox.start(
                arguments + flags + ["--", "sh", "-c", check]
            ).finish()
            #expect(report.exit == .code(0), "\(report)")
            return try JSONValue(parsing: try #require(report.output.last))
        }
        // What was never added is renamed where effects are replayed.
        let isRenamed = "! relay replay {} state | grep -q 'Ride on'"
        let replayed = try await minimize("replayed", isRenamed)
        #expect(replayed["events"] == 3 && replayed["effects"] == "replayed")
        #expect(replayed["refusals"] == nil)
        let again = try await minimize("again", isRenamed, "--re-execute")
        #expect(again["events"] == 5 && again["effects"] == "re-executed")
        #expect(again["carriedOut"] == 2 && again["replayed"] == 0 && again["refusals"] == [])
        let events = try await sandbox.json("log", "list", sandbox.path("again"))
        #expect(
            events.map { $0["operation"] } == [
                nil, "addTodo", "addTodo", "renameTodo", "renameTodo",
            ])
        let verified = try await sandbox.relay("log", "verify", sandbox.path("again"), "--deep")
        #expect(verified.exit == .code(0))

        // With the seed the todo that it renames goes, too.
        let isAsked = "! relay log list {} | grep -q 'mutation *renameTodo'"
        let refused = try await minimize("refused", isAsked, "--re-execute")
        #expect(refused["events"] == 3 && refused["carriedOut"] == 1)
        let refusal = try #require(refused["refusals"]?.array?.first)
        #expect(refusal["sequence"] == 3 && refusal["operation"] == "renameTodo")
        #expect(refusal["refused"]?.string?.isEmpty == false)
        let kinds = try await sandbox.json("log", "list", sandbox.path("refused"))
        #expect(kinds.map { $0["kind"] } == ["genesis", "mutation", "revocation"])
    }

    @Test func aCommandThatIsInterruptedLeavesNothing() async throws {
        let temporary = try sandbox.directory(named: "temporary")
        let child = try sandbox.start(
            [
                "log", "minimize", log.directory, sandbox.path("small"), "--", "sh", "-c",
                "echo started >&2; sleep 600",
            ], environment: ["TMPDIR": temporary])
        _ = try await child.errorLine(containing: "started")
        child.send(signal: SIGINT)
        #expect(try await child.finish().exit == .code(130))
        #expect(try FileManager.default.contentsOfDirectory(atPath: temporary) == [])
        #expect(!FileManager.default.fileExists(atPath: sandbox.path("small")))
    }

    @Test func listsAreChosenByAConditionAndPrintedByATemplate() async throws {
        let renamed = try await sandbox.relay(
            "log", "list", log.directory, "--where",
            #"variables.input.text contains "unicorns" and kind == response"#, "--template",
            "{sequence} {operation} {records}")
        #expect(renamed.output == ["7 renameTodo \(unicorn)"])
        let mistake = try await sandbox.relay("log", "list", log.directory, "--where", "knd == 3")
        #expect(mistake.exit == .code(64))
        #expect(mistake.errors.first?.contains("character 1: \"knd\"") == true)
        let followed = try sandbox.start(
            ["log", "list", log.directory, "--follow", "--where", "sequence > 7", "-T", "{kind}"])
        #expect(try await followed.nextLine() == "mutation")
        #expect(try await followed.nextLine() == "response")
        followed.send(signal: SIGINT)
        #expect(try await followed.finish().exit == .code(0))
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
            ["replay", directory, "--watch", "{ user { totalCount } }"],
            [
                "log", "explain", directory, "5", "--document",
                "query @live { user { totalCount } }",
            ],
            ["log", "compact", directory, "--dry-run"], ["log", "repair", directory, "--plan"],
            ["what-if", directory, "--skip", "2"],
            ["what-if", directory, "--skip", "2", "--re-execute"],
            ["bisect", directory, "--run", "sh", "-c", "[ $RELAY_SEQUENCE -lt 4 ]"],
        ] {
            let finished = try await sandbox.start(arguments).finish()
            let errors = finished.errors.filter { !$0.hasPrefix("Note: ") }
            #expect(errors.isEmpty && !finished.output.isEmpty, "\(arguments): \(finished)")
        }
        #expect(try await contents() == before)
    }
}
