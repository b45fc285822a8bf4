import BoundedTesting
import Foundation
import GraphQLExecution
import RelayJSON
@_spi(Rooms) import RelayRecords
import Testing
import Threads

@testable import StoreEngine

@Suite(.bounded, .timeLimit(.minutes(10)))
struct MutationWriterTests {
    private let full = JournalError(code: .storageFull, message: "Could not append: disk full.")

    /// What is left is an operation without fields, which has an answer all the same.
    @Test func aMutationWhoseFieldsAreAllSkippedDoesNothing() async throws {
        let engine = try await EngineUnderTest()
        let before = engine.eventCount
        let text = """
            mutation ($no: Boolean!) {
              addTodo(input: {text: "x"}) @include(if: $no) { todo { id } }
            }
            """
        for id in [nil, "c:1"] {
            let answer = try await engine.run(text, variables: ["no": false], mutationID: id)
            #expect(answer["data"] == [:])
            #expect(answer["errors"] == nil)
        }
        #expect(engine.eventCount == before)
        let done = try await engine.run(text, variables: ["no": true], mutationID: "c:2")
        #expect(done["data"]?["addTodo"] != nil)
    }

    @Test func aMutationIsAnsweredOnlyWhenItIsDurable() async throws {
        let engine = try await EngineUnderTest()
        engine.journal.hold()
        let answer = Task { try await engine.addTodo("x") }
        try await eventually("an append") { engine.journal.heldCount == 1 ? true : nil }
        let before = try await engine.run("{ user { totalCount } }")
        #expect(before["data"]?["user"]?["totalCount"] == 2, "readers see the durable head only")
        engine.journal.release()
        #expect(try await answer.value["data"]?["addTodo"]?["user"]?["totalCount"] == 3)
        let after = try await engine.run("{ user { totalCount } }")
        #expect(after["data"]?["user"]?["totalCount"] == 3)
    }

    @Test func aMutationIDIsItsViewersAndIsToldAsItWasGiven() async throws {
        let engine = try await EngineUnderTest()
        let add = "mutation { addTodo(input: {text: \"x\"}) { todo { id } } }"
        let answers = try await [
            engine.run(add, mutationID: "c:1", as: Identity("ann")),
            engine.run(add, mutationID: "c:1", as: Identity("bob")),
            engine.run(add, mutationID: "c:1", as: Identity("ann")),
        ]
        #expect(answers.map { $0.relay?["mutationId"] } == ["c:1", "c:1", "c:1"])
        #expect(answers[0] == answers[2])
        #expect(answers[0]["data"] != answers[1]["data"])
    }

    @Test func whatWasAppliedLongAgoIsToldByTheIDThatItsClientGave() async throws {
        let engine = try await EngineUnderTest()
        let add = "mutation { addTodo(input: {text: \"x\"}) { todo { id } } }"
        for number in 1...MutationLedger.answerLimit + 1 {
            _ = try await engine.run(add, mutationID: "c:\(number)", as: Identity("ann"))
        }
        let events = engine.eventCount
        let answer = try await engine.run(add, mutationID: "c:1", as: Identity("ann"))
        #expect(answer.firstErrorCode == "ALREADY_APPLIED")
        #expect(answer.firstErrorMessage?.hasPrefix("Mutation \"c:1\" was applied before") == true)
        #expect(engine.eventCount == events)
    }

    @Test func theNextMutationSeesWhatIsNotDurableYet() async throws {
        let engine = try await EngineUnderTest()
        engine.journal.hold()
        let first = Task { try await engine.addTodo("x") }
        try await eventually("the first") { engine.journal.heldCount == 1 ? true : nil }
        let second = Task { try await engine.addTodo("y") }
        try await eventually("the second") { engine.journal.heldCount == 2 ? true : nil }
        engine.journal.release()
        #expect(try await first.value["data"]?["addTodo"]?["user"]?["totalCount"] == 3)
        #expect(try await second.value["data"]?["addTodo"]?["user"]?["totalCount"] == 4)
    }

    @Test func aFailedAppendVoidsEverythingOnTopOfItAndWorkGoesOn() async throws {
        let engine = try await EngineUnderTest()
        engine.journal.hold()
        let first = Task { try await engine.addTodo("x") }
        try await eventually("the first") { engine.journal.heldCount == 1 ? true : nil }
        let second = Task { try await engine.addTodo("y") }
        try await eventually("the second") { engine.journal.heldCount == 2 ? true : nil }
        engine.journal.release(failing: full)
        for answer in [try await first.value, try await second.value] {
            #expect(answer["data"] == nil)
            let error = answer["errors"]?.array?.first
            #expect(error?["extensions"]?["code"] == "STORAGE_FULL")
            #expect(
                error?["message"]
                    == "There is no room on the server's disk. Nothing was changed; mutations work again when there is."
            )
        }
        #expect(
            try await engine.run("{ user { totalCount } }")["data"]?["user"]?["totalCount"] == 2)
        let next = try await engine.addTodo("z")
        #expect(next["data"]?["addTodo"]?["user"]?["totalCount"] == 3)
        #expect(engine.eventCount == 3)
    }

    @Test func aRepeatedMutationGetsItsFirstAnswerAndAppendsNothing() async throws {
        let engine = try await EngineUnderTest()
        let first = try await engine.addTodo("x", mutationID: "c:1")
        _ = try await engine.addTodo("y", mutationID: "c:2")
        #expect(try await engine.addTodo("x", mutationID: "c:1") == first)
        #expect(engine.eventCount == 5)
        let bad = try await engine.addTodo("x", mutationID: "no number")
        #expect(bad["errors"]?.array?.first?["extensions"]?["code"] == "BAD_USER_INPUT")
    }

    @Test func aRepeatedMutationWaitsForTheFirstToBeDurable() async throws {
        let engine = try await EngineUnderTest()
        let answers = Lock<[JSONValue]>([])
        let add: @Sendable (String) throws -> Void = { id in
            try engine.post(
                "mutation { addTodo(input: {text: \"x\"}) { todo { id } } }", mutationID: id
            ) { answer in answers.withLock { $0.append(answer) } }
        }
        engine.journal.hold()
        try add("c:1")
        try await eventually("the first") { engine.journal.heldCount == 1 ? true : nil }
        try add("c:1")
        // When a later one is on its way to the disk, the repetition has been looked at.
        try add("c:2")
        try await eventually("the other") { engine.journal.heldCount == 2 ? true : nil }
        #expect(answers.withLock { $0 } == [])
        engine.journal.release()
        let all = try await eventually("three answers") {
            let all = answers.withLock { $0 }
            return all.count == 3 ? all : nil
        }
        #expect(Set(all.map { $0["data"]?["addTodo"]?["todo"]?["id"] }).count == 2)
        #expect(all.allSatisfy { $0.firstErrorCode == nil })
        #expect(engine.eventCount == 5)
    }

    /// The head is chosen, and then its append fails: what was looked up on it never happened.
    @Test func aRepeatWhoseFirstFailsInTheMiddleOfItsTurnIsCarriedOut() async throws {
        let engine = try await EngineUnderTest()
        engine.journal.hold()
        let first = try engine.post(EngineUnderTest.addTodo("x"), mutationID: "c:1")
        try await eventually("the first") { engine.journal.heldCount == 1 ? true : nil }
        engine.onNextTurn { [full] in engine.journal.release(failing: full) }
        let again = try engine.post(EngineUnderTest.addTodo("x"), mutationID: "c:1")
        #expect(try await first.get().firstErrorCode == "STORAGE_FULL")
        let answer = try await again.get()
        #expect(answer["data"]?["addTodo"]?["user"]?["totalCount"] == 3, "\(answer)")
        #expect(engine.eventCount == 3)
        let next = try await engine.addTodo("y")
        #expect(next["data"]?["addTodo"]?["user"]?["totalCount"] == 4)
    }

    /// Whether a mutation is refused may hang on one that is not durable, and never will be.
    @Test func aRefusalIsToldWhenWhatItWasJudgedOnIsDurable() async throws {
        let engine = try await EngineUnderTest()
        let rename = "mutation { renameTodo(input: {id: \"nobody\", text: \"x\"}) { todo { id } } }"
        engine.journal.hold()
        let first = try engine.post(EngineUnderTest.addTodo("x"))
        let refused = try engine.post(rename)
        try await eventually("the first") { engine.journal.heldCount == 1 ? true : nil }
        try await engine.everyTurn()
        #expect(refused.now == nil)
        engine.journal.release(failing: full)
        #expect(try await first.get().firstErrorCode == "STORAGE_FULL")
        #expect(try await refused.get().firstErrorCode == "STORAGE_FULL")
        #expect(try await engine.post(rename).get().firstErrorCode == "NOT_FOUND")
    }

    /// Refusals take no bytes of the log, and wait for what they were judged on all the same.
    @Test func whatIsNotAnsweredIsBoundedWhereverItWaits() async throws {
        let engine = try await EngineUnderTest { $0.waitingMutations = 10 }
        let rename = "mutation { renameTodo(input: {id: \"nobody\", text: \"x\"}) { todo { id } } }"
        engine.journal.hold()
        let first = try engine.post(EngineUnderTest.addTodo("x"))
        try await eventually("the first") { engine.journal.heldCount == 1 ? true : nil }
        let refused = try (0..<9).map { _ in try engine.post(rename) }
        try await engine.everyTurn()
        #expect(try await engine.post(rename).get().firstErrorCode == "OVERLOADED")
        engine.journal.release()
        #expect(try await first.get().firstErrorCode == nil)
        for answer in refused { #expect(try await answer.get().firstErrorCode == "NOT_FOUND") }
        try await eventually("room") {
            try await engine.run(rename).firstErrorCode == "NOT_FOUND" ? true : nil
        }
    }

    @Test func soManyBytesAreOnTheirWayToTheDiskAndTheWriterWaits() async throws {
        let engine = try await EngineUnderTest { $0.inFlightBytes = 1 }
        engine.journal.hold()
        let first = try engine.post(EngineUnderTest.addTodo("first"))
        try await eventually("the first") { engine.journal.heldCount == 1 ? true : nil }
        try await engine.everyTurn()
        let others = try (0..<3).map { try engine.post(EngineUnderTest.addTodo("\($0)")) }
        #expect(engine.service.waitingMutations == 3)
        #expect(engine.journal.heldCount == 1)
        engine.journal.release()
        for answer in [first] + others { #expect(try await answer.get().firstErrorCode == nil) }
    }

    @Test func soManyBytesOfMutationsAreInProgressAndNoMore() async throws {
        let engine = try await EngineUnderTest { $0.waitingMutationBytes = 100_000 }
        let add = "mutation($t: String!) { addTodo(input: {text: $t}) { todo { id } } }"
        let large: JSONObject = ["t": .string(String(repeating: "x", count: 60_000))]
        engine.journal.hold()
        let taken = try (0..<2).map { _ in try engine.post(add, variables: large) }
        let small = try engine.post(add, variables: ["t": "x"])
        #expect(try await small.get().firstErrorCode == "OVERLOADED")
        engine.journal.release()
        for answer in taken { #expect(try await answer.get().firstErrorCode == nil) }
        try await eventually("room") {
            try await engine.addTodo("x").firstErrorCode == nil ? true : nil
        }
    }

    @Test func anIDStandsForItsFieldsAndArgumentsAndNothingElse() async throws {
        let engine = try await EngineUnderTest()
        let first = try await engine.addTodo("x", mutationID: "c:1")
        let same: [(String, JSONObject)] = [
            ("mutation Other { other: addTodo(input: {text: \"x\"}) { user { id } } }", [:]),
            ("mutation($t: String!) { addTodo(input: {text: $t}) { __typename } }", ["t": "x"]),
            (
                "mutation($i: AddTodoInput!) { addTodo(input: $i) { __typename } }",
                ["i": ["text": "x"]]
            ),
            ("mutation { __typename addTodo(input: {text: \"\"\"x\"\"\"}) { __typename } }", [:]),
        ]
        for (query, variables) in same {
            let answer = try await engine.post(query, mutationID: "c:1", variables: variables).get()
            #expect(answer == first, "\(query)")
        }
        let others: [(String, JSONObject)] = [
            (EngineUnderTest.addTodo("y"), [:]),
            ("mutation($t: String!) { addTodo(input: {text: $t}) { __typename } }", ["t": "y"]),
            (
                "mutation { a: addTodo(input: {text: \"x\"}) { __typename } b: addTodo(input: {text: \"x\"}) { __typename } }",
                [:]
            ),
            ("mutation { renameTodo(input: {id: \"VG9kbzox\", text: \"x\"}) { __typename } }", [:]),
        ]
        for (query, variables) in others {
            let answer = try await engine.post(query, mutationID: "c:1", variables: variables).get()
            #expect(answer.firstErrorCode == "MUTATION_ID_REUSED", "\(query)")
        }
        #expect(engine.eventCount == 3)
    }

    @Test func oneFarBehindThatWasNeverAppliedIsCarriedOut() async throws {
        let engine = try await EngineUnderTest()
        for number in 2...MutationLedger.answerLimit + 2 {
            _ = try await engine.addTodo("x", mutationID: "c:\(number)")
        }
        let answer = try await engine.addTodo("late", mutationID: "c:1")
        #expect(answer["data"]?["addTodo"] != nil, "\(answer)")
        #expect(try await engine.addTodo("late", mutationID: "c:1") == answer)
        #expect(
            try await engine.addTodo("x", mutationID: "c:2").firstErrorCode == "ALREADY_APPLIED")
    }

    /// Whatever fails in between: each is answered once, and only by what is in the log.
    @Test func everyMutationIsAnsweredOnceByWhatIsDurable() async throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        let engine = try await EngineUnderTest()
        var posted: [(id: Int, answer: Answer)] = []
        for _ in 0..<400 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0: engine.journal.hold()
            case 1: engine.journal.release()
            case 2: engine.journal.release(failing: full)
            case 3: engine.onNextTurn { [full] in engine.journal.release(failing: full) }
            case 4: engine.onNextTurn { engine.journal.release() }
            case 5:
                posted.append(
                    (
                        0,
                        try engine.post(
                            "mutation { renameTodo(input: {id: \"no\", text: \"\"}) { todo { id } } }"
                        )
                    ))
            default:
                let id = Int.random(in: 1..<60, using: &random)
                posted.append(
                    (id, try engine.post(EngineUnderTest.addTodo("\(id)"), mutationID: "c:\(id)")))
            }
            if Bool.random(using: &random) { await Task.yield() }
        }
        engine.journal.release()
        var answers: [Int: JSONValue] = [:]
        for (id, answer) in posted {
            let told = try await answer.get()
            if id == 0 {
                #expect(
                    ["NOT_FOUND", "STORAGE_FULL"].contains(told.firstErrorCode), "seed \(seed)")
            } else if let code = told.firstErrorCode {
                #expect(code == "STORAGE_FULL" || code == "OVERLOADED", "seed \(seed)")
            } else {
                #expect(answers[id] == nil || answers[id] == told, "seed \(seed), c:\(id)")
                answers[id] = told
            }
        }
        #expect(posted.allSatisfy { $0.answer.count == 1 }, "seed \(seed)")
        let count = try await engine.run("{ user { totalCount } }")["data"]?["user"]?["totalCount"]
        #expect(count == .int(Int64(2 + answers.count)), "seed \(seed)")
        #expect(engine.eventCount == 1 + 2 * answers.count, "seed \(seed)")
    }

    @Test func aFullDiskIsKnownUntilThereIsRoom() async throws {
        let engine = try await EngineUnderTest()
        #expect(await engine.service.unreadiness() == nil)
        engine.journal.hold()
        engine.journal.setRoom(false)
        let answer = try engine.post(EngineUnderTest.addTodo("x"))
        try await eventually("the append") { engine.journal.heldCount == 1 ? true : nil }
        engine.journal.release(failing: full)
        #expect(try await answer.get().firstErrorCode == "STORAGE_FULL")
        let reason = await engine.service.unreadiness()
        #expect(reason == "The disk is full: mutations are refused until there is room.")
        #expect(engine.service.health.reason == full.message, "the operator's log has the rest")
        #expect(engine.service.health.failedAppendCount == 1)
        // Nobody sends mutations to who is not ready, so it has to find out by itself.
        engine.journal.setRoom(true)
        #expect(await engine.service.unreadiness() == nil)
        #expect(engine.service.health.reason == nil)
    }

    /// What is left of a segment may take it; only a try says that there is room.
    @Test func aSmallAppendDoesNotEndAFullDisk() async throws {
        let engine = try await EngineUnderTest()
        let health = engine.service.health
        engine.journal.hold()
        let answer = try engine.post(EngineUnderTest.addTodo("x"))
        try await eventually("the append") { engine.journal.heldCount == 1 ? true : nil }
        health.note(full)
        engine.journal.release()
        #expect(try await answer.get().firstErrorCode == nil)
        #expect(health.reason == full.message)
        _ = try await engine.addTodo("y")
        #expect(health.reason == nil, "it was tried before this one")
    }

    /// Nothing stays of them: no name of a record, no id of a mutation, whatever their number.
    @Test func whatAFullDiskRefusesLeavesNothingBehind() async throws {
        let engine = try await EngineUnderTest()
        let first = try await engine.addTodo("first", mutationID: "c:1")
        engine.journal.setFull(full)
        #expect(try await engine.addTodo("x", mutationID: "c:2").firstErrorCode == "STORAGE_FULL")
        let names = engine.service.snapshot.symbols.liveCount
        let count = ProcessInfo.processInfo.environment["RELAY_REFUSALS"].flatMap { Int($0) } ?? 500
        for number in 3..<3 + UInt64(count) {
            let answer = try await engine.addTodo("x", mutationID: "c:\(number)")
            #expect(answer.firstErrorCode == "STORAGE_FULL")
        }
        #expect(engine.service.snapshot.symbols.liveCount == names)
        #expect(engine.service.health.failedAppendCount == 1, "the log was asked once")
        #expect(try await engine.addTodo("first", mutationID: "c:1") == first)
        engine.journal.setFull(nil)
        for number in [2, 3] {
            let answer = try await engine.addTodo("x", mutationID: "c:\(number)")
            #expect(answer["data"]?["addTodo"]?["user"]?["totalCount"] == .int(Int64(2 + number)))
        }
        #expect(engine.eventCount == 1 + 2 * 3)
    }

    /// They come in the order in which they were sent, also those that have waited for the try.
    @Test func whatWaitsForTheTryIsCarriedOutInItsOrder() async throws {
        let engine = try await EngineUnderTest()
        engine.journal.setFull(full)
        #expect(try await engine.addTodo("x").firstErrorCode == "STORAGE_FULL")
        engine.journal.setFull(nil)
        let answers = try (0..<20).map { try engine.post(EngineUnderTest.addTodo("\($0)")) }
        for (number, answer) in answers.enumerated() {
            let count = try await answer.get()["data"]?["addTodo"]?["user"]?["totalCount"]
            #expect(count == .int(Int64(3 + number)))
        }
    }

    @Test func whatTheDiskCannotTakeHasACodeForClients() {
        func told(_ code: JournalError.Code) -> JSONValue? {
            let error = JournalError(code: code, message: "pwrite on /srv/data: no.")
            return try? JSONValue(parsing: Outcome(error).response.bytes)
        }
        #expect(told(.storageFull)?.firstErrorCode == "STORAGE_FULL")
        #expect(told(.busy)?.firstErrorCode == "OVERLOADED")
        #expect(told(.overtaken(by: 3))?.firstErrorCode == "OVERLOADED")
        #expect(told(.frozen)?.firstErrorCode == "OUTCOME_UNKNOWN")
        #expect(told(.storageFull)?.text.contains("/srv") == false, "a client learns no paths")
    }

    @Test func aRefusedMutationAppendsNothingAndIsNotRemembered() async throws {
        let engine = try await EngineUnderTest()
        let rename = { (id: String) in
            "mutation { renameTodo(input: {id: \"\(id)\", text: \"new\"}) { todo { text } } }"
        }
        let refused = try await engine.run(rename("nobody"), mutationID: "c:1")
        #expect(refused["errors"]?.array?.first?["extensions"]?["code"] == "NOT_FOUND")
        #expect(engine.eventCount == 1)
        let done = try await engine.run(rename("VG9kbzox"), mutationID: "c:1")
        #expect(done["data"]?["renameTodo"]?["todo"]?["text"] == "new")
    }

    @Test func eachRootFieldIsACommitOfItsOwnInOrder() async throws {
        let engine = try await EngineUnderTest()
        let answer = try await engine.run(
            """
            mutation {
              a: addTodo(input: {text: "a"}) { user { totalCount } }
              b: renameTodo(input: {id: "nobody", text: "b"}) { todo { id } }
              c: addTodo(input: {text: "c"}) { user { totalCount } }
              __typename
            }
            """)
        #expect(answer["data"]?["a"]?["user"]?["totalCount"] == 3)
        #expect(answer["data"]?["b"] == .null)
        #expect(answer["data"]?["c"]?["user"]?["totalCount"] == 4)
        #expect(answer["data"]?["__typename"] == "Mutation")
        #expect(answer["errors"]?.array?.map { $0["path"] } == [["b"]])
        #expect(engine.eventCount == 5)
    }
}
