import Foundation
import GraphQLLanguage
import RelayArtifacts
import RelayCompiler
import RelayIR
import Testing

/// What fixtures would show only by accident.
@Suite struct GeneratedCodeRulesTests {
    private func code(_ schema: String, _ document: String) throws -> GeneratedCode {
        GeneratedCode(
            try RelayDocuments(
                Document(parsing: document), schema: try Schema.build([Source(schema)])))
    }

    @Test func aFileHasWhatItIsAskedFor() throws {
        let code = try code(
            "type Query { a: ID }", "query AQuery { a ...A_x } fragment A_x on Query { a }")
        let file = code.file(["A_x", "Unknown"])
        #expect(file.contains("struct A_x:") && !file.contains("AQuery"))
        #expect(!code.file(["Unknown"]).contains("import"))
        #expect(!code.schemaFile().contains("import"))
    }

    /// The query of a fragment is in the fragment's file unless it is asked for by its own name.
    @Test func aRefetchQueryFollowsItsFragment() throws {
        let code = try code(
            "type Query { a: ID }",
            "fragment A_query on Query @refetchable(queryName: \"AQuery\") { a }")
        #expect(code.file(["A_query"]).contains("struct AQuery: Relay.Operation"))
    }

    @Test func onlyTypesInUseAreGenerated() throws {
        let code = try code(
            """
            type Query { a(x: X): E f: F }
            enum E { A } enum F { A } enum G { A } input X { g: G x: X } input Y { a: Int }
            """, "query AQuery($x: X) { a(x: $x) }")
        let file = code.schemaFile()
        #expect(file.contains("enum E:") && file.contains("enum G:") && file.contains("struct X:"))
        #expect(!file.contains("enum F:") && !file.contains("struct Y:"))
    }

    /// Swift warns about a public import that nothing public needs, and names are not types.
    @Test func modulesAreImportedForTheTypesThatAreNamed() throws {
        let documents = try RelayDocuments(
            Document(parsing: "query DateQuery { Date: dueDate at { range(in: DateX) } }"),
            schema: Schema.build([
                Source(
                    """
                    scalar DateTime scalar Money enum Dates { DateX }
                    type Query { dueDate: String at: DateRange paid: Money }
                    type DateRange { range(in: Dates): Dates on: DateTime }
                    """)
            ]))
        let code = GeneratedCode(
            documents,
            options: GenerateOptions(
                access: .public, scalars: ["DateTime": "Date", "Money": "Bank.Money"],
                imports: ["Foundation", "Bank"]))
        #expect(code.file(["DateQuery"]).contains("Date"))
        #expect(!code.file(["DateQuery"]).contains("import Foundation"))
        #expect(!code.schemaFile().contains("import Foundation"))
        let used = try RelayDocuments(
            Document(parsing: "query DateQuery { at { on } } query PaidQuery { paid }"),
            schema: documents.schema)
        let other = GeneratedCode(
            used,
            options: GenerateOptions(
                scalars: ["DateTime": "Date", "Money": "Bank.Money"],
                imports: ["Foundation", "Bank"]))
        #expect(other.file(["DateQuery"]).contains("import Foundation"))
        // A type without its module may be in any of them.
        #expect(other.file(["DateQuery"]).contains("import Bank"))
        #expect(other.file(["PaidQuery"]).contains("import Bank"))
        #expect(!other.file(["PaidQuery"]).contains("import Foundation"))
    }

    /// Wherever in a type its name is.
    @Test(arguments: [
        ("[Foundation.Date]", ["Foundation"]), ("[String: Bank.Money]", ["Bank"]),
        ("Bank.Tagged<Foundation.UUID>.Key?", ["Bank", "Foundation"]),
        ("Payment.Amount", ["Bank", "Foundation"]), ("Foundational.Date", ["Bank", "Foundation"]),
        ("Bank.Tagged<Bank.Money>", ["Bank"]), ("Tagged<Bank.Money>", ["Bank", "Foundation"]),
    ])
    func modulesAreImportedForAllNamesInAType(_ type: String, _ modules: [String]) throws {
        let documents = try RelayDocuments(
            Document(parsing: "query PaidQuery { paid }"),
            schema: Schema.build([Source("scalar Money type Query { paid: Money }")]))
        let code = GeneratedCode(
            documents,
            options: GenerateOptions(scalars: ["Money": type], imports: ["Foundation", "Bank"]))
        let lines = code.file(["PaidQuery"]).split(separator: "\n")
        let imports = lines.compactMap {
            $0.contains("import ") ? $0.split(separator: " ").last.map(String.init) : nil
        }
        #expect(imports == modules + ["Relay"])
    }

    /// `Data.Amount` would be what `price: Amount` means.
    @Test func typesOfScalarsAreNotHidden() throws {
        let documents = try RelayDocuments(
            Document(
                parsing: "query AQuery { any { ... on Amount { text } ... on Item { price } } }"),
            schema: Schema.build([
                Source(
                    """
                    scalar Money  type Query { any: Any }  union Any = Amount | Item
                    type Amount { text: String }  type Item { price: Money }
                    """)
            ]))
        let code = GeneratedCode(
            documents, options: GenerateOptions(scalars: ["Money": "[Amount]"]))
        let file = code.file(["AQuery"])
        #expect(file.contains("price: [Amount]?"))
        #expect(file.contains("struct Amount_") && !file.contains("struct Amount:"))
    }

    /// Or each level would multiply the work: 9 to the power of 12 in all.
    @Test(.timeLimit(.minutes(5))) func abstractTypesNestDeeply() throws {
        let types = (1...8).map { "type T\($0) implements Node { id: ID! node: Node a\($0): Int }" }
        let depth = 12
        let level = "node { id ... on Node { __typename } ... on T1 { a1 } ... on T2 { a2 } "
        let code = try code(
            "interface Node { id: ID! node: Node } type Query { node: Node } "
                + types.joined(separator: " "),
            "query AQuery { " + String(repeating: level, count: depth)
                + String(repeating: "}", count: depth) + " }")
        let text = code.file(["AQuery"])
        // What all cases have is written once.
        #expect(text.components(separatedBy: "enum Node_node:").count == depth + 1)
        #expect(text.components(separatedBy: "var a1: Int?").count == depth + 1)
    }

    @Test func whateverADocumentContainsIsOneLiteral() throws {
        let documents = try RelayDocuments(
            Document(
                parsing:
                    ##"query AQuery { a(x: "\"# \\#(1) \"\"\" \\u{1F600} é") b: a(x: """x\n\t""") }"##
            ),
            schema: Schema.build([Source("type Query { a(x: String): ID }")]))
        let file = GeneratedCode(documents).file(["AQuery"])
        #expect(file.contains("artifact: ##\"\"\"") && file.contains("\"\"\"##)"))
        #expect(
            SwiftLiterals.values(in: file) == documents.operations.map(\.request.artifact))
    }

    @Test func theSameDocumentsGiveTheSameBytes() throws {
        let schema = "type Query { a(x: X): E } enum E { A B } input X { e: E x: X }"
        let document = "query AQuery($x: X) { a(x: $x) }"
        let one = try code(schema, document)
        let other = try code(schema, document)
        #expect(one.file(["AQuery"]) == other.file(["AQuery"]))
        #expect(one.schemaFile() == other.schemaFile())
    }
}
