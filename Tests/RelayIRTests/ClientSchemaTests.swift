import GraphQLLanguage
import RelayArtifacts
import RelayIR
import Testing

/// Types and fields that only the client knows.
@Suite struct ClientSchemaTests {
    private static let client = Source(
        """
        extend type User { draft: Draft isSelected(id: ID): Boolean }
        extend type Query { settings: Settings }
        type Draft { text: String! author: User }
        type Settings { theme: String! }
        """, name: "client.graphql")

    private func compile(_ text: String) throws -> RelayDocuments {
        try RelayDocuments(
            [Document(parsing: text)], schema: ExampleSchema.todo(), client: [Self.client])
    }

    /// Client and server name the fields of the server's schema alike.
    @Test func defaultsOfTheClientDoNotRenameFieldsOfTheServer() throws {
        let client = Source(
            "extend type User { note(first: Int = 3, mood: String = \"calm\"): String }")
        let document = try Document(
            parsing: "query Q { user { todos(first: null) { edges { cursor } } } }")
        let documents = try RelayDocuments(
            [document], schema: ExampleSchema.todo(), client: [client])
        let operation = try #require(documents.operation("Q")).request.operation
        #expect(operation.nullArguments == ["id"])
        #expect(operation.text.contains("todos ->"))
    }

    @Test func fieldsOfTheClientAreReadAndNotSent() throws {
        let documents = try compile(
            """
            query Q($id: ID!, $mine: ID) {
              user(id: $id) { userId isSelected(id: $mine) draft { text author { userId } ...Draft_draft } }
              settings { theme }
            }
            fragment Draft_draft on Draft { text }
            """)
        let operation = try #require(documents.operation("Q"))
        #expect(
            operation.text == """
                query Q($id: ID!) {
                  user(id: $id) {
                    userId
                    id
                  }
                }

                """)
        #expect(
            operation.request.fragment.text == """
                Q on Query($id, $mine)
                  user(id:$id or null) -> User
                    userId
                    client
                      isSelected(id:$mine or null)
                    client
                      draft -> Draft
                        client
                          text
                        client
                          author -> User
                            userId
                        ...Draft_draft
                  client
                    settings -> Settings
                      client
                        theme
                """)
        #expect(
            operation.request.operation.text == """
                Q($id, $mine)
                  user(id:$id or null) -> User
                    userId
                    client
                      isSelected(id:$mine or null)
                    client
                      draft -> Draft
                        client
                          text
                        client
                          author -> User
                            userId
                            id
                    id
                  client
                    settings -> Settings
                      client
                        theme
                """)
    }

    @Test func aSelectionOfClientFieldsAloneStillIsOne() throws {
        let documents = try compile("query Q { settings { theme } user { draft { text } } }")
        #expect(
            documents.operation("Q")?.text == """
                query Q {
                  user {
                    id
                  }
                }

                """)
        #expect(
            try compile("query Q { settings { theme } }").operation("Q")?.text == """
                query Q {
                  __typename
                }

                """)
    }

    @Test func typesOfTheClientAreInTheSchemaOfTheResult() throws {
        let documents = try compile("query Q { settings { theme } }")
        let field = try #require(
            documents.operation("Q")?.selections.entries.compactMap {
                if case .field(let field) = $0 { field } else { nil }
            }.first)
        #expect(documents.schema[field.definition.namedType].name == "Settings")
        #expect(documents.schema.isAdded(field.definition.location))
    }

    @Test(arguments: [
        Mistake(
            "query Q { user { name: __id name: userId } }",
            "Fields \"name\" conflict because \"__id\" and \"userId\" are different fields. Use different "
                + "aliases on the fields to fetch both if this was intentional. (1:18, 1:29)"),
        Mistake(
            "query Q { user { userId: draft { text } userId } }",
            "Fields \"userId\" conflict because \"draft\" and \"userId\" are different fields. Use different "
                + "aliases on the fields to fetch both if this was intentional. (1:18, 1:41)"),
        Mistake(
            "query Q { user { isSelected(id: 1) } user { ...F } } fragment F on User { isSelected }",
            "Fields \"user\" conflict because subfields \"isSelected\" conflict because they have differing "
                + "arguments. Use different aliases on the fields to fetch both if this was intentional. "
                + "(1:11, 1:18, 1:38, 1:75)"),
    ])
    func fieldsOfTheClientAreMergedByTheSameRule(_ mistake: Mistake) throws {
        #expect(
            try mistake.messages(ExampleSchema.todo(), client: [Self.client]) == mistake.expected)
    }

    @Test func mistakesInTheClientsSchemaAreInItsDocument() throws {
        let schema = try ExampleSchema.todo()
        do throws(RelayDocumentErrors) {
            _ = try RelayDocuments(
                [], schema: schema, client: [Source("extend type Usr { a: Int }", name: "c")])
            Issue.record("There is no type Usr.")
        } catch {
            #expect(
                error.description
                    == #"Cannot extend type "Usr" because it is not defined. Did you mean "User"? (1:13)"#
            )
            #expect(error.errors.first?.places.first?.source.name == "c")
        }
    }
}
