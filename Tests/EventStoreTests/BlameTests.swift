import RelayJSON
@_spi(Rooms) import RelayRecords
import Testing

@testable import EventStore

@Suite(.bounded) struct BlameTests {
    private let log: TodoHistory

    init() throws { log = try TodoHistory() }

    @Test func blameNamesEveryWriteOfAFieldNewestFirst() throws {
        let entries = try log.open().blame("t1", field: "complete")
        #expect(entries.map(\.sequence) == [10, 6, 1])
        #expect(entries.map(\.operation) == ["commitUpdate", "Complete", nil])
        #expect(entries.map(\.mutationID) == [nil, MutationID("A:2"), nil])
        #expect(entries.map(\.change.before) == [.bool(true), .bool(false), nil])
        #expect(entries.map(\.change.after) == [.bool(false), .bool(true), .bool(false)])
        #expect(entries.allSatisfy { !$0.isOptimistic && $0.field == "complete" })
    }

    @Test func blameShowsOptimisticWritesAndWritesOfAnEqualValue() throws {
        let entries = try log.open().blame("t1", field: "text")
        #expect(entries.map(\.sequence) == [6, 5, 1])
        #expect(entries.map(\.isOptimistic) == [false, true, false])
        #expect(entries.map(\.change.after) == [.string("Buy"), .string("Sell"), .string("Buy")])
        #expect(entries.map(\.change.before) == [.string("Buy"), .string("Buy"), nil])
    }

    @Test func whatATextMeansIsTheLongestIDThatWasEverWritten() throws {
        let history = try log.open()
        func target(_ text: String) throws -> BlameTarget? {
            try history.known(BlameTarget.targets(text))
        }
        #expect(BlameTarget.targets(".a.b").map(\.record) == [".a.b", ".a"])
        #expect(try target("t2") == BlameTarget(record: "t2"))
        #expect(try target("t1.text.size") == BlameTarget(record: "t1", field: "text.size"))
        #expect(try target("t9.text") == nil)
    }

    @Test func blameOfARecordTellsWhenItCameAndWent() throws {
        let entries = try log.open().blame("t2")
        #expect(entries.map(\.sequence) == [9, 3, 3])
        #expect(entries.map(\.field) == ["__typename", "text", "__typename"])
        #expect(entries.map(\.change.after) == [nil, .string("Eat"), .string("Todo")])
        #expect(entries.last?.viewer == "ada")
        #expect(try log.open().blame("t2", field: "text").map(\.sequence) == [9, 3])
        #expect(try log.open().blame("t3") == [])
    }

    @Test func blameOfAListShowsWhatCameAndWent() throws {
        let entries = try log.open().blame("u1", field: "todos")
        #expect(
            entries.map { line($0.change) }
                == ["at 1: -t2 +", "at 1: - +t2", #"- {"refs":["t1"]}"#])
    }

    /// Of the names "é" as one scalar and as two.
    @Test func recordsAndFieldsAreToldApartByTheBytesOfTheirNames() throws {
        let (one, two) = ("caf\u{E9}", "cafe\u{301}")
        let directory = TemporaryDirectory()
        let store = try EventStore.open(directory.path, options: .quiet)
        var writer = WriteSetWriter()
        writer.write(
            DataID(one), type: "Place",
            fields: [(key: one, value: FieldValue.int(1)), (key: two, value: .int(2))])
        writer.write(DataID(two + "/"), type: "Place", fields: [(key: one, value: .int(3))])
        try store.journal.appendAndWait(
            Event(
                sequence: 1, timeMicroseconds: 0,
                body: .genesis(schema: "type Query { a: Int }", seed: writer.writeSet)))
        store.journal.close()
        let history = try History(directory.path)
        let fields = try history.blame(one).map(\.field).filter { $0 != "__typename" }
        #expect(Set(fields.map { Array($0.utf8) }) == [Array(one.utf8), Array(two.utf8)])
        #expect(try history.blame(one, field: two).map(\.change.after) == [.int(2)])
        #expect(try history.blame(two) == [])

        let copy = TemporaryDirectory()
        try history.copy(
            HistorySelection(parts: [], seed: [ExactText(one + "/")]), to: copy.path,
            options: EventStoreOptions.quiet.log)
        #expect(try History(copy.path).snapshot(at: 1).recordCount == 0)
    }

    /// In a log in which mutations do not stand at every other place, too.
    @Test func noMoreThanTheLastMutationsAreRemembered() throws {
        let directory = TemporaryDirectory()
        let store = try EventStore.open(directory.path, options: .quiet)
        let recorded = try RandomHistory(seed: 3, count: 600)
        for event in recorded.events { try store.journal.appendAndWait(event) }
        store.journal.close()
        let history = try History(directory.path)
        let events = try TouchingEvents(history, ["r1"], in: 1...history.last)
        while try events.next() != nil {
            #expect(events.mutations.count <= TouchingEvents.memory)
        }
        let last = recorded.events.filter {
            if case .mutation = $0.body { true } else { false }
        }.suffix(TouchingEvents.memory)
        #expect(Set(events.mutations.map(\.sequence)) == Set(last.map(\.sequence)))
    }

    /// One line for each entry: what it is, the value before and after, and what is shown then.
    private func lines(_ entries: [BlameEntry]) -> [String] {
        func text(_ value: FieldValue?) -> String { value.map(\.recordJSON.text) ?? "-" }
        return entries.map { entry in
            let kind =
                switch entry.kind {
                case .confirmed, .inherited: "e\(entry.sequence)"
                case .optimistic: "e\(entry.sequence)'"
                case .rebased: "e\(entry.layer ?? 0)'/e\(entry.sequence)"
                case .revoked(let reason): "e\(entry.layer ?? 0)' \(reason)"
                }
            let above = entry.layersAbove.map { " under e\($0)'" }.joined()
            let shown = text(entry.shown?.after ?? entry.change.after)
            return "\(kind) \(line(entry.change))\(above) \(shown)"
        }
    }

    @Test func blameShowsTheLayersAndWhatBecameOfThem() throws {
        let entries = try log.open().blame("t1", field: "text", showsLayers: true)
        #expect(
            lines(entries) == [
                #"e5' timed out "Sell" "Buy" "Buy""#,
                #"e6 "Buy" "Buy" under e5' "Sell""#,
                #"e5' "Buy" "Sell" "Sell""#,
                #"e1 - "Buy" "Buy""#,
            ])
    }

    @Test func blameShowsRebases() throws {
        func write(_ text: String) -> WriteSet {
            var writer = WriteSetWriter()
            writer.write(
                "t1", type: "Todo", fields: [(key: "text", value: FieldValue.string(text))])
            return writer.writeSet
        }
        func intent(_ field: String, _ text: String?) -> EventBody {
            .mutation(
                MutationIntent(field: field, arguments: [:], optimistic: text.map(write)))
        }
        let directory = TemporaryDirectory()
        let store = try EventStore.open(directory.path, options: .quiet)
        let bodies: [EventBody] = [
            .genesis(schema: "type Query { a: Int }", seed: write("a")),
            intent("append", "ab"), intent("append", "ab"),
            .response(
                MutationResponse(
                    mutation: 2, writes: write("ax"), result: "t1",
                    rebased: [RebasedEntry(mutation: 3, writes: write("axb"))])),
            .update(
                LocalUpdate(
                    name: "reset", writes: write("z"),
                    rebased: [RebasedEntry(mutation: 3, writes: write("zb"))])),
            .response(MutationResponse(mutation: 3, writes: write("zb"), result: "t1")),
        ]
        for (index, body) in bodies.enumerated() {
            try store.journal.appendAndWait(
                Event(sequence: UInt64(index) + 1, timeMicroseconds: 0, body: body))
        }
        store.journal.close()
        let history = try History(directory.path)
        #expect(
            lines(try history.blame("t1", field: "text", showsLayers: true)) == [
                #"e6 "z" "zb" "zb""#,
                #"e3'/e5 "axb" "zb" "zb""#,
                #"e5 "ax" "z" under e3' "axb""#,
                #"e3'/e4 "ab" "axb" "axb""#,
                #"e4 "a" "ax" under e3' "ab""#,
                #"e3' "ab" "ab" "ab""#,
                #"e2' "a" "ab" "ab""#,
                #"e1 - "a" "a""#,
            ])
        #expect(
            try history.blame("t1", field: "text").map(\.sequence) == [6, 5, 4, 3, 2, 1])
    }

    @Test func oneRecordsStateIsWhatTheFoldOfAllEventsSays() throws {
        let history = try log.open()
        for sequence in UInt64(0)...10 {
            let whole = try history.snapshot(at: sequence)
            let part = try history.snapshot(at: sequence, of: ["t1", "t2"])
            for id in ["t1", "t2"] {
                #expect(whole.differences(to: part, record: id) == [], "\(id) at \(sequence)")
            }
        }
        for sequence in UInt64(1)...10 {
            let whole = try history.differences(from: sequence - 1, to: sequence)
            #expect(try history.changes(by: sequence) == whole, "\(sequence)")
        }
    }

    @Test func theLongestRecordThatWasEverWrittenIsMeant() throws {
        let history = try log.open()
        let targets = [
            BlameTarget(record: "t1.text"), BlameTarget(record: "t1", field: "text"),
        ]
        #expect(try history.blame(targets)?.target == targets[1])
        #expect(try history.blame([BlameTarget(record: "t9")]) == nil)
        #expect(try history.blame([BlameTarget(record: "t1", field: "no")])?.entries == [])
    }
}
