import GraphQLLanguage
import Testing

@Suite struct SchemaExtensionTests {
    private static let server = """
        directive @known on FIELD
        type Query { user: User }
        type User { name: String }
        """

    @Test func anExtendedSchemaHasBothAndKnowsWhatWasAdded() throws {
        let schema = try Schema.build(Self.server)
        let extended = try schema.extended(
            by: [Source("extend type User { draft: Draft } type Draft { text: String! }")],
            predefined: [Source("directive @known on QUERY directive @new on FIELD")])
        let user = try #require(extended.type(named: "User"))
        #expect(user.fields.map(\.name) == ["name", "draft"])
        #expect(user.fields.map { extended.isAdded($0.location) } == [false, true])
        #expect(extended.type(named: "Draft")?.locations.map(extended.isAdded) == [true])
        #expect(!extended.isAdded(extended.typenameField.location))
        // What the schema has itself is not predefined again.
        #expect(extended.directive(named: "known")?.locations == [.field])
        #expect(extended.directive(named: "new").map { extended.isAdded($0.location) } == false)
        #expect(schema.type(named: "Draft") == nil)
    }

    @Test func whatAnExtensionAddsStaysAddedInAFurtherOne() throws {
        let schema = try Schema.build(Self.server)
            .extended(by: [Source("extend type User { a: Int }")])
            .extended(by: [Source("extend type User { b: Int }")])
        let user = try #require(schema.type(named: "User"))
        #expect(user.fields.map { schema.isAdded($0.location) } == [false, true, true])
    }

    @Test func errorsOfAnExtensionAreInItsDocument() throws {
        let schema = try Schema.build(Self.server)
        do throws(SchemaErrors) {
            _ = try schema.extended(by: [Source("extend type Usr { a: Int }", name: "client")])
            Issue.record("There is no type Usr.")
        } catch {
            #expect(
                error.description
                    == #"Cannot extend type "Usr" because it is not defined. Did you mean "User"? (1:13)"#
            )
            #expect(error.errors.first?.places.first?.source.name == "client")
        }
    }
}
