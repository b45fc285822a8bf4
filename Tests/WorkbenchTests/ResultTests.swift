import BoundedTesting
import Console
import GraphQLLanguage
import RelayJSON
import Testing
import TodoFixtures

@testable import Workbench

/// What is shown of results, and how many are kept.
@Suite(.bounded) struct ResultTests {
    private func json(_ text: String) throws -> JSONValue { try JSONValue(parsing: text) }

    private func lines(_ new: String, after old: String?) throws -> [String] {
        var lines = ResultRows()
        try ResultTree.add(json(new), after: old.map(json), unconfirmed: ["u"], to: &lines)
        return lines.finished.map { row in row.pieces.map { $0.marked }.joined() }
    }

    @Test func aTreeMarksWhatDiffers() throws {
        let new = #"{"a": 1, "b": {"c": "x", "d": []}, "e": null}"#
        #expect(
            try lines(new, after: nil) == [
                "a: 1", "b", #"  c: "x""#, "  d: []", "e: null",
            ])
        #expect(
            try lines(new, after: #"{"a": 2, "b": {"c": "x", "d": [1]}}"#) == [
                "a: *1*", "b", #"  c: "x""#, "  d: *[]*", "e: *null*",
            ])
        // An equal number is no change.
        #expect(try lines(#"{"a": 1}"#, after: #"{"a": 1}"#) == ["a: 1"])
        #expect(try lines("5", after: "4") == ["*5*"])
        #expect(try lines("{}", after: nil) == ["{}"])
    }

    /// Wherever they have gone, elements are compared with themselves.
    @Test func elementsAreKnownByTheirIds() throws {
        let old = #"{"l": [{"id": "a", "x": 1}, {"id": "b", "x": 2}, {"id": "c", "x": 3}]}"#
        let new = #"{"l": [{"id": "c", "x": 3}, {"id": "a", "x": 9}, {"id": "n", "x": 4}]}"#
        #expect(
            try lines(new, after: old) == [
                "l", "  0", #"    id: "c""#, "    x: 3", "  1", #"    id: "a""#, "    x: *9*",
                "*  2*", #"    id: *"n"*"#, "    x: *4*", "-  gone-",
                #"-    id: --"b"-"#, "-    x: --2-",
            ])
        #expect(
            try lines(#"{"l": [1, 2]}"#, after: #"{"l": [1, 3, 4]}"#) == [
                "l", "  0: 1", "  1: *2*", "-  gone: --4-",
            ])
        #expect(try lines(#"{"l": [{"id": "u"}]}"#, after: nil).last == #"~    id: ~~"u"~"#)
    }

    /// Ids may be numbers, are of a type, and may come twice in a list.
    @Test func elementsThatAreTheSameThingAreToldApart() throws {
        #expect(
            try lines(#"[{"id": 3}, {"id": 1}]"#, after: #"[{"id": 1}]"#) == [
                "*0*", "  id: *3*", "1", "  id: 1",
            ])
        let old =
            #"[{"__typename": "A", "id": "1", "x": 1}, {"__typename": "B", "id": "1", "x": 2}]"#
        #expect(try !lines(old, after: old).contains { $0.contains("*") })
        let twice = #"[{"id": "1", "x": 1}, {"id": "1", "x": 2}]"#
        #expect(try !lines(twice, after: twice).contains { $0.contains("*") })
        #expect(
            try lines(#"[{"id": "1", "x": 1}]"#, after: twice)
                == ["0", #"  id: "1""#, "  x: 1", "-gone-", #"-  id: --"1"-"#, "-  x: --2-"])
    }

    @Test func theLongestListIsATable() throws {
        let old =
            #"{"a": [1], "u": {"e": [{"node": {"id": "1", "t": "x"}}, {"node": {"id": "2", "t": "y"}}, {"node": {"id": "3", "t": "gone"}}]}}"#
        let new =
            #"{"a": [1], "u": {"e": [{"node": {"id": "2", "t": "z\nz"}}, {"node": {"id": "1", "t": "x"}}]}}"#
        var lines = ResultRows()
        #expect(try ResultTable.add(json(new), after: json(old), to: &lines))
        let rows = lines.finished
        #expect(
            rows.map { $0.pieces.map(\.marked).joined(separator: " ") } == [
                "#u › e#", "#id# #t#", "2 *z z*", "1 x", "-3- -gone-",
            ])
        #expect(rows.map(\.record) == [nil, nil, "2", "1", "3"])
        #expect(try !ResultTable.add(json(#"{"a": [1, 2]}"#), after: nil, to: &lines))
    }

    /// What an edge itself has is a column, too.
    @Test func edgesAreRowsOfTheirNodes() throws {
        var lines = ResultRows()
        let edges = #"{"e": [{"cursor": "c", "node": {"id": 1}}, {"cursor": "d", "node": null}]}"#
        #expect(try ResultTable.add(json(edges), after: nil, to: &lines))
        #expect(
            lines.finished.map { $0.pieces.map(\.text) } == [
                ["e"], ["id", "cursor", "node"], ["1", "c", ""], ["", "d", "null"],
            ])
    }

    @Test func longTextsAreCutAndHiddenCharactersAreShown() throws {
        let long = String(repeating: "a\\n", count: 100_000)
        var lines = ResultRows()
        try ResultTree.add(
            json(#"{"t": "\#(long)", "u": "\u202eevil\u200b"}"#), after: nil, to: &lines)
        let texts = lines.finished.map { $0.pieces.map(\.text).joined() }
        #expect(texts[0].count <= ResultRows.textLimit + 5 && texts[0].hasSuffix("…"))
        #expect(texts[1] == #"u: "\u202eevil\u200b""#)
    }

    /// As long as it takes to look at each character once.
    @Test func aLongTextIsShownWhole() throws {
        var lines = ResultRows()
        lines.add(whole: "a\n\nb" + String(repeating: "x", count: 1_000) + "\n")
        #expect(lines.finished.map { $0.pieces[0].text.count } == [1, 0, 300, 300, 300, 101])
        var many = ResultRows()
        many.add(whole: String(repeating: "é", count: 3_000_000))
        #expect(many.finished.count == ResultRows.limit + 1)
        #expect(many.finished.last?.pieces[0].text == "and 3000000 more bytes of text")
    }

    /// Lines of a value lead on from where it is in the result.
    @Test func linesOfAValueHavePathsFromTheResult() throws {
        var lines = ResultRows()
        try ResultTree.add(
            json(#"{"id": "r", "user": {"name": "n"}}"#), after: nil, at: ["l", "0"], of: "r",
            to: &lines)
        #expect(
            lines.finished.map(\.path) == [
                ["l", "0", "id"], ["l", "0", "user"], ["l", "0", "user", "name"],
            ])
        #expect(
            lines.finished.map { $0.pieces.map(\.text).joined() } == [
                #"id: "r""#, "user", #"  name: "n""#,
            ])
    }

    @Test func moreThanAnybodyReadsIsCounted() throws {
        let many = "[" + (0..<7_000).map { "\($0)" }.joined(separator: ",") + "]"
        let result = KeptResult(
            ReceivedResult(bytes: Array(#"{"data": {"l": \#(many)}}"#.utf8)), number: 1)
        let run = ResultPage.Subject.Run(
            title: "", state: .ended, latency: nil, count: 1, droppedCount: 0, shown: result,
            before: nil)
        let page = ResultPage(.init(pane: .tree, run: run))
        #expect(page.rows.count == ResultRows.limit + 1)
        #expect(page.rows.last?.pieces.first?.text == "and 2001 more lines")
    }

    @Test func theOldestResultsAreDropped() {
        func result(_ number: Int, _ size: Int) -> KeptResult {
            KeptResult(
                ReceivedResult(bytes: Array(repeating: UInt8(ascii: " "), count: size)),
                number: number)
        }
        var kept = KeptResults()
        for number in 1...5_000 { kept.append(result(number, 10)) }
        #expect(kept.count == 5_000 && kept.droppedCount == 0 && kept.byteCount == 550_000)
        #expect(kept[1]?.number == 1 && kept[5_000]?.number == 5_000 && kept[5_001] == nil)
        // A large one pushes out as many as it takes, and stays itself.
        kept.append(result(5_001, KeptResults.byteLimit - 100))
        #expect(kept.byteCount <= KeptResults.byteLimit && kept[5_001] != nil)
        #expect(kept.droppedCount >= 4_990 && kept.count == 5_001)
        #expect(kept[kept.droppedCount] == nil && kept[kept.droppedCount + 1] != nil)
        kept.append(result(5_002, KeptResults.byteLimit + 1))
        #expect(kept.results.map(\.number) == [5_002])
        #expect(kept[0] == nil && kept[.max] == nil)
        #expect(kept.drop(bytes: 1) == 0)
        #expect(kept.dropAll() > 0 && kept.count == 5_002 && kept.byteCount == 0)
    }

    /// What somebody looks at stays, whatever has to make room.
    @MainActor @Test func aResultThatIsLookedAtStays() {
        let run = OperationRun(id: 1, title: "query a", measuresConnection: false)
        for number in 1...3 {
            run.results.append(
                KeptResult(
                    ReceivedResult(bytes: Array(#"{"data": {"n": \#(number)}}"#.utf8)),
                    number: number))
        }
        run.look(at: 2)
        _ = run.results.dropAll()
        let page = ResultPage(.init(pane: .value(path: ["n"], record: nil), run: run.subject))
        #expect(page.number == 2 && page.rows.first?.pieces.first?.text == "2")
        run.goOn()
        let empty = ResultPage(.init(pane: .tree, run: run.subject))
        #expect(empty.rows.first?.pieces.first?.text.hasPrefix("Its results were dropped") == true)
    }

    /// What is inserted is always an operation of the schema.
    @Test func skeletonsAreValid() throws {
        for name in ["todo.graphql", "tracker.graphql"] {
            let schema = try Schema.build(
                [Source(utf8: TodoExample.file(name), name: name)],
                predefined: [PredefinedDirectives.source])
            for operation in OperationType.allCases {
                for field in schema.rootType(of: operation)?.fields ?? [] {
                    let (text, caret) = FieldSkeleton(schema).operation(operation, field)
                    #expect((0...text.count).contains(caret))
                    let issues = try Document(parsing: text).validate(against: schema)
                    #expect(issues.isEmpty, "\(text)\n\(issues)")
                }
            }
        }
    }
}

extension ResultRow.Piece {
    /// With signs around it for its mark.
    fileprivate var marked: String {
        switch mark {
        case .none: text
        case .changed: "*\(text)*"
        case .removed: "-\(text)-"
        case .unconfirmed: "~\(text)~"
        case .heading: "#\(text)#"
        }
    }
}
