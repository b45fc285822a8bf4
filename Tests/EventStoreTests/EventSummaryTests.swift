@_spi(Rooms) import RelayRecords
import Testing

@testable import EventStore

@Suite(.bounded) struct EventSummaryTests {
    private let log: TodoHistory

    init() throws { log = try TodoHistory() }

    @Test func theListShowsWhatEveryEventIs() throws {
        let list = try log.open().summaries(in: 1...10)
        var lines: [String] = []
        while let event = try list.next() {
            let id = event.mutationID.map { "\($0)" } ?? "-"
            let records = event.records.joined(separator: ",")
            lines.append(
                "\(event.sequence) \(event.kind) \(event.operation ?? "-") \(id) [\(records)]")
        }
        #expect(
            lines == [
                "1 genesis - - [t1,u1]", "2 mutation addTodo A:1 []",
                "3 response addTodo A:1 [t2,u1]", "4 mutation Complete A:2 []",
                "5 mutation rename - [t1]", "6 response Complete A:2 [t1]",
                "7 revocation rename - []", "8 mutation removeTodo - []",
                "9 response removeTodo - [t2,u1]", "10 update commitUpdate - [t1]",
            ])
    }

    @Test func aResponseFindsItsMutationBeforeTheList() throws {
        let list = try log.open().summaries(in: 6...6)
        let event = try #require(try list.next())
        #expect(event.operation == "Complete")
        #expect(event.mutationID == MutationID("A:2"))
        #expect(try list.next() == nil)
    }
}
