import GraphQLLanguage
import RelayIR
import Testing

@Suite struct DocumentNamesTests {
    private func errors(_ text: String, in file: String) throws -> [String] {
        let document = try Document(parsing: text)
        do throws(RelayDocumentErrors) {
            try DocumentNames.check(document, file: file)
            return []
        } catch {
            return error.errors.map(\.description)
        }
    }

    @Test func promise19AnOperationIsNamedAfterItsFileAndKind() throws {
        let document = """
            mutation ChangeTodoStatusMutation($input: ChangeTodoStatusInput!) {
              changeTodoStatus(input: $input) { todo { id complete } }
            }
            """
        #expect(try errors(document, in: "ChangeTodoStatus") == [])
        #expect(
            try errors(document, in: "ToDoItem") == [
                """
                Expected the mutation in ToDoItem.swift to be named "ToDoItemMutation", not \
                "ChangeTodoStatusMutation". (1:10)
                """
            ])
        #expect(
            try errors("query ListQuery { a } fragment List_user on User { a }", in: "List") == [])
        #expect(try errors("subscription AddedSubscription { a }", in: "Added") == [])
        #expect(
            try errors("{ a } fragment user on User { a }", in: "List") == [
                """
                Expected the query in List.swift to be named "ListQuery", not to have no name. (1:1)
                """,
                """
                Expected the name of the fragment in List.swift to begin with "List_", not \
                "user". (1:16)
                """,
            ])
    }
}
