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
            "query Q { user { ...List_usr } } fragment List_user on User { id }",
            "Unknown fragment \"List_usr\". Did you mean \"List_user\"? (1:21)"),
        Mistake(
            "query Q { user { ...F } } fragment F on User { ...F }",
            "Cannot spread fragment \"F\" within itself. (1:48)"),
        Mistake(
            "query Q { user { userId @unheardOf } }", "Unknown directive \"@unheardOf\". (1:25)"),
        Mistake(
            "query Q { user { userId @requird } }",
            "Unknown directive \"@requird\". Did you mean \"@required\"? (1:25)"),
        Mistake(
            "query Q { user { userId @required(action: LOG, acton: LOG) } }",
            "Unknown argument \"acton\" on directive \"@required\". Did you mean \"action\"? (1:48)"
        ),
        Mistake(
            "query Q { user { userId @required } }",
            "Directive \"@required\" argument \"action\" of type \"RequiredFieldAction!\" is required, "
                + "but it was not provided. (1:25)"),
        Mistake(
            "query Q { user { userId @required(action: LOUD) } }",
            "Value \"LOUD\" does not exist in \"RequiredFieldAction\" enum. Did you mean the enum "
                + "value \"LOG\"? (1:43)"),
        Mistake(
            "query Q { user @relay(plural: true) { userId } }",
            "Directive \"@relay\" may not be used on FIELD. (1:16)"),
        Mistake(
            "query Q($n: String) { user { todos(first: $n) { edges { cursor } } } }",
            "Variable \"$n\" of type \"String\" used in position expecting type \"Int\". (1:9, 1:43)"
        ),
        Mistake(
            "query Q { user { ...F } } fragment F on User { todos(first: $n) { edges { cursor } } }",
            "Variable \"$n\" is not defined by operation \"Q\". (1:61, 1:1)"),
        Mistake(
            "query Q { a: __id __di }",
            "Cannot query field \"__di\" on type \"Query\". (1:19)"),
    ])
    func mistakesAreSaidWithTheirPlace(_ mistake: Mistake) throws {
        let messages = try mistake.messages(ExampleSchema.todo())
        #expect(messages == mistake.expected)
    }

    /// Everything that visits documents does so by recursion.
    @Test(arguments: [399, 400, 5_000])
    func chainsOfFragmentsHaveALimit(_ length: Int) throws {
        var text = "query Q { user { ...F0 } }\n"
        for place in 0..<length - 3 { text += "fragment F\(place) on User { ...F\(place + 1) }\n" }
        text += "fragment F\(length - 3) on User { id }"
        let mistake = Mistake(text)
        let messages = try mistake.messages(ExampleSchema.todo())
        if length <= 400 {
            #expect(messages.isEmpty)
        } else {
            #expect(
                messages == [
                    "Selection sets, with the fragments that they spread, nest deeper than 400 levels here. "
                        + "(400:23)"
                ])
        }
    }

    @Test func oneMistakeDoesNotHideAnother() throws {
        let mistake = Mistake(
            """
            query Q { user { missing ...F @arguments(m: 1) } }
            fragment F on User
              @argumentDefinitions(n: {type: "Intt"})
              @refetchable(queryName: "Q") {
              todos @connection(key: "todos") { edges { node { txt } } }
            }
            fragment G on Usr { id }
            """,
            """
            Cannot query field "missing" on type "User". (1:18)
            """,
            """
            Unknown argument "m" on fragment "F". Did you mean "n"? (1:42)
            """,
            """
            Cannot query field "txt" on type "Todo". Did you mean "text"? (5:52)
            """,
            """
            Unknown type "Usr". Did you mean "User"? (7:15)
            """,
            """
            Unknown type "Intt". Did you mean "Int"? (3:34)
            """,
            """
            Expected field "todos" to have a "first" or "last" argument. (5:3)
            """,
            """
            Expected the "key" argument of @connection to be of form "<SomeName>_todos". (5:9)
            """,
            """
            There can be only one operation named "Q". (1:7, 4:27)
            """)
        let messages = try mistake.messages(ExampleSchema.todo())
        #expect(messages == mistake.expected)
    }

    @Test func aMistakeInAFragmentIsSaidOnceHoweverManyOperationsSpreadIt() throws {
        let mistake = Mistake(
            """
            query Q { user { ...F } } query R { user { ...G } }
            fragment F on User { ...G }
            fragment G on User { nam todos(first: 1) { edges { cursor } } todos { edges { cursor } } }
            """,
            "Cannot query field \"nam\" on type \"User\". (3:22)")
        #expect(try mistake.messages(ExampleSchema.todo()) == mistake.expected)
        let conflict = Mistake(
            mistake.text.replacing("nam ", with: ""),
            "Fields \"todos\" conflict because they have differing arguments. Use different aliases on the "
                + "fields to fetch both if this was intentional. (3:22, 3:59)")
        #expect(try conflict.messages(ExampleSchema.todo()) == conflict.expected)
    }

    // MARK: Many documents

    private static let sources = [
        Source("query ListQuery { user { ...Item_usr } }", name: "List.graphql"),
        Source("\n\nfragment Item_user on User { nam }", name: "Item.graphql"),
        Source(
            "fragment Item_user on User {\n  totalCount @required(action: LOUD)\n}",
            name: "Third.graphql"),
    ]

    @Test func errorsOfManyDocumentsAreInTheirOwn() throws {
        let documents = try RelayDocuments.parse(Self.sources)
        let schema = try ExampleSchema.todo()
        do throws(RelayDocumentErrors) {
            _ = try RelayDocuments(documents, schema: schema)
            Issue.record("The documents are wrong.")
        } catch {
            #expect(
                error.errors.map { error in
                    error.message + " "
                        + error.places.map {
                            "\($0.source.name):\($0.location.line):\($0.location.column)"
                        }.joined(separator: ", ")
                } == [
                    "There can be only one fragment named \"Item_user\". "
                        + "Item.graphql:3:10, Third.graphql:1:10",
                    "Unknown fragment \"Item_usr\". Did you mean \"Item_user\"? List.graphql:1:29",
                    "Cannot query field \"nam\" on type \"User\". Item.graphql:3:30",
                    "Value \"LOUD\" does not exist in \"RequiredFieldAction\" enum. Did you mean the enum "
                        + "value \"LOG\"? "
                        + "Third.graphql:2:32",
                ])
            #expect(
                SourceExcerpt.excerpts(of: error.errors[0].places) == [
                    """
                      3 | fragment Item_user on User { nam }
                        |          ^
                    """,
                    """
                      1 | fragment Item_user on User {
                        |          ^
                    """,
                ])
        }
    }

    @Test func syntaxErrorsOfAllDocumentsAreSaidAtOnce() throws {
        do throws(RelayDocumentErrors) {
            _ = try RelayDocuments.parse([Source("{"), Source("{ a }"), Source("\nquery {")])
            Issue.record("Two documents are wrong.")
        } catch {
            #expect(
                error.description == """
                    Syntax Error: Expected Name, found <EOF>. (1:2)
                    Syntax Error: Expected Name, found <EOF>. (2:8)
                    """)
        }
    }

    @Test func documentsSpreadEachOthersFragments() throws {
        let documents = try RelayDocuments(
            RelayDocuments.parse([
                Source("query Q { user { ...F } }"), Source("fragment F on User { userId }"),
            ]), schema: ExampleSchema.todo())
        #expect(documents.operation("Q")?.text.contains("fragment F on User") == true)
        #expect(documents.fragment("F") != nil)
    }

    @Test func documentsWithTheSameLocationsAreRefused() throws {
        let documents = try ["query Q { user { id } }", "query R { user { id } }"].map {
            try Document(parsing: $0)
        }
        #expect(throws: RelayDocumentErrors.self) {
            try RelayDocuments(documents, schema: ExampleSchema.todo())
        }
    }
}

/// A text that does not compile, and what is said about it.
struct Mistake: Sendable {
    let text: String
    let expected: [String]

    init(_ text: String, _ expected: String...) {
        self.text = text
        self.expected = expected
    }

    func messages(_ schema: Schema, client: [Source] = []) throws -> [String] {
        let document = try Document(parsing: text)
        do throws(RelayDocumentErrors) {
            _ = try RelayDocuments([document], schema: schema, client: client)
            return []
        } catch {
            return error.errors.map(\.description)
        }
    }
}
