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

    @Test func aMistakeInTheSchemaHasItsPlace() {
        let failure = #expect(throws: Compilation.Failure.self) {
            try compile([:], schema: "type Query { user: Usr }\ntype User { id: ID! }")
        }
        #expect(
            failure?.description.hasPrefix("schema.graphql:1:20: error: Unknown type \"Usr\".")
                == true)
    }

    // MARK: relay.json

    @Test func aConfigurationIsRead() throws {
        let text = """
            {"schema": "a.graphql", "client": ["b.graphql"], "scalars": {"Date": "MyDate"},
             "imports": ["Dates"], "access": "public"}
            """
        let configuration = try Configuration(parsing: Array(text.utf8))
        #expect(configuration.schema == ["a.graphql"] && configuration.client == ["b.graphql"])
        #expect(configuration.scalars == ["Date": "MyDate"] && configuration.imports == ["Dates"])
        #expect(configuration.access == .public)
    }

    @Test(arguments: [
        ("", "Invalid JSON at byte 0: the text ends too early."),
        ("[]", "It must be a JSON object"),
        (#"{"schema": 1}"#, "\"schema\" must be a string, or a list of strings."),
        (#"{"schema": ["a", 1]}"#, "\"schema\" must be a string, or a list of strings."),
        (#"{"scalars": {"Date": 1}}"#, "\"scalars\" must be an object"),
        (#"{"access": "all"}"#, "\"access\" must be"),
        (#"{"shema": "a"}"#, "unknown member \"shema\""),
    ])
    func aConfigurationThatIsNoneSaysWhy(_ text: String, _ message: String) {
        let mistake = #expect(throws: Configuration.Mistake.self) {
            try Configuration(parsing: Array(text.utf8))
        }
        #expect(mistake?.description.contains(message) == true)
    }
}
