import Foundation
import RelayJSON
import Testing

@testable import RelayArtifacts

@Suite struct VariableDataTests {
    private enum Priority: String, VariableValueConvertible { case high = "HIGH" }

    private struct Input: VariableDataConvertible {
        var id: String
        var estimate: Double?
        var labels: [String]?

        var variableData: VariableData { ["id": id, "estimate": estimate, "labels": labels] }
    }

    @Test func promise14EmbedsDirectlyInAnEncodable() throws {
        struct Payload: Encodable {
            var operationName: String
            var variables: VariableData
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let payload = Payload(
            operationName: "Q",
            variables: [
                "input": Input(id: "a", labels: ["x"]), "priority": Priority.high, "count": 3,
                "ratio": 0.5, "none": VariableValue.null,
            ])
        let text = String(decoding: try encoder.encode(payload), as: UTF8.self)
        #expect(
            text == """
                {"operationName":"Q","variables":{"count":3,"input":{"id":"a","labels":["x"]},\
                "none":null,"priority":"HIGH","ratio":0.5}}
                """)
    }

    @Test func valuesOfDifferentKindsHaveHashesOfTheirOwn() {
        let nothings: [VariableValue] = [
            .null, .string(""), .int(0), .bool(false), .float(0), .object([:]), .array([]),
        ]
        let lists = nothings.flatMap { first in nothings.map { VariableValue.array([first, $0]) } }
        #expect(Set((nothings + lists).map(\.hashValue)).count == 7 + 49)
    }

    @Test func notANumberIsEqualToItself() {
        let (quiet, negative) = (VariableValue.float(.nan), VariableValue.float(-.nan))
        #expect(quiet == negative && quiet != .float(.infinity))
        var entries: [VariableData: Int] = [["a": quiet]: 1]
        entries[["a": negative]] = nil
        #expect(entries.isEmpty)
    }

    /// JSON scalars may have members of any name.
    @Test func namesAreTheSameWhenTheirBytesAre() {
        let (one, two) = ("\u{e9}", "e\u{301}")
        let both = VariableValue(JSONValue.object([one: 1, two: 2]))
        #expect(both.json == .object([two: 2, one: 1]))
        #expect(both[one] == 1 && both[two] == 2)
        // The bytes of the letter e come first.
        #expect(both.description == "{\(two):2,\(one):1}")
        let first: VariableData = [one: 1]
        var second: VariableData = [two: 1]
        #expect(first != second)
        #expect(Set([first, second]).count == 2)
        second.merge(first)
        second[two] = nil
        #expect(second == first && second.hashValue == first.hashValue)
    }

    @Test func trap18ANilOptionalIsAbsentAndNotAnExplicitNull() {
        let variables: VariableData = [
            "count": nil as Int?, "id": "a", "cursor": VariableValue.null,
        ]
        #expect(variables.count == nil)
        #expect(variables.cursor == .null)
        let definitions: [ArgumentDefinition] = [
            .local(name: "count", defaultValue: 100), .local(name: "cursor", defaultValue: "x"),
        ]
        let given = definitions.operationVariables(given: variables)
        #expect(given == ["count": 100, "id": "a", "cursor": VariableValue.null])
    }

    @Test func fragmentArgumentsReplaceTheOperationsVariables() {
        let definitions: [ArgumentDefinition] = [
            .local(name: "count", defaultValue: 10), .local(name: "cursor"), .root(name: "me"),
        ]
        let outer: VariableData = ["count": 1, "cursor": "c", "me": "A", "n": 5]
        #expect(
            definitions.fragmentVariables(
                given: SpreadArguments(
                    [VariableArgument(name: "count", variableName: "n")], in: outer), in: outer)
                == ["count": 5, "me": "A", "n": 5])
        #expect(
            definitions.fragmentVariables(given: SpreadArguments(), in: outer)
                == ["count": 10, "me": "A", "n": 5])
    }

    /// GraphQL §6.4.1: an argument with a variable that has no value was not sent; the fragment must read it so.
    @Test func defaultsOfFragmentArgumentsAreForThoseThatAreNotGiven() {
        let definitions: [ArgumentDefinition] = [.local(name: "count", defaultValue: 10)]
        func inner(_ arguments: [any Argument], _ outer: VariableData) -> VariableData {
            definitions.fragmentVariables(given: SpreadArguments(arguments, in: outer), in: outer)
        }
        let given: [any Argument] = [VariableArgument(name: "count", variableName: "n")]
        #expect(inner(given, ["count": 1]) == [:])
        #expect(
            inner(given, ["n": VariableValue.null])
                == ["count": VariableValue.null, "n": VariableValue.null])
        #expect(inner([], ["count": 1]) == ["count": 10])
    }

    @Test func descriptionIsSortedByName() {
        let variables: VariableData = ["c": 1, "a": "b\"", "d": [true, false]]
        #expect(variables.description == #"{a:"b\"",c:1,d:[true,false]}"#)
    }

    @Test func whatIsNilIsNullIfItsNameSaysSo() {
        let nothing: String? = nil
        let data = VariableData(["a": nothing, "b": nothing, "c": 1], null: ["b", "c"])
        #expect(data.description == "{b:null,c:1}")
    }

    @Test func mergeTakesTheOthersValues() {
        var variables: VariableData = ["a": 1, "b": 2]
        variables.merge(["b": 3, "c": 4])
        #expect(variables == ["a": 1, "b": 3, "c": 4])
    }
}
