import RelayJSON
import Testing

@testable import GraphQLLanguage

@Suite struct IntrospectionTests {
    private let schema: Schema

    init() throws {
        schema = try Schema.build(
            [
                Source(
                    """
                    interface Node { id: ID! }
                    "A user."
                    type User implements Node { id: ID! old(a: Int @deprecated, b: [Int!]! = [1]): String @deprecated }
                    union Any = User
                    enum Kind { A B @deprecated(reason: "gone") }
                    input One @oneOf { a: Int b: Kind }
                    input Many { a: Int @deprecated b: String = "x" }
                    scalar Url @specifiedBy(url: "https://url.example")
                    type Query { node: Node any(one: One, many: Many): Any kind: Kind url: Url at: Moment }
                    directive @onField(a: Int @deprecated, b: Int) repeatable on FIELD
                    """)
            ],
            predefined: [
                Source(
                    """
                    enum Moment { CREATE }
                    scalar Constant
                    directive @count(where: Constant) on FIELD_DEFINITION
                    directive @live on FIELD_DEFINITION | QUERY
                    """)
            ])
    }

    private func ask(_ text: String) throws -> String {
        try IntrospectionExecutor(schema, text).run().text
    }

    @Test func schemaKnowsItsRootTypesAndDirectives() throws {
        #expect(
            try ask(
                "{ __schema { __typename queryType { name } mutationType { name } description } }")
                == #"{"__schema":{"__typename":"__Schema","queryType":{"name":"Query"},"mutationType":null,"description":null}}"#
        )
        #expect(
            try ask("{ __schema { directives { name isRepeatable locations } } }")
                == #"{"__schema":{"directives":["#
                + #"{"name":"skip","isRepeatable":false,"locations":["FIELD","FRAGMENT_SPREAD","INLINE_FRAGMENT"]},"#
                + #"{"name":"include","isRepeatable":false,"locations":["FIELD","FRAGMENT_SPREAD","INLINE_FRAGMENT"]},"#
                + #"{"name":"deprecated","isRepeatable":false,"locations":["FIELD_DEFINITION","ARGUMENT_DEFINITION","INPUT_FIELD_DEFINITION","ENUM_VALUE"]},"#
                + #"{"name":"specifiedBy","isRepeatable":false,"locations":["SCALAR"]},"#
                + #"{"name":"oneOf","isRepeatable":false,"locations":["INPUT_OBJECT"]},"#
                + #"{"name":"live","isRepeatable":false,"locations":["FIELD_DEFINITION","QUERY"]},"#
                + #"{"name":"onField","isRepeatable":true,"locations":["FIELD"]}]}}"#)
    }

    @Test func predefinedTypesAreHiddenUnlessTheyAreUsed() throws {
        #expect(
            try ask(#"{ a: __type(name: "Moment") { name } b: __type(name: "Constant") { name } }"#)
                == #"{"a":{"name":"Moment"},"b":null}"#)
        let names = try ask("{ __schema { types { name } } }")
        #expect(names.contains(#""Moment""#) && names.contains(#""__Directive""#))
        #expect(!names.contains(#""Constant""#) && !names.contains(#""Float""#))
    }

    @Test func eachKindOfTypeAnswersItsOwnFieldsAndNullToTheOthers() throws {
        let all = """
            { kind name fields { name } interfaces { name } possibleTypes { name }
              enumValues { name } inputFields { name } ofType { name } isOneOf specifiedByURL }
            """
        func type(_ name: String) throws -> String {
            try ask("{ __type(name: \"\(name)\") \(all) }")
        }
        #expect(
            try type("User")
                == #"{"__type":{"kind":"OBJECT","name":"User","fields":[{"name":"id"}],"interfaces":[{"name":"Node"}],"possibleTypes":null,"enumValues":null,"inputFields":null,"ofType":null,"isOneOf":null,"specifiedByURL":null}}"#
        )
        #expect(
            try type("Node")
                == #"{"__type":{"kind":"INTERFACE","name":"Node","fields":[{"name":"id"}],"interfaces":[],"possibleTypes":[{"name":"User"}],"enumValues":null,"inputFields":null,"ofType":null,"isOneOf":null,"specifiedByURL":null}}"#
        )
        #expect(
            try type("Any")
                == #"{"__type":{"kind":"UNION","name":"Any","fields":null,"interfaces":null,"possibleTypes":[{"name":"User"}],"enumValues":null,"inputFields":null,"ofType":null,"isOneOf":null,"specifiedByURL":null}}"#
        )
        #expect(
            try type("Kind")
                == #"{"__type":{"kind":"ENUM","name":"Kind","fields":null,"interfaces":null,"possibleTypes":null,"enumValues":[{"name":"A"}],"inputFields":null,"ofType":null,"isOneOf":null,"specifiedByURL":null}}"#
        )
        #expect(
            try type("One")
                == #"{"__type":{"kind":"INPUT_OBJECT","name":"One","fields":null,"interfaces":null,"possibleTypes":null,"enumValues":null,"inputFields":[{"name":"a"},{"name":"b"}],"ofType":null,"isOneOf":true,"specifiedByURL":null}}"#
        )
        #expect(
            try type("Url")
                == #"{"__type":{"kind":"SCALAR","name":"Url","fields":null,"interfaces":null,"possibleTypes":null,"enumValues":null,"inputFields":null,"ofType":null,"isOneOf":null,"specifiedByURL":"https://url.example"}}"#
        )
        #expect(try type("Absent") == #"{"__type":null}"#)
    }

    @Test func deprecatedMembersComeOnDemand() throws {
        #expect(
            try ask(
                """
                { __type(name: "User") { fields(includeDeprecated: true) { name isDeprecated deprecationReason
                  args(includeDeprecated: true) { name isDeprecated defaultValue } } } }
                """)
                == #"{"__type":{"fields":[{"name":"id","isDeprecated":false,"deprecationReason":null,"args":[]},"#
                + #"{"name":"old","isDeprecated":true,"deprecationReason":"No longer supported","args":["#
                + #"{"name":"a","isDeprecated":true,"defaultValue":null},{"name":"b","isDeprecated":false,"defaultValue":"[1]"}]}]}}"#
        )
        #expect(
            try ask(#"{ __type(name: "Many") { inputFields { name defaultValue } } }"#)
                == #"{"__type":{"inputFields":[{"name":"b","defaultValue":"\"x\""}]}}"#)
        #expect(
            try ask(
                #"{ __type(name: "Kind") { enumValues(includeDeprecated: true) { name deprecationReason } } }"#
            )
                == #"{"__type":{"enumValues":[{"name":"A","deprecationReason":null},{"name":"B","deprecationReason":"gone"}]}}"#
        )
    }

    @Test func wrappersOpenFromTheOutside() throws {
        #expect(
            try ask(
                """
                { __type(name: "User") { fields(includeDeprecated: true) { args { type {
                  kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind } } } } } } } } }
                """)
                == #"{"__type":{"fields":[{"args":[]},{"args":[{"type":{"kind":"NON_NULL","name":null,"ofType":{"kind":"LIST","name":null,"ofType":{"kind":"NON_NULL","name":null,"ofType":{"kind":"SCALAR","name":"Int","ofType":null}}}}}]}]}}"#
        )
    }

    @Test func introspectionTypesDescribeThemselves() throws {
        #expect(
            try ask(#"{ __type(name: "__Type") { kind fields { name } } }"#)
                == #"{"__type":{"kind":"OBJECT","fields":[{"name":"kind"},{"name":"name"},{"name":"description"},{"name":"specifiedByURL"},{"name":"fields"},{"name":"interfaces"},{"name":"possibleTypes"},{"name":"enumValues"},{"name":"inputFields"},{"name":"ofType"},{"name":"isOneOf"}]}}"#
        )
    }
}
