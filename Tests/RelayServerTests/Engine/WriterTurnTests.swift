import RelayJSON
@_spi(Rooms) import RelayRecords
import SchemaService
import Testing

@testable import StoreEngine

@Suite(.bounded) struct WriterTurnTests {
    /// They are held until the events are durable.
    @Test func answersCountForATurnAsEventsDo() async throws {
        let engine = try await EngineUnderTest { $0.inFlightBytes = 1 << 20 }
        let added = try await engine.addTodo(String(repeating: "x", count: 100_000))
        let id = try #require(added["data"]?["addTodo"]?["todo"]?["id"]?.string)
        let texts = (0..<20).map { "t\($0): text" }.joined(separator: " ")
        let change =
            "mutation { changeTodoStatus(input: {id: \"\(id)\", complete: true}) { todo { \(texts) } } }"
        engine.journal.hold()
        // The first is held at the journal with its answer; the others wait for their turns.
        let answers = try (0..<8).map { _ in try engine.post(change) }
        try await eventually("the first turn") { engine.journal.heldCount == 1 ? true : nil }
        #expect(engine.service.waitingMutations >= 6)
        engine.journal.release()
        for answer in answers { #expect(try await answer.get().firstErrorCode == nil) }
    }

    /// What is revoked in front of the messages may fill the turn by itself.
    @Test func theFirstMessageIsTakenHoweverFullTheTurnIs() throws {
        let schema = try ServiceSchema(Example.text("todo.graphql"))
        let snapshot = Snapshot()
        let runner = MutationRunner(
            service: SchemaService(schema, symbols: snapshot.symbols), storeID: "test", epoch: 0,
            inputs: EngineInputs(now: { 0 }))
        var turn = WriterTurn(runner, on: PendingHead(snapshot).base)
        let messages = [WriterTurn.Message](repeating: .revokeAbandoned, count: 3)
        #expect(turn.take(messages, upTo: 0) == 1)
        #expect(turn.take(messages, upTo: 1) == 3)
    }
}
