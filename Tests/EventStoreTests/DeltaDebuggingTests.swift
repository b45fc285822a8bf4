import RelayJSON
@_spi(Rooms) import RelayRecords
import Testing

@testable import EventStore

@Suite(.bounded) struct DeltaDebuggingTests {
    @Test(arguments: [[], [0], [999], [17, 500], [3, 4, 5, 900], Array(0..<40)] as [[Int]])
    func whatMattersIsLeft(_ wanted: [Int]) {
        var asked = 0
        let found = DeltaDebugging.minimize(Array(0..<1_000)) { rest in
            asked += 1
            return Set(wanted).isSubset(of: rest)
        }
        #expect(found == wanted)
        #expect(asked < 40 * max(1, wanted.count))
    }

    @Test func aPartOfAHistoryIsAHistory() throws {
        let log = try TodoHistory()
        let history = try log.open()
        let parts = try history.parts()
        #expect(parts.map(\.first) == [2, 4, 5, 8, 10])
        #expect(parts.map(\.end) == [3, 6, 7, 9, nil])
        let copy = TemporaryDirectory()
        let selection = HistorySelection(parts: [parts[1], parts[4]], seed: ["t1"])
        let count = try history.copy(
            selection, to: copy.path, options: EventStoreOptions.quiet.log)
        #expect(count == 4)
        let small = try History(copy.path)
        let list = try small.summaries(in: 1...4)
        var kinds: [String] = []
        while let event = try list.next() { kinds.append("\(event.kind) \(event.ends ?? 0)") }
        #expect(kinds == ["genesis 0", "mutation 0", "response 2", "update 0"])
        let state = try small.snapshot(at: 4)
        #expect(state.recordCount == 1 && state.existing("u1") == nil)
        // The original's times stay.
        #expect(try small.event(4).timeMicroseconds == 9_000_000)
    }
}
