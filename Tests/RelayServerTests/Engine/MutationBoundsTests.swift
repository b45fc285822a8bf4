import BoundedTesting
import GraphQLExecution
import RelayJSON
@_spi(Rooms) import RelayRecords
import SchemaService
import Testing

@testable import StoreEngine

/// A small request may write much: a variable may stand in many places.
@Suite(.bounded, .timeLimit(.minutes(10)))
struct MutationBoundsTests {
    private static func text(_ count: Int) -> JSONValue {
        .string(String(repeating: "x", count: count))
    }

    private static func adding(_ count: Int) -> String {
        let fields = (0..<count).map { "a\($0): addTodo(input: {text: $t}) { todo { id } }" }
        return "mutation ($t: String!) { \(fields.joined(separator: " ")) }"
    }

    @Test(arguments: [nil, "c:1"])
    func oneThatWritesTooMuchChangesNothing(_ id: String?) async throws {
        let engine = try await EngineUnderTest { $0.mutationBytes = 100_000 }
        let variables: JSONObject = ["t": Self.text(1_000)]
        let refused = try await engine.run(
            Self.adding(300), variables: variables, mutationID: id)
        #expect(refused["data"] == nil)
        #expect(refused.firstErrorCode == "LIMIT_EXCEEDED")
        #expect(
            refused.firstErrorMessage
                == "The mutation writes more than 100000 bytes. Nothing was changed.")
        #expect(engine.eventCount == 1)
        // What they are given has room in the bound, what they write has not: it is kept besides.
        let written = try await engine.run(Self.adding(60), variables: variables, mutationID: id)
        #expect(written.firstErrorCode == "LIMIT_EXCEEDED")
        #expect(engine.eventCount == 1)
        let done = try await engine.run(Self.adding(20), variables: variables, mutationID: id)
        #expect(done.firstErrorCode == nil)
        #expect(engine.eventCount == 41)
    }

    /// Its arguments are neither written nor hashed: as text they would have 20 GB.
    @Test func aListOfOneVariableIsMeasuredBeforeItIsWritten() async throws {
        let engine = try await EngineUnderTest(
            sdl: Example.text("tracker.graphql"), handlers: Handlers(), seed: "")
        let labels = Array(repeating: "$t", count: 5_000).joined(separator: " ")
        let answer = try await engine.run(
            """
            mutation ($t: String!) {
              addIssue(input: {projectId: "relay", title: "x", labels: [\(labels)]}) { issue { id } }
            }
            """, variables: ["t": Self.text(4_000_000)], mutationID: "c:1")
        #expect(
            answer.firstErrorMessage
                == "The mutation writes more than 67108864 bytes. Nothing was changed.")
        #expect(engine.eventCount == 1)
    }

    // MARK: Answers

    /// It would take the place of all others, and what their clients send again would be carried out again.
    @Test func anAnswerThatIsVeryLargeIsNotKept() async throws {
        let engine = try await EngineUnderTest()
        let first = try await engine.addTodo("x", mutationID: "other:1")
        let selection = (0..<50).map { "a\($0): text" }.joined(separator: " ")
        let add = "mutation ($t: String!) { addTodo(input: {text: $t}) { todo { \(selection) } } }"
        let variables: JSONObject = ["t": Self.text(30_000)]
        let large = try await engine.run(add, variables: variables, mutationID: "c:1")
        #expect(large["data"]?["addTodo"]?["todo"]?["a49"] == Self.text(30_000))
        let again = try await engine.run(add, variables: variables, mutationID: "c:1")
        #expect(again.firstErrorCode == "ALREADY_APPLIED")
        #expect(try await engine.addTodo("x", mutationID: "other:1") == first)
        #expect(engine.eventCount == 5)
        #expect(engine.service.snapshot.ledger.byteCount < MutationBounds.keptAnswerBytes)
    }

    // MARK: Large ones among small ones

    private static let large: JSONObject = ["t": text(1_500_000)]
    private static let addLarge = """
        mutation ($t: String!) { addTodo(input: {text: $t}) { __typename } }
        """

    /// What the journal says to it, it says to no other.
    @Test func aLargeMutationFailsAlone() async throws {
        let engine = try await EngineUnderTest()
        engine.journal.hold()
        let before = try engine.post(EngineUnderTest.addTodo("before"))
        try await eventually("an append") { engine.journal.heldCount == 1 ? true : nil }
        let large = try engine.post(Self.addLarge, variables: Self.large)
        let behind = try engine.post(EngineUnderTest.addTodo("behind"))
        try await eventually("the large one's turn") {
            engine.service.waitingMutations == 1 ? true : nil
        }
        #expect(engine.journal.heldCount == 1, "it waits for those before it")
        engine.journal.releaseFirst()
        #expect(try await before.get().firstErrorCode == nil)
        try await eventually("its append") { engine.journal.heldCount == 1 ? true : nil }
        #expect(engine.service.waitingMutations == 1, "and others wait for it")
        engine.journal.release(failing: JournalError(code: .refused, message: "too large"))
        #expect(try await large.get().firstErrorCode == "LIMIT_EXCEEDED")
        #expect(try await behind.get()["data"]?["addTodo"]?["user"]?["totalCount"] == 4)
    }

    /// Those that wait with it are not in its append.
    @Test func aLargeMutationHasATurnOfItsOwn() async throws {
        let engine = try await EngineUnderTest()
        engine.journal.hold()
        var answers = [try engine.post(Self.addLarge, variables: Self.large)]
        try await eventually("an append") { engine.journal.heldCount == 1 ? true : nil }
        for number in 0..<4 {
            answers.append(
                try number == 2
                    ? engine.post(Self.addLarge, variables: Self.large)
                    : engine.post(EngineUnderTest.addTodo("\(number)")))
        }
        try await eventually("them to wait") { engine.service.waitingMutations == 4 ? true : nil }
        engine.journal.release()
        for answer in answers { #expect(try await answer.get().firstErrorCode == nil) }
        let large = engine.journal.appends.filter { events in
            events.contains {
                if case .mutation(let intent) = $0.body {
                    intent.argumentBytes.count > 1_000_000
                } else {
                    false
                }
            }
        }
        #expect(large.map(\.count) == [2, 2])
    }
}
