import GraphQLExecution
import RelayArtifacts
import RelayJSON
@_spi(Rooms) import RelayRecords
import SchemaService
import Testing
import Threads

@testable import StoreEngine

/// Whom the answer of a mutation is repeated to.
@Suite(.bounded)
struct RepeatedMutationAccessTests {
    private static let schema = """
        extend schema @access(default: OPEN)
        interface Node { id: ID! }
        type Note implements Node { id: ID! text: String secret: String @access(read: { claim: { roles: "admin" } }) }
        type Query { node(id: ID!): Node notes: [Note!]! @list(type: "Note") }
        type Mutation {
          add(input: AddInput!): AddPayload @create(type: "Note") @access(if: { not: { claim: { banned: true } } })
          wait(text: String!): AddPayload
        }
        input AddInput { text: String! }
        type AddPayload { note: Note }
        """

    private let upstream = Upstream()
    private let journal = GatedJournal()
    private let engine: EngineUnderTest

    init() async throws {
        var handlers = Handlers()
        handlers.mutation(
            "wait",
            waitingFor: { [upstream] _, _, _ in
                let text = try await upstream.answer()
                return { records, _, _ in
                    let note = records.create(typeName: "Note")
                    note["text"] = text
                    return note.dataID
                }
            })
        engine = try await EngineUnderTest(
            journal: journal, sdl: Self.schema, handlers: handlers, seed: "")
    }

    private static func ann(_ claims: JSONObject) -> Identity {
        .viewer(Viewer(id: "ann", claimValues: claims))
    }

    private static let add = "mutation { add(input: { text: \"x\" }) { note { id secret } } }"

    private func add(_ claims: JSONObject) async throws -> JSONValue {
        try await engine.run(Self.add, mutationID: "c:1", as: Self.ann(claims))
    }

    /// Those that rules look at; a token differs from the next in others.
    @Test func anAnswerIsRepeatedToTheSameClaims() async throws {
        let admin: JSONObject = ["roles": ["admin"], "exp": 1, "color": "red"]
        let first = try await add(admin)
        #expect(first["errors"] == nil)
        let events = engine.eventCount
        #expect(try await add(["color": "blue", "roles": ["admin"], "exp": 2]) == first)
        for other in [[:], ["roles": ["editor"]], ["roles": []]] as [JSONObject] {
            let answer = try await add(other)
            #expect(answer.firstErrorCode == "ALREADY_APPLIED")
            #expect(answer["data"] == nil)
        }
        #expect(engine.eventCount == events)
    }

    @Test func anAnswerIsNotRepeatedToWhoMayNotUseTheMutation() async throws {
        let first = try await add([:])
        #expect(first["data"]?["add"]?["note"]?["id"] != nil)
        let banned = try await add(["banned": true])
        #expect(banned.firstErrorCode == "FORBIDDEN")
        #expect(banned["data"]?["add"] == nil)
        #expect(try await add([:]) == first)
    }

    @Test func whoWaitsForAnAnswerHasTheClaimsOfTheFirst() async throws {
        let text = "mutation { wait(text: \"x\") { note { text } } }"
        async let first = engine.run(
            text, mutationID: "c:1", as: Self.ann(["roles": ["admin"]]))
        try await upstream.isAsked()
        let other = try await engine.run(text, mutationID: "c:1", as: Self.ann([:]))
        #expect(other.firstErrorCode == "OVERLOADED")
        async let same = engine.run(text, mutationID: "c:1", as: Self.ann(["roles": ["admin"]]))
        upstream.give("done")
        let answer = try await first
        #expect(answer["data"]?["wait"]?["note"]?["text"] == "done")
        #expect(try await same == answer)
    }

    /// The log says whom an answer was made for, so that holds after a restart.
    @Test func theLogKeepsTheClaimsAsAHash() async throws {
        _ = try await add(["roles": ["admin"]])
        var intents: [MutationIntent] = []
        for try await event in journal.events(from: 2) {
            if case .mutation(let intent) = event.body { intents.append(intent) }
            if event.sequence == UInt64(engine.eventCount) { break }
        }
        let print = try #require(intents.first?.fingerprint)
        #expect(print.claimBytes.count == 16)
        #expect(print.bytes == print.askedBytes + print.claimBytes)
        let payload = EventBody.mutation(intents[0]).payload
        let read = try payload.withUnsafeBytes {
            try EventBody(kind: EventKind.mutation.rawValue, payload: $0)
        }
        guard case .mutation(let intent) = read else { throw TestFailure("no mutation") }
        #expect(intent.fingerprint == print)
    }
}
