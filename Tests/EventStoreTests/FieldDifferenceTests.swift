import BoundedTesting
import RelayJSON
@_spi(Rooms) import RelayRecords
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
                "u1.todos at 1: - +t2",
                #"t2.__typename - "Todo""#, #"t2.text - "Eat""#,
            ])
        #expect(
            try lines(history.differences(from: 6, to: 1)) == [
                #"t2.__typename "Todo" -"#, #"t2.text "Eat" -"#,
                "t1.complete true false",
                "u1.todos at 1: -t2 +",
            ])
        #expect(try lines(history.differences(from: 1, to: 10)) == [])
        #expect(
            try lines(history.differences(from: 1, to: 6, record: "t1")) == [
                "t1.complete false true"
            ])
    }

    /// Lists that are changed in every way, with and without holes, packed and not.
    @Test func theChangeOfAListMakesTheOneOfTheOther() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededGenerator(seed: seed)
        var records: [RecordIndex?] = []
        var list = LinkList.empty
        for step in 0..<2_000 {
            let before = (list, records)
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let place = Int.random(in: 0...records.count, using: &random)
                let record = RecordIndex(rawValue: .random(in: 0..<40, using: &random))
                switch Int.random(in: 0..<6, using: &random) {
                case 0:
                    list = list.splicing(start: place, deleted: 2, inserted: [record, nil])
                    records.replaceSubrange(
                        place..<min(place + 2, records.count), with: [record, nil])
                case 1, 2:
                    list = list.removing(record)
                    if let first = records.firstIndex(of: record) { records.remove(at: first) }
                default:
                    list = list.appending(record)
                    records.append(record)
                }
            }
            #expect(list.records == records, "seed \(seed), step \(step)")
            var rebuilt = before.1
            if let splice = list.splice(from: before.0) {
                let end = splice.start + splice.removed.count
                #expect(Array(rebuilt[splice.start..<end]) == splice.removed, "seed \(seed)")
                rebuilt.replaceSubrange(splice.start..<end, with: splice.inserted)
            }
            #expect(rebuilt == records, "seed \(seed), step \(step)")
        }
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

/// A line for each: `record.field before after`, or of a list what went and came.
func lines(_ differences: [FieldDifference]) -> [String] {
    differences.map { "\($0.record).\($0.field) \(line($0.change))" }
}

func line(_ change: FieldChange) -> String {
    func text(_ value: FieldValue?) -> String { value.map { $0.recordJSON.text } ?? "-" }
    func texts(_ ids: [DataID?]) -> String {
        ids.map { $0?.rawValue ?? "null" }.joined(separator: ",")
    }
    return switch change {
    case .value(let before, let after): "\(text(before)) \(text(after))"
    case .links(let start, let removed, let inserted):
        "at \(start): -\(texts(removed)) +\(texts(inserted))"
    }
}
