import Testing

@testable import GraphQLLanguage

@Suite struct FieldsOnCorrectTypeRuleTests {
    @Test func fieldsOfTheTypeAreFine() {
        expectErrors(
            in: """
                { dog { __typename name alias: nickname } pet { __typename name } catOrDog { __typename } }
                """,
            "")
    }

    @Test func unknownFieldsAreNamedWithNearOnes() {
        expectErrors(
            in: """
                { dog { meowVolume nam unknown { deeper } } }
                """,
            """
            Cannot query field "meowVolume" on type "Dog". Did you mean "barkVolume"? (1:9)
            Cannot query field "nam" on type "Dog". Did you mean "name"? (1:20)
            Cannot query field "unknown" on type "Dog". (1:24)
            """)
    }

    @Test func fieldsOfPossibleTypesSuggestAFragment() {
        expectErrors(
            in: """
                { pet { nickname meows } catOrDog { name barks } being { iq } }
                """,
            """
            Cannot query field "nickname" on type "Pet". Did you mean to use an inline fragment on "Cat" or "Dog"? (1:9)
            Cannot query field "meows" on type "Pet". Did you mean to use an inline fragment on "Cat"? (1:18)
            Cannot query field "name" on type "CatOrDog". Did you mean to use an inline fragment on "Being", "Pet", "Canine", "Cat", or "Dog"? (1:37)
            Cannot query field "barks" on type "CatOrDog". Did you mean to use an inline fragment on "Dog"? (1:42)
            Cannot query field "iq" on type "Being". Did you mean to use an inline fragment on "Human"? (1:58)
            """)
    }

    @Test func introspectionStartsAtTheRoot() {
        expectErrors(
            in: """
                { __schema { queryType { name } } dog { __schema { queryType { name } } } }
                """,
            """
            Cannot query field "__schema" on type "Dog". (1:41)
            """)
    }

    @Test func nothingIsSaidOfFieldsOnUnknownTypes() {
        expectErrors(
            in: """
                { dog { ... on Unknown { anything } ghost { x } } }
                """,
            """
            Unknown type "Unknown". (1:16)
            Cannot query field "ghost" on type "Dog". (1:37)
            """)
    }
}
