import RelayCompiler
import Testing

@Suite struct DocumentNamesTests {
    /// Files by name and text; what is wrong with the names in them.
    private func errors(_ files: KeyValuePairs<String, String>) -> [String] {
        var extraction = Extraction()
        for (file, text) in files { extraction.add(Array(text.utf8), file: file) }
        let (documents, errors) = extraction.parse()
        #expect(errors.map(\.description) == [])
        return DocumentNames.check(documents).map(\.description)
    }

    @Test func promise19AnOperationIsNamedAfterItsFileAndKind() {
        let swift = """
            private let mutation = graphql(\"""
                mutation ChangeTodoStatusMutation($input: ChangeTodoStatusInput!) {
                  changeTodoStatus(input: $input) { todo { id complete } }
                }
                \""")
            """
        #expect(errors(["Sources/App/ChangeTodoStatus.swift": swift]) == [])
        #expect(
            errors(["Sources/App/ToDoItem.swift": swift]) == [
                """
                Sources/App/ToDoItem.swift:2:14: error: Expected the mutation in ToDoItem.swift to be \
                named "ToDoItemMutation", not "ChangeTodoStatusMutation".
                  2 |     mutation ChangeTodoStatusMutation($input: ChangeTodoStatusInput!) {
                    |              ^
                """
            ])
        #expect(errors(["Added.swift": #"graphql("subscription AddedSubscription { a }")"#]) == [])
        #expect(
            errors([
                "List.swift": """
                graphql("query ListQuery { a }")
                graphql("fragment List_user on User { a } fragment List_todo on Todo { a }")
                """
            ]) == [])
    }

    @Test func otherNamesAreErrorsAtTheirPlaces() {
        #expect(
            errors([
                "List.swift": #"""
                graphql("{ a } fragment user on User { a }"); graphql("fragment List_ on User { a }")
                """#
            ]) == [
                #"""
                List.swift:1:10: error: Expected the query in List.swift to be named "ListQuery", but \#
                it has no name.
                  1 | graphql("{ a } fragment user on User { a }"); graphql("fragment List_ on User { a }")
                    |          ^
                """#,
                #"""
                List.swift:1:25: error: Expected the name of the fragment in List.swift to begin with \#
                "List_", not "user".
                  1 | graphql("{ a } fragment user on User { a }"); graphql("fragment List_ on User { a }")
                    |                         ^
                """#,
                #"""
                List.swift:1:65: error: Expected the name of the fragment in List.swift to begin with \#
                "List_", and to go on after it.
                  1 | graphql("{ a } fragment user on User { a }"); graphql("fragment List_ on User { a }")
                    |                                                                 ^
                """#,
            ])
    }

    @Test(arguments: ["List+Row", "2Do", "my-list", "Über", "A B", "", ".List"])
    func aFileWithoutAGraphQLNameHasOneError(_ name: String) {
        let swift = #"graphql("query Q { a } query R { a }"); graphql("query S { a }")"#
        #expect(
            errors(["Views/\(name).swift": swift]) == [
                """
                Views/\(name).swift:1:16: error: The names of GraphQL definitions begin with that of \
                their Swift file, and no GraphQL name can begin with \
                "\(name.isEmpty ? ".swift" : name)". Rename the file with letters, digits and "_" only, \
                or move the document to another.
                  1 | graphql("query Q { a } query R { a }"); graphql("query S { a }")
                    |                ^
                """
            ])
        #expect(errors(["Views/\(name).swift": "let a = 1"]) == [])
    }

    /// It is often a collection, and has a name like `mobile-app.graphql`.
    @Test func inAGraphQLFileEachOperationHasANameOfItsOwn() {
        let text = "query Q { ...a } mutation M { a } fragment a on Query { a }"
        #expect(errors(["my-queries.graphql": text]) == [])
        #expect(
            errors(["my-queries.graphql": "{ a }"]) == [
                """
                my-queries.graphql:1:1: error: Expected the query to have a name: its Swift type is \
                called by it.
                  1 | { a }
                    | ^
                """
            ])
    }

    @Test func aNameIsUsedOnceInAllFiles() {
        #expect(
            errors([
                "a/List.swift": #"graphql("query ListQuery { a }")"#,
                "Row.swift": #"graphql("query RowQuery { a } fragment Row_a on A { a }")"#,
                "b/List.swift": #"graphql("query ListQuery { b }")"#,
                "All.graphql": "fragment Row_a on A { a } fragment RowQuery on A { a }",
            ]) == [
                #"""
                a/List.swift:1:16: error: There can be only one operation named "ListQuery".
                  1 | graphql("query ListQuery { a }")
                    |                ^
                b/List.swift:1:16: note: Here, too.
                  1 | graphql("query ListQuery { b }")
                    |                ^
                """#,
                #"""
                Row.swift:1:16: error: An operation and a fragment cannot both be named "RowQuery": \#
                each is the Swift type of that name.
                  1 | graphql("query RowQuery { a } fragment Row_a on A { a }")
                    |                ^
                All.graphql:1:36: note: Here, too.
                  1 | fragment Row_a on A { a } fragment RowQuery on A { a }
                    |                                    ^
                """#,
                #"""
                Row.swift:1:40: error: There can be only one fragment named "Row_a".
                  1 | graphql("query RowQuery { a } fragment Row_a on A { a }")
                    |                                        ^
                All.graphql:1:10: note: Here, too.
                  1 | fragment Row_a on A { a } fragment RowQuery on A { a }
                    |          ^
                """#,
            ])
    }
}
