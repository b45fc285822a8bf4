import Testing

@testable import GraphQLLanguage

@Suite struct KnownTypeNamesRuleTests {
    @Test func knownTypesAreFine() {
        expectErrors(
            in: """
                query Q($v: String, $r: [String!]!) { human(id: $v) { pets { ... on Pet { name } ...F } } complicatedArgs { stringListArgField(stringListArg: $r) } }
                fragment F on Being { name }
                """,
            """
            Variable "$v" of type "String" used in position expecting type "ID". (1:9, 1:49)
            """)
    }

    @Test func unknownTypesAreNamedWithNearOnes() {
        expectErrors(
            in: """
                query Q($v: JumbledUpLetters) { human(id: $v) { name pets { ... on Badger { name } ...F } } }
                fragment F on Peat { name }
                """,
            """
            Unknown type "JumbledUpLetters". (1:13)
            Unknown type "Badger". (1:68)
            Unknown type "Peat". Did you mean "Pet" or "Cat"? (2:15)
            """)
    }

    @Test func aBuiltInScalarThatTheSchemaDoesNotUseIsUnknown() {
        expectErrors(
            in: """
                query Q($v: ID, $s: [__Typ]) { human(id: $v) { name } }
                """,
            """
            Variable "$s" is never used in operation "Q". (1:17)
            Unknown type "__Typ". Did you mean "__Type"? (1:22)
            """)
    }
}
