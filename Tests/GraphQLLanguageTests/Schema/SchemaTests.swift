import Testing

@testable import GraphQLLanguage

@Suite struct SchemaTests {
    private let schema: Schema

    init() throws {
        schema = try Schema.build(
            """
            interface Node { id: ID! }
            interface Named implements Node { id: ID! name: String }
            type User implements Node & Named { id: ID! name: String best: Todo }
            type Todo implements Node { id: ID! text(upper: Boolean = false): String! }
            union Hit = User | Todo
            union Only = Todo
            enum Kind { A B @deprecated(reason: "gone") C @deprecated }
            input Filter { text: String! kind: Kind = A }
            input One @oneOf { a: Int b: String }
            scalar Url @specifiedBy(url: "https://url.example")
            type Query { node(id: ID!, filter: Filter, one: One): Node url: Url hit: Hit only: Only kind: Kind }
            extend type Query { added: [Todo!]! @extra(n: 3) }
            extend enum Kind { D }
            directive @extra(n: Int!) on FIELD_DEFINITION
            """)
    }

    private func type(_ name: String) throws -> NamedType { try #require(schema.type(named: name)) }

    @Test func rootTypesAreKnownByName() {
        #expect(schema.rootType(of: .query)?.name == "Query")
        #expect(schema.rootType(of: .mutation) == nil)
    }

    @Test func membersAreFoundByNameAndKeepTheirOrder() throws {
        let query = try type("Query")
        #expect(query.fields.map(\.name) == ["node", "url", "hit", "only", "kind", "added"])
        let node = try #require(query.field("node"))
        #expect(node.arguments.map(\.name) == ["id", "filter", "one"])
        #expect(node.argument("id")?.isRequired == true)
        #expect(schema.print(try #require(query.field("added")).type) == "[Todo!]!")
        #expect(query.field("absent") == nil)
        #expect(try type("Filter").inputField("kind")?.defaultValue?.printed() == "A")
        #expect(try type("Filter").inputField("text")?.isRequired == true)
        #expect(try type("Filter").field("text") == nil)
        #expect(try type("Kind").values.map(\.name) == ["A", "B", "C", "D"])
    }

    @Test func directivesOnDefinitionsAreKept() throws {
        let added = try #require(try type("Query").field("added"))
        guard case .int("3") = added.directives.named("extra")?.argument("n")?.kind else {
            Issue.record("@extra was lost")
            return
        }
        #expect(try type("Kind").value("B")?.deprecationReason == "gone")
        #expect(try type("Kind").value("C")?.deprecationReason == "No longer supported")
        #expect(try type("Kind").value("A")?.deprecationReason == nil)
        #expect(try type("Url").specifiedByURL == "https://url.example")
        #expect(try type("One").isOneOf)
    }

    @Test func abstractTypesKnowTheirPossibleTypes() throws {
        let (user, todo) = (try type("User"), try type("Todo"))
        let (node, named) = (try type("Node"), try type("Named"))
        let (hit, only) = (try type("Hit"), try type("Only"))
        #expect(schema.possibleTypes(of: node.id) == [user.id, todo.id])
        #expect(schema.possibleTypes(of: hit.id) == [user.id, todo.id])
        #expect(schema.possibleTypes(of: user.id) == [user.id])
        #expect(schema.implementations(of: node.id) == [named.id, user.id, todo.id])
        #expect(schema.isSubType(user.id, of: named.id))
        #expect(schema.isSubType(named.id, of: node.id))
        #expect(!schema.isSubType(todo.id, of: named.id))
        #expect(schema.overlap(named.id, hit.id))
        #expect(!schema.overlap(named.id, only.id))
        #expect(schema.overlap(node.id, only.id))
    }

    @Test func wrappedTypesVaryThroughListsAndNonNulls() throws {
        func subType(_ type: String, _ other: String) throws -> Bool {
            let type = try #require(schema.resolve(try TypeReference(parsing: type)))
            let other = try #require(schema.resolve(try TypeReference(parsing: other)))
            return schema.isSubType(type, of: other)
        }
        #expect(try subType("[User!]!", "[Node]"))
        #expect(try subType("User", "Hit"))
        #expect(try !subType("[Node]", "[Node!]"))
        #expect(try !subType("User", "[User]"))
        #expect(try !subType("[User]", "User"))
        #expect(schema.resolve(try TypeReference(parsing: "[Absent]")) == nil)
    }

    @Test func metaFieldsAreWhereTheyBelong() throws {
        #expect(schema.field("__typename", on: try type("Hit")) === schema.typenameField)
        #expect(schema.field("__schema", on: try type("Query")) === schema.schemaField)
        #expect(schema.field("__type", on: try type("Query"))?.arguments.count == 1)
        #expect(schema.field("__schema", on: try type("User")) == nil)
        #expect(schema.field("__typename", on: try type("Filter")) == nil)
        #expect(schema.field("__other", on: try type("Query")) == nil)
    }

    @Test func onlyMentionedBuiltInScalarsArePartOfTheSchema() throws {
        #expect(schema.type(named: "Int") != nil)
        #expect(schema.type(named: "Float") == nil)
        #expect(schema.type(named: "__Type") != nil)
        #expect(schema.type(named: "__MetaFields") == nil)
    }

    @Test func placesAreFoundInEveryDocument() throws {
        let schema = try Schema.build(
            [Source("type Query {\n a: A }"), Source("\n\n  type A { b: Int }")])
        let a = try #require(schema.type(named: "A"))
        #expect(schema.place(of: a.locations[0])?.location == SourceLocation(line: 3, column: 3))
        let field = try #require(schema.type(named: "Query")?.field("a"))
        #expect(
            schema.place(of: field.typeLocation)?.location == SourceLocation(line: 2, column: 5))
    }

    @Test func predefinedDefinitionsAreUsableAndHidden() throws {
        let predefined = Source(
            """
            scalar Constant
            directive @count(where: Constant) on FIELD_DEFINITION
            directive @live on FIELD_DEFINITION | QUERY
            """)
        let schema = try Schema.build(
            [Source("type Query { a: Int @count(where: { b: [1, ANY] }) @live }")],
            predefined: [predefined])
        #expect(schema.directive(named: "count")?.isHidden == true)
        #expect(schema.directive(named: "live")?.isHidden == false)
        #expect(schema.type(named: "Constant")?.origin == .predefined)
        #expect(
            schema.printed()
                == "directive @live on FIELD_DEFINITION | QUERY\n\ntype Query {\n  a: Int\n}")
        #expect(schema.printed(includesHidden: true).contains("scalar Constant"))
    }

    @Test func aDocumentMayDefineSpecifiedDirectivesItself() throws {
        let schema = try Schema.build(
            """
            directive @deprecated(reason: String = "x") on FIELD_DEFINITION
            scalar ID
            type Query { a: ID @deprecated }
            """)
        #expect(schema.directive(named: "deprecated")?.locations == [.fieldDefinition])
        #expect(schema.directive(named: "skip") != nil)
        #expect(schema.printed() == "type Query {\n  a: ID @deprecated\n}")
    }
}
