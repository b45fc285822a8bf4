import RelayJSON
@_spi(Rooms) import RelayRecords
import Testing

@testable import StoreEngine

/// A query of each state of a history.
@Suite(.bounded) struct PastAnswersTests {
    private static let schema = """
        interface Node { id: ID! }
        type Todo implements Node { id: ID! text: String }
        type Query { node(id: ID!): Node todos: [Todo] @list(type: "Todo") }
        """

    private func history() -> [EventBody] {
        let adding = (0..<40).map { number in
            var writes = WriteSetWriter()
            writes.write(
                DataID("t\(number)"), type: "Todo", fields: [("text", .string("text \(number)"))])
            return EventBody.update(LocalUpdate(name: "", writes: writes.writeSet))
        }
        return [.genesis(schema: Self.schema, seed: .empty)] + adding[..<20]
            + [.schema(Self.schema.replacing("text: String", with: "text: String note: Int"))]
            + adding[20...]
    }

    /// A schema takes long to read, and look-ups take as long as there are records.
    @Test func aSchemaIsReadOnceAndTheAnswersAreThoseOfEachState() throws {
        let request = GraphQLRequest(query: "{ todos { id text } }")
        var answers = PastAnswers(request)
        var changes = ChangeSet()
        var (state, plain) = (Snapshot(), Snapshot())
        for (index, body) in history().enumerated() {
            let event = Event(sequence: UInt64(index + 1), timeMicroseconds: 0, body: body)
            try state.fold(event, changes: &changes)
            try plain.fold(event, changes: &changes)
            let answer = try JSONValue(parsing: answers.next(&state).bytes)
            #expect(try answer == JSONValue(parsing: PastService(plain).answer(request).bytes))
            #expect(answer["data"]?["todos"]?.array?.count == plain.recordCount)
        }
        #expect(answers.schemaCount == 2)
    }

    /// A bisect that halves its range goes back, to states that were folded apart from each other.
    @Test func statesThatAreNotFoldedFromTheLastAreAnsweredAnew() throws {
        let request = GraphQLRequest(query: "{ todos { id } }")
        var answers = PastAnswers(request)
        var changes = ChangeSet()
        var state = Snapshot()
        var states: [Snapshot] = []
        for (index, body) in history().enumerated() {
            try state.fold(
                Event(sequence: UInt64(index + 1), timeMicroseconds: 0, body: body),
                changes: &changes)
            states.append(state)
        }
        for var state in states.reversed() {
            let answer = try JSONValue(parsing: answers.next(&state).bytes)
            #expect(answer["data"]?["todos"]?.array?.count == state.recordCount)
        }
    }
}
