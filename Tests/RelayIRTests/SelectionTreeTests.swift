import GraphQLLanguage
import RelayIR
import Testing

@Suite struct SelectionTreeTests {
    private static let text = """
        query Q($id: ID!, $open: Boolean = true, $more: Boolean!) {
          node(id: $id) { ... on Issue { ...F @relay(mask: false) ...G } }
        }
        fragment F on Issue { author @required(action: LOG) { login } author @required(action: LOG) { name @include(if: $more) @skip(if: $open) } }
        fragment G on Issue { title project: open }
        """

    @Test func aTreeHasWhatItsReaderReads() throws {
        let documents = try compile(Self.text, ExampleSchema.tracker())
        let operation = try #require(documents.operation("Q"))
        #expect(
            operation.selections.text == """
                Query
                  node: Node
                    Issue
                      author: Person @required
                        login: String!
                        if $more
                          unless $open
                            name: String
                      ...G on Issue
                """)
        #expect(
            documents.fragment("G")?.selections.text == """
                Issue
                  title: String!
                  project: Boolean!
                """)
    }

    @Test func theCompleteTreeHasWhatAResponseContains() throws {
        let operation = try #require(
            try compile(Self.text, ExampleSchema.tracker()).operation("Q"))
        #expect(
            operation.completeSelections.text == """
                Query
                  node: Node
                    __typename: String!
                    Issue
                      author: Person @required
                        login: String!
                        id: ID!
                        if $more
                          unless $open
                            name: String
                      title: String!
                      project: Boolean!
                    id: ID!
                """)
    }

    /// Or each of these levels would double the work: 2 to the power of 60 in all.
    @Test func aFragmentIsWrittenOutOnceAtOnePlace() throws {
        for mask in ["", " @relay(mask: false)"] {
            let levels = (0..<60).map { level in
                "fragment F\(level) on Issue { ...F\(level + 1)\(mask) ...F\(level + 1)\(mask) }"
            }
            let documents = try compile(
                "query Q { node(id: 1) { ...F0\(mask) ...F0\(mask) } } fragment F60 on Issue { title }"
                    + levels.joined(separator: "\n"), ExampleSchema.tracker())
            #expect(
                documents.operation("Q")?.completeSelections.text == """
                    Query
                      node: Node
                        __typename: String!
                        Issue
                          title: String!
                        id: ID!
                    """)
        }
    }

    /// What a connection's handler needs is in the tree, and no document has it.
    @Test func fieldsSayWhetherADocumentHasThem() throws {
        let documents = try compile(
            """
            query Q($after: String) {
              projects(first: 1, after: $after) @connection(key: "Q_projects") { edges { node { key } } }
            }
            """, ExampleSchema.tracker())
        var written: [String] = []
        var added: [String] = []
        func collect(_ tree: SelectionTree) {
            for case .field(let field) in tree.entries {
                if field.isWritten {
                    written.append(field.name)
                } else {
                    added.append(field.name)
                }
                if let inner = field.tree { collect(inner) }
            }
        }
        collect(try #require(documents.operation("Q")).selections)
        #expect(written == ["projects", "edges", "node", "key"])
        #expect(added == ["__typename", "cursor", "pageInfo", "endCursor", "hasNextPage"])
    }

    @Test func variablesHaveTheirTypesAndDefaults() throws {
        let schema = try ExampleSchema.tracker()
        let operation = try #require(try compile(Self.text, schema).operation("Q"))
        #expect(
            operation.variables.map {
                "\($0.name): \(schema.print($0.type))"
                    + ($0.defaultValue.map { " = \($0.printed())" } ?? "")
            } == ["id: ID!", "open: Boolean = true", "more: Boolean!"])
    }
}

extension SelectionTree {
    fileprivate var text: String {
        guard let schema = try? ExampleSchema.tracker() else { return "" }
        return ([type.name] + lines(schema).map { "  " + $0 }).joined(separator: "\n")
    }

    private func lines(_ schema: Schema) -> [String] {
        entries.flatMap { entry -> [String] in
            let (head, inner): (String, SelectionTree?) =
                switch entry {
                case .field(let field):
                    (
                        ([field.responseName + ": " + schema.print(field.definition.type)]
                            + field.directives.map { "@\($0.name.value)" })
                            .joined(separator: " "), field.tree
                    )
                case .fragment(let type, let tree): (type.name, tree)
                case .alias(let name, let type, let tree): ("\(name): \(type.name)", tree)
                case .condition(let variable, let passingValue, let tree):
                    ("\(passingValue ? "if" : "unless") $\(variable)", tree)
                case .spread(let spread):
                    ("...\(spread.fragment.name.value) on \(spread.type.name)", nil)
                case .discriminator(let key): (key, nil)
                }
            return [head] + (inner?.lines(schema) ?? []).map { "  " + $0 }
        }
    }
}
