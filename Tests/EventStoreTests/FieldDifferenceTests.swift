import RelayJSON
import RelayStore
import Testing

@testable import EventStore

@Suite(.bounded) struct FieldDifferenceTests {
    private let log: TodoHistory

    init() throws { log = try TodoHistory() }

    @Test func aDifferenceShowsWhatCameAndWentAndChanged() throws {
        let history = try log.open()
        #expect(
            try lines(history.differences(from: 1, to: 6)) == [
                "t1.complete false true",
                #"u1.todos {"refs":["t1"]} {"refs":["t1","t2"]}"#,
                #"t2.__typename - "Todo""#, #"t2.text - "Eat""#,
            ])
        #expect(
            try lines(history.differences(from: 6, to: 1)) == [
                #"t2.__typename "Todo" -"#, #"t2.text "Eat" -"#,
                "t1.complete true false",
                #"u1.todos {"refs":["t1","t2"]} {"refs":["t1"]}"#,
            ])
        #expect(try lines(history.differences(from: 1, to: 10)) == [])
        #expect(
            try lines(history.differences(from: 1, to: 6, record: "t1")) == [
                "t1.complete false true"
            ])
    }

    @Test func statesOfDifferentLogsCompareByTheirTexts() throws {
        let history = try log.open()
        let one = try history.snapshot(at: 3)
        let other = try history.snapshot(at: 6)
        #expect(one.symbols !== other.symbols)
        #expect(lines(one.differences(to: other)) == ["t1.complete false true"])
        #expect(lines(one.differences(to: other, record: "t2")) == [])
    }
}

/// A line for each: `record.field before after`.
func lines(_ differences: [FieldDifference]) -> [String] {
    func text(_ value: FieldValue?) -> String { value.map { $0.recordJSON.text } ?? "-" }
    return differences.map { "\($0.record).\($0.field) \(text($0.before)) \(text($0.after))" }
}
