import Testing

@testable import GraphQLLanguage

@Suite struct PossibleFragmentSpreadsRuleTests {
    @Test func typesThatOverlapAreFine() {
        expectErrors(
            in: """
                { dog { ...Pet ... on CatOrDog { __typename } } pet { ... on Dog { barks } ... on Being { name } } catOrDog { ...Pet } }
                fragment Pet on Pet { name }
                """,
            "")
    }

    @Test func typesThatDoNotOverlapAreNamed() {
        expectErrors(
            in: """
                { dog { ... on Cat { meows } ...C } human(id: 1) { ... on Pet { name } } canine { ... on Cat { meows } } }
                fragment C on Cat { meows }
                """,
            """
            Fragment cannot be spread here as objects of type "Dog" can never be of type "Cat". (1:9)
            Fragment "C" cannot be spread here as objects of type "Dog" can never be of type "Cat". (1:30)
            Fragment cannot be spread here as objects of type "Human" can never be of type "Pet". (1:52)
            Fragment cannot be spread here as objects of type "Canine" can never be of type "Cat". (1:83)
            """)
    }

    @Test func unionsAndInterfacesThatDoNotOverlapAreNamed() {
        expectErrors(
            in: """
                { catOrDog { ...H ... on Human { iq } } }
                fragment H on Human { name }
                """,
            """
            Fragment "H" cannot be spread here as objects of type "CatOrDog" can never be of type "Human". (1:14)
            Fragment cannot be spread here as objects of type "CatOrDog" can never be of type "Human". (1:19)
            """)
    }

    @Test func unknownTypesAreLeftToOtherRules() {
        expectErrors(
            in: """
                { dog { ...U ... on Unknown { x } } }
                fragment U on Unknown { x }
                """,
            """
            Unknown type "Unknown". (1:21)
            Unknown type "Unknown". (2:15)
            """)
    }
}
