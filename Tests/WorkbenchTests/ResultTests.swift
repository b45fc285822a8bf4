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
        try ResultTree.rows(of: json(new), after: old.map(json), unconfirmed: ["u"]).map { row in
            row.pieces.map { $0.marked }.joined()
        }
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
                "*  2*", #"    id: *"n"*"#, "    x: *4*", "-  gone-", #"-    id: "b"-"#,
                "-    x: 2-",
            ])
        #expect(
            try lines(#"{"l": [1, 2]}"#, after: #"{"l": [1, 3, 4]}"#) == [
                "l", "  0: 1", "  1: *2*", "-  gone: 4-",
            ])
        #expect(try lines(#"{"l": [{"id": "u"}]}"#, after: nil).last == #"~    id: ~~"u"~"#)
    }

    @Test func theLongestListIsATable() throws {
        let old =
            #"{"a": [1], "u": {"e": [{"node": {"id": "1", "t": "x"}}, {"node": {"id": "2", "t": "y"}}]}}"#
        let new =
            #"{"a": [1], "u": {"e": [{"node": {"id": "2", "t": "z\nz"}}, {"node": {"id": "1", "t": "x"}}]}}"#
        let rows = try #require(
            ResultTable.rows(of: json(new), after: json(old)))
        #expect(
            rows.map { $0.pieces.map(\.marked).joined(separator: " ") } == [
                "#u › e#", "#id# #t#", "2 *z z*", "1 x",
            ])
        #expect(rows.map(\.record) == [nil, nil, "2", "1"])
        #expect(try ResultTable.rows(of: json(#"{"a": [1, 2]}"#), after: nil) == nil)
    }

    @Test func moreThanAnybodyReadsIsCounted() throws {
        let many = "[" + (0..<7_000).map { "\($0)" }.joined(separator: ",") + "]"
        let rows = try ResultTree.rows(of: json(#"{"l": \#(many)}"#), after: nil)
        #expect(rows.count == ResultRows.limit + 1)
        #expect(rows.last?.pieces.first?.text == "and 2001 more lines")
    }

    @Test func theOldestResultsAreDropped() {
        func result(_ number: Int, _ size: Int) -> KeptResult {
            KeptResult(
                ReceivedResult(bytes: Array(repeating: UInt8(ascii: " "), count: size)),
                number: number)
        }
        var kept = KeptResults()
        for number in 1...KeptResults.limit + 5 { kept.append(result(number, 10)) }
        #expect(kept.count == KeptResults.limit + 5)
        #expect(kept.droppedCount == 5 && kept.byteCount == KeptResults.limit * 10)
        #expect(kept[5] == nil && kept[6]?.number == 6)
        #expect(kept[kept.count]?.number == kept.count && kept[kept.count + 1] == nil)
        // A large one pushes out as many as it takes, and stays itself.
        kept.append(result(kept.count + 1, KeptResults.byteLimit))
        #expect(kept.results.count == 1 && kept.byteCount == KeptResults.byteLimit)
        kept.append(result(kept.count + 1, KeptResults.byteLimit + 1))
        #expect(kept.results.map(\.number) == [KeptResults.limit + 7])
        #expect(kept[0] == nil && kept[.max] == nil)
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
