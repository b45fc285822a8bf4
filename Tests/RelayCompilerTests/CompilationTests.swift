import RelayCompiler
import Testing

@Suite struct CompilationTests {
    private static let schema = """
        type Query { user(id: ID = "me"): User @lookup }
        type User { id: ID! name: String born: Date }
        scalar Date
        """

    private func compile(
        _ files: [String: String], schema: String = schema, client: String = "",
        layout: Compilation.Layout = .byDefinition, persists: Bool = false
    ) throws(Compilation.Failure) -> Compilation {
        func input(_ name: String, _ text: String) -> Compilation.InputFile {
            .init(name: name, bytes: Array(text.utf8))
        }
        return try Compilation(
            files.sorted { $0.key < $1.key }.map { input($0.key, $0.value) },
            schema: [input("schema.graphql", schema)],
            client: client.isEmpty ? [] : [input("client.graphql", client)], layout: layout,
            persists: persists)
    }

    private static let list = """
        let query = graphql(\"""
            query ListQuery { user { ...List_user } }
            \""")
        let fragment = graphql(\"""
            fragment List_user on User { name }
            \""")
        """

    @Test func eachDefinitionHasAFile() throws {
        let compilation = try compile(["App/List.swift": Self.list, "App/Main.swift": "print(1)"])
        #expect(
            compilation.files.map(\.name) == [
                "ListQuery.graphql.swift", "List_user.graphql.swift", "Schema.graphql.swift",
            ])
        #expect((compilation.operationCount, compilation.fragmentCount) == (1, 1))
        #expect(compilation.persisted.isEmpty)
    }

    /// One of them would be lost where a disk does not tell capitals from small letters.
    @Test func namesOfFilesDifferInMoreThanCapitals() throws {
        let failure = #expect(throws: Compilation.Failure.self) {
            try compile(["A.graphql": "query Schema { user { id } }"])
        }
        #expect(
            failure?.description
                == "error: Two files would be called Schema.graphql.swift. Schema.graphql.swift has the schema's types. Rename one of the definitions."
        )
        let other = #expect(throws: Compilation.Failure.self) {
            try compile([
                "A.graphql": "fragment A_user on User { id } fragment A_User on User { id }",
                "B.graphql": "query SCHEMA { user { id } }",
            ])
        }
        #expect(
            other?.diagnostics.map(\.message) == [
                "Files would be called A_User.graphql.swift and A_user.graphql.swift, which some disks take "
                    + "for one. Rename one of the definitions.",
                "Files would be called SCHEMA.graphql.swift and Schema.graphql.swift, which some disks take "
                    + "for one. Schema.graphql.swift has the schema's types. Rename one of the definitions.",
            ])
        #expect(throws: Compilation.Failure.self) {
            try compile(["App/List.swift": Self.list, "App/list.swift": ""], layout: .byFile)
        }
        // Those without documents have files that are all the same.
        let files = ["App/List.swift": Self.list, "App/Row.swift": "", "App/row.swift": ""]
        #expect(try compile(files, layout: .byFile).files.count == 4)
    }

    /// No server gives it a value, so data without it is whole.
    @Test func aFieldOfTheClientAloneIsOptional() throws {
        let files = try compile(
            [
                "Row.graphql":
                    "fragment Row_user on User { id isSelected: isChosen again: isChosen @required(action: NONE) }"
            ],
            client: "extend type User { isChosen: Boolean! }"
        ).files
        let row = try #require(files.first { $0.name == "Row_user.graphql.swift" }).text
        #expect(row.contains("var id: String\n"))
        #expect(row.contains("var isSelected: Bool?\n"))
        #expect(row.contains("isSelected = try record.optionalBool(\"isSelected\")"))
        #expect(row.contains("var again: Bool\n"))
    }

    /// Also without a document: build systems name outputs before a tool runs.
    @Test func eachSourceOfABuildHasAFile() throws {
        let compilation = try compile(
            ["App/List.swift": Self.list, "App/Main.swift": "print(1)"], layout: .byFile)
        #expect(
            compilation.files.map(\.name) == [
                "List.graphql.swift", "Main.graphql.swift", "Schema.graphql.swift",
            ])
        let text = compilation.files[0].text
        #expect(text.contains("struct ListQuery") && text.contains("struct List_user"))
        #expect(!compilation.files[1].text.contains("struct"))
    }

    @Test func sourcesOfOneNameShareAFile() throws {
        let compilation = try compile(
            [
                "App/List.graphql": "fragment Row on User { id }", "App/List.swift": Self.list,
                "App/Main.graphql": "query All { user { ...Row } }", "App/Main.swift": "print(1)",
            ], layout: .byFile)
        #expect(
            compilation.files.map(\.name) == [
                "List.graphql.swift", "Main.graphql.swift", "Schema.graphql.swift",
            ])
        let text = compilation.files[0].text
        #expect(["struct Row", "struct ListQuery", "struct List_user"].allSatisfy(text.contains))
        #expect(compilation.files[1].text.contains("struct All"))
    }

    /// What is in `Schema.swift` is generated together with the schema's types.
    @Test func aSourceMayBeCalledLikeTheSchemasFile() throws {
        let files = [
            "App/Schema.swift": "let query = graphql(\"query SchemaQuery { mood }\")"
        ]
        let schema = "type Query { mood: Mood } enum Mood { GOOD }"
        let compilation = try compile(files, schema: schema, layout: .byFile)
        #expect(compilation.files.map(\.name) == ["Schema.graphql.swift"])
        let text = compilation.files[0].text
        #expect(text.contains("enum Mood") && text.contains("struct SchemaQuery"))
    }

    /// The operator's file says which text an id stands for.
    @Test func requestsCanNameTheirOperations() throws {
        let compilation = try compile(["List.swift": Self.list], persists: true)
        let (id, text) = try #require(compilation.persisted.first)
        #expect(id.hasPrefix("ListQuery-") && id.utf8.count == "ListQuery-".utf8.count + 16)
        #expect(text.hasPrefix("query ListQuery"))
        let code = try #require(compilation.files.first).text
        #expect(code.contains(id) && !code.contains("query ListQuery"))
        let other = Self.list.replacing("{ name }", with: "{ name id }")
        let changed = try compile(["List.swift": other], persists: true)
        #expect(changed.persisted.first?.id != id)
    }

    /// Syntax, names and types, each where it is.
    @Test func everythingThatIsWrongIsSaidAtOnce() {
        let failure = #expect(throws: Compilation.Failure.self) {
            try compile([
                "List.swift": Self.list.replacing("{ name }", with: "{ nam }"),
                "Other.swift": "let q = graphql(\"query ListQuery2 { user { id } }\")",
            ])
        }
        #expect(
            failure?.description == """
                List.swift:5:34: error: Cannot query field "nam" on type "User". Did you mean "name"?
                  5 |     fragment List_user on User { nam }
                    |                                  ^
                Other.swift:1:24: error: Expected the query in Other.swift to be named "OtherQuery", not "ListQuery2".
                  1 | let q = graphql("query ListQuery2 { user { id } }")
                    |                        ^
                """)
    }

    /// As the text has it: in order, each once, with all places.
    @Test func errorsAreValuesInOrder() {
        let failure = #expect(throws: Compilation.Failure.self) {
            try compile([
                "A.graphql": "query Q { user { id nam } }", "B.graphql": "query Q { user { id } }",
                "C.graphql": "query Q { user { id } } query { user { name } }",
            ])
        }
        let errors = failure?.diagnostics ?? []
        #expect(
            errors.map { "\($0.place?.file ?? ""): \($0.message)" } == [
                "A.graphql: There can be only one operation named \"Q\".",
                "A.graphql: Cannot query field \"nam\" on type \"User\". Did you mean \"name\"?",
                "C.graphql: Expected the query to have a name: its Swift type is called by it.",
                "C.graphql: This anonymous operation must be the only defined operation.",
            ])
        #expect(errors.first?.notes.map(\.place.file) == ["B.graphql", "C.graphql"])
    }

    /// The documents that have a syntax tree are checked, too; except for what the others may explain.
    @Test func aSyntaxErrorDoesNotHideTheErrorsOfOthers() {
        let failure = #expect(throws: Compilation.Failure.self) {
            try compile([
                "A.graphql": "query A($a: ID) { user { nam ...B } }",
                "B.graphql": "fragment B on User { id ...C }", "C.graphql": "fragment C on User {",
                "D.graphql": "query D($d: ID) { user { id ...A } }",
                "E.swift": "graphql(\"query { user }\") + graphql(\"\\(x)\")",
            ])
        }
        #expect(
            failure?.diagnostics.map { "\($0.place?.file ?? ""): \($0.message)" } == [
                "A.graphql: Cannot query field \"nam\" on type \"User\". Did you mean \"name\"?",
                "C.graphql: Syntax Error: Expected Name, found <EOF>.",
                "E.swift: Expected the query in E.swift to be named \"EQuery\", but it has no name.",
                "E.swift: This anonymous operation must be the only defined operation.",
                "E.swift: Field \"user\" of type \"User\" must have a selection of subfields. Did you mean "
                    + "\"user { ... }\"?",
                "E.swift: A GraphQL document cannot contain an interpolation: it is read before the program runs. "
                    + "Use a variable of the operation.",
            ])
    }

    /// What is wrong with a use of a fragment or a variable that is known has nothing to do with others.
    @Test func whatOthersCannotExplainIsSaidBesideASyntaxError() {
        let failure = #expect(throws: Compilation.Failure.self) {
            try compile([
                "A.graphql": "query A($a: ID) { user { ...B } }",
                "B.graphql": "fragment B on User { id name(x: $b) }", "C.graphql": "{",
            ])
        }
        #expect(
            failure?.diagnostics.map(\.message) == [
                "Variable \"$a\" is never used in operation \"A\".",
                "Unknown argument \"x\" on field \"User.name\".",
                "Variable \"$b\" is not defined by operation \"A\".",
                "Syntax Error: Expected Name, found <EOF>.",
            ])
    }

    /// A connection's edges may be selected where nobody knows.
    @Test func whatAConnectionSelectsMayBeInAnotherDocument() {
        let schema = """
            type Query { users(first: Int, after: String): Users }
            type Users { edges: [Edge] pageInfo: PageInfo }
            type Edge { cursor: String node: User }
            type PageInfo { endCursor: String hasNextPage: Boolean startCursor: String hasPreviousPage: Boolean }
            type User { id: ID! }
            """
        let failure = #expect(throws: Compilation.Failure.self) {
            try compile(
                [
                    "A.graphql": """
                    query A { users(first: 1) @connection(key: "A_users") { edges { ...C @relay(mask: false) } } }
                    """, "C.graphql": "fragment C on Edge {",
                ], schema: schema)
        }
        #expect(failure?.diagnostics.map { $0.place?.file } == ["C.graphql"])
        // In any of several places; it says nothing of the connection's arguments.
        let other = #expect(throws: Compilation.Failure.self) {
            try compile(
                [
                    "A.graphql": """
                    query A {
                      users @connection(key: "A_users") {
                        edges { cursor } ... on Users { edges { ...C @relay(mask: false) } } ...D
                      }
                    }
                    """, "C.graphql": "fragment C on Edge {", "D.graphql": "fragment D on Users {",
                ], schema: schema)
        }
        #expect(
            other?.diagnostics.map { "\($0.place?.file ?? ""): \($0.message)" } == [
                "A.graphql: Expected field \"users\" to have a \"first\" or \"last\" argument.",
                "C.graphql: Syntax Error: Expected Name, found <EOF>.",
                "D.graphql: Syntax Error: Expected Name, found <EOF>.",
            ])
    }

    @Test func aMistakeInTheSchemaHasItsPlace() {
        let failure = #expect(throws: Compilation.Failure.self) {
            try compile([:], schema: "type Query { user: Usr }\ntype User { id: ID! }")
        }
        #expect(
            failure?.description.hasPrefix("schema.graphql:1:20: error: Unknown type \"Usr\".")
                == true)
    }
}
