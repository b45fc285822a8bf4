@_spi(Rooms) import RelayRecords
import SchemaService
import Testing

@testable import StoreEngine

@Suite(.bounded) struct WriterTurnTests {
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
