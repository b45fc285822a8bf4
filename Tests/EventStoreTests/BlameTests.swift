import RelayStore
import Testing

@testable import EventStore

@Suite struct BlameTests {
    private let log: TodoHistory

    init() throws { log = try TodoHistory() }

    @Test func blameNamesEveryWriteOfAFieldNewestFirst() throws {
        let entries = try log.open().blame("t1", field: "complete")
        #expect(entries.map(\.sequence) == [10, 6, 1])
        #expect(entries.map(\.operation) == ["commitUpdate", "Complete", nil])
        #expect(entries.map(\.mutationID) == [nil, MutationID("A:2"), nil])
        #expect(entries.map(\.before) == [.bool(true), .bool(false), nil])
        #expect(entries.map(\.after) == [.bool(false), .bool(true), .bool(false)])
        #expect(entries.allSatisfy { !$0.isOptimistic && $0.field == "complete" })
    }

    @Test func blameShowsOptimisticWritesAndWritesOfAnEqualValue() throws {
        let entries = try log.open().blame("t1", field: "text")
        #expect(entries.map(\.sequence) == [6, 5, 1])
        #expect(entries.map(\.isOptimistic) == [false, true, false])
        #expect(entries.map(\.after) == [.string("Buy"), .string("Sell"), .string("Buy")])
        #expect(entries.map(\.before) == [.string("Buy"), .string("Buy"), nil])
    }

    @Test func blameOfARecordTellsWhenItCameAndWent() throws {
        let entries = try log.open().blame("t2")
        #expect(entries.map(\.sequence) == [9, 3, 3])
        #expect(entries.map(\.field) == ["__typename", "text", "__typename"])
        #expect(entries.map(\.after) == [nil, .string("Eat"), .string("Todo")])
        #expect(entries.last?.viewer == "ada")
        #expect(try log.open().blame("t2", field: "text").map(\.sequence) == [9, 3])
        #expect(try log.open().blame("t3") == [])
    }

    @Test func blameOfAListShowsItAsItBecame() throws {
        let entries = try log.open().blame("u1", field: "todos")
        #expect(entries.map(\.after) == [.links(["t1"]), .links(["t1", "t2"]), .links(["t1"])])
    }
}
