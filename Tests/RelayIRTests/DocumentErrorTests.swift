import GraphQLLanguage
import RelayIR
import Testing

@Suite struct DocumentErrorTests {
    @Test(arguments: [
        Mistake(
            "query Q { user { missing } }",
            "Cannot query field \"missing\" on type \"User\". (1:18)"),
        Mistake("query Q { user { ...F } }", "Unknown fragment \"F\". (1:21)"),
        Mistake(
            "query Q { user { ...F } } fragment F on User { ...F }",
            "Cannot spread fragment \"F\" within itself. (1:48)"),
        Mistake(
            "query Q { user { ...F @arguments(a: 1) } } fragment F on User { userId }",
            "Fragment \"F\" has no argument \"a\". (1:34)"),
        Mistake(
            "query Q { user { todos @connection(key: \"A_todos\") { edges { cursor } } } }",
            "Expected field \"todos\" to have a \"first\" or \"last\" argument. (1:18)"),
        Mistake(
            "query Q { user { todos(first: 1) @connection(key: \"todos\") { edges { cursor } } } }",
            "Expected the \"key\" argument of @connection to be of form \"<SomeName>_todos\". (1:34)"
        ),
        Mistake(
            "fragment F on TodoEdge @refetchable(queryName: \"Q\") { cursor }",
            "Cannot refetch fragment \"F\": \"TodoEdge\" is neither Query nor Viewer nor a Node. (1:24)"
        ),
        Mistake(
            "query Q { user { userId @unheardOf } }", "Unknown directive \"@unheardOf\". (1:25)"),
        Mistake(
            "query Q($n: String) { user { todos(first: $n) { edges { cursor } } } }",
            "Variable \"$n\" of type \"String\" used in position expecting type \"Int\". (1:9, 1:43)"
        ),
    ])
    func mistakesAreSaidWithTheirPlace(_ mistake: Mistake) throws {
        let schema = try ExampleSchema.todo()
        #expect {
            try compile(mistake.text, schema)
        } throws: { error in
            (error as? RelayDocumentErrors)?.description == mistake.message
        }
    }

    struct Mistake: Sendable {
        let text: String
        let message: String

        init(_ text: String, _ message: String) {
            self.text = text
            self.message = message
        }
    }
}
