import RelayStore
import Testing

@testable import EventStore

@Suite struct WhatIfTests {
    private let log: TodoHistory

    init() throws { log = try TodoHistory() }

    @Test func withoutAMutationItsResponseIsGoneToo() throws {
        let history = try log.open()
        #expect(
            try lines(history.whatIf(skipping: [2])) == [
                // The answer to removeTodo takes nothing out, and deletes what never was.
            ])
        #expect(
            try lines(history.whatIf(skipping: [8])) == [
                #"u1.todos {"refs":["t1"]} {"refs":["t1","t2"]}"#,
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
}
