@_spi(Rooms) import RelayRecords
import Testing

@testable import EventStore

@Suite(.bounded) struct WhatIfTests {
    private let log: TodoHistory

    init() throws { log = try TodoHistory() }

    @Test func withoutAMutationItsResponseIsGoneToo() throws {
        let history = try log.open()
        // The answer to removeTodo then takes nothing out, and deletes what never was.
        #expect(try lines(history.whatIf(skipping: [2])) == [])
        #expect(
            try lines(history.whatIf(skipping: [8])) == [
                "u1.todos at 1: - +t2",
                #"t2.__typename - "Todo""#, #"t2.text - "Eat""#,
            ])
        #expect(try lines(history.whatIf(skipping: [10])) == ["t1.complete false true"])
        #expect(try lines(history.whatIf(skipping: [4, 10])) == [])
        #expect(try lines(history.whatIf(skipping: [])) == [])
    }

    @Test func onlyWhatIsThereCanBeSkippedAndNotTheGenesis() throws {
        let history = try log.open()
        func message(_ skipped: Set<UInt64>) -> String? {
            #expect(throws: EventStoreError.self) { try history.whatIf(skipping: skipped) }?.message
        }
        #expect(message([1]) == "Event 1 begins the log: nothing can be without it.")
        #expect(message([0]) == "The log has no event 0: it has events 1 to 10.")
        #expect(message([5, 11]) == "The log has no event 11: it has events 1 to 10.")
    }

    private func write(_ id: DataID, _ text: String) -> WriteSet {
        var writer = WriteSetWriter()
        writer.write(id, type: "Todo", fields: [(key: "text", value: FieldValue.string(text))])
        return writer.writeSet
    }

    @Test func anInsertedWriteHoldsUntilALaterOne() throws {
        let history = try log.open()
        func difference(after sequence: UInt64) throws -> [String] {
            try lines(history.whatIf(HistoryChange(inserted: [sequence: [write("t1", "Sell")]])))
        }
        #expect(try difference(after: 1) == [])  // event 6 writes the text again
        #expect(try difference(after: 6) == [#"t1.text "Buy" "Sell""#])
        #expect(try difference(after: 10) == [#"t1.text "Buy" "Sell""#])
    }

    @Test func exchangedEventsWriteInEachOthersPlace() throws {
        let history = try log.open()
        let sixAndTen = try history.whatIf(HistoryChange(exchanged: [(6, 10)]))
        #expect(lines(sixAndTen) == ["t1.complete false true"])
        // Named by their mutations: t2 is taken out before it comes.
        let comesLast = try history.whatIf(HistoryChange(exchanged: [(2, 8)]))
        #expect(
            lines(comesLast) == [
                "u1.todos at 1: - +t2",
                #"t2.__typename - "Todo""#, #"t2.text - "Eat""#,
            ])
    }

    @Test func onlyWhatWritesCanBeExchanged() throws {
        let history = try log.open()
        func message(_ one: UInt64, _ other: UInt64) -> String? {
            #expect(throws: EventStoreError.self) {
                try history.whatIf(HistoryChange(exchanged: [(one, other)]))
            }?.message
        }
        #expect(message(7, 10) == "Event 7 writes nothing that another could.")
        #expect(message(6, 5) == "Mutation 5 has no response that wrote anything.")
        #expect(message(6, 11) == "The log has no event 11: it has events 1 to 10.")
    }
}
