import GraphQLLanguage
import RelayIR
import Testing

@Suite struct NestedListTests {
    private static let schema = """
        type Query { grid: [[Cell!]!]! numbers: [[Int]] row: [Cell] }
        type Cell { value: Int }
        """

    @Test func aListOfListsOfObjectsIsRefused() throws {
        let schema = try Schema.build([Source(Self.schema)])
        do {
            _ = try compile("query Q { grid { value } }", schema)
            Issue.record("A store cannot keep the grid.")
        } catch let error as RelayDocumentErrors {
            #expect(
                error.description == """
                    Field "grid" cannot be selected: it is a list of lists of objects, which a store does not \
                    keep. (1:11)
                    """)
        }
    }

    @Test func listsOfListsOfLeavesAreNot() throws {
        let schema = try Schema.build([Source(Self.schema)])
        #expect(throws: Never.self) { try compile("query Q { numbers row { value } }", schema) }
    }
}
