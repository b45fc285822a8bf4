import Testing

@testable import GraphQLLanguage

@Suite struct SchemaPrinterTests {
    private func expectRoundTrip(
        _ text: String, _ sourceLocation: Testing.SourceLocation = #_sourceLocation
    )
        throws
    {
        #expect(try Schema.build(text).printed() == text, sourceLocation: sourceLocation)
    }

    @Test func printsEveryKindOfType() throws {
        try expectRoundTrip(
            """
            directive @a(x: Int = 1, y: [String!]) repeatable on FIELD | QUERY

            scalar Url @specifiedBy(url: "https://url.example")

            interface Node {
              id: ID!
            }

            interface Named implements Node {
              id: ID!
              name: String @deprecated
            }

            type Query implements Named & Node {
              id: ID!
              name(in: [Kind!]! = [A, B], by: Filter = {text: "x"}): String @deprecated(reason: "old")
              any: Any
              url: Url
              one: Float
            }

            union Any = Query

            enum Kind {
              A
              B @deprecated
            }

            input Filter {
              text: String! = "a"
              old: Int @deprecated
            }

            input One @oneOf {
              a: Int
            }
            """)
    }

    @Test func printsDescriptionsWhereverTheyStand() throws {
        try expectRoundTrip(
            #"""
            """The schema."""
            schema {
              query: Query
            }

            """A directive."""
            directive @a(
              """x is described"""
              x: Int
              y: Int
            ) on FIELD

            """
            A type with
            two lines and a very long one, so long that it does not fit on seventy columns at all.
            """
            type Query {
              """first"""
              a: Int
              b(
                """an argument"""
                c: Int

                """another"""
                d: Int
              ): Int

              """
              ends with "quotes"
              """
              e: Kind
            }

            enum Kind {
              """first"""
              A

              """second"""
              B
            }

            """\ """
            scalar Slash
            """#)
    }

    @Test func printsRootTypesWithUnusualNames() throws {
        try expectRoundTrip(
            """
            schema {
              query: Root
              subscription: Stream
            }

            type Root {
              a: Int
            }

            type Stream {
              a: Int
            }
            """)
    }

    @Test func typesThatAreNotRootsMayHaveTheUsualNamesOfRoots() throws {
        let text = """
            schema {
              query: Query
            }

            type Query {
              a: Mutation
            }

            type Mutation {
              a: Int
            }
            """
        let schema = try Schema.build(text)
        #expect(schema.mutationType == nil)
        let printed = try Schema.build(schema.printed())
        #expect(printed.mutationType == nil)
    }

    @Test func theExamplesOfTheServiceRoundTrip() throws {
        for text in [typeSystemExample] {
            let printed = try Schema.build(text).printed()
            #expect(try Schema.build(printed).printed() == printed)
        }
    }
}

private let typeSystemExample = """
    type Query { a(b: [Int] = [1, 2], c: In = { x: { y: "s" } }): A }
    input In { x: In y: String }
    extend type A implements I { c: Int }
    interface I { c: Int }
    type A { b: String }
    """
