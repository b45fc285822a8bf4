import RelayJSON
import Testing

@testable import GraphQLLanguage

@Suite struct IntrospectionReaderTests {
    /// Introspects a schema, makes a schema of the answer and prints that.
    private func rebuilt(_ schema: Schema) throws -> String {
        let answer = try IntrospectionExecutor(schema, Schema.introspectionQuery).run()
        return try Schema.build(introspection: .object(JSONObject([("data", answer)]))).printed()
    }

    @Test func aSchemaSurvivesIntrospection() throws {
        let schema = try Schema.build(
            #"""
            "All of it."
            schema { query: Root mutation: Mutation }
            interface Node { id: ID! }
            interface Named implements Node { id: ID! "the name" name: String @deprecated }
            """
            A user,
            on two lines.
            """
            type User implements Named & Node {
              id: ID!
              name: String @deprecated(reason: "say \"nick\"")
              list(first: Int! = 3, by: Filter = { text: "x", deep: { kinds: [A, B] } }): [[User!]!]!
            }
            type Root { any: Any @deprecated user(
              "which"
              id: ID!
              or: One
            ): User }
            type Mutation { do(it: Url): Float }
            union Any = User | Root
            enum Kind { "first" A B @deprecated }
            input Filter { text: String! = "a" deep: Filter kinds: [Kind!] old: Int @deprecated }
            input One @oneOf { a: Int b: String }
            scalar Url @specifiedBy(url: "https://url.example")
            directive @mine("why" reason: String = "because") repeatable on FIELD | QUERY
            """#)
        #expect(try rebuilt(schema) == schema.printed())
        // And the printed text makes the same schema again.
        #expect(try Schema.build(schema.printed()).printed() == schema.printed())
    }

    @Test func whatIsHiddenStaysHidden() throws {
        let schema = try Schema.build(
            [Source("type Query { a: Int @count }")],
            predefined: [Source("directive @count on FIELD_DEFINITION")])
        #expect(try rebuilt(schema) == "type Query {\n  a: Int\n}")
    }

    @Test(arguments: [
        ("null", "__schema should be an object, but it is null."),
        (#"{"types": 3}"#, "__schema.types should be a list, but it is 3."),
        (#"{"types": [{}]}"#, "__schema.types[0].name should be a string, but it is null."),
        (
            #"{"types": [{"name": "A", "kind": "LIST"}]}"#,
            #"__schema.types[0].kind should be the kind of a named type, but it is "LIST"."#
        ),
        (
            #"{"directives": [{"name": "a", "locations": ["HERE"]}]}"#,
            #"__schema.directives[0].locations[0] should be a place for directives, but it is "HERE"."#
        ),
        (
            #"{"types": [{"name": "A", "kind": "OBJECT", "fields": [{"name": "b", "type": {"kind": "NON_NULL", "ofType": {"kind": "NON_NULL", "ofType": {"name": "C"}}}}]}]}"#,
            #"__schema.types[0].fields[0].type.ofType should be a type without `!`, but it is {"kind":"NON_NULL","ofType":{"name":"C"}}."#
        ),
    ]) func whatCannotBeReadIsNamed(_ text: String, _ message: String) throws {
        let value = try JSONValue(parsing: text)
        do {
            _ = try Schema.build(introspection: value)
            Issue.record("no error")
        } catch {
            #expect(error.description == "The introspection result cannot be read: " + message)
        }
    }

    @Test func schemaErrorsHaveNoPlaces() throws {
        let value = try JSONValue(
            parsing:
                #"{"queryType": {"name": "Q"}, "types": [{"kind": "OBJECT", "name": "Q", "fields": [{"name": "a", "type": {"kind": "SCALAR", "name": "Missing"}}]}]}"#
        )
        do {
            _ = try Schema.build(introspection: value)
            Issue.record("no error")
        } catch {
            #expect(error.errors == [SchemaError("Unknown type \"Missing\".")])
        }
    }
}
