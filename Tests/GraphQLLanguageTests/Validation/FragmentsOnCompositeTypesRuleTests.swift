import Testing

@testable import GraphQLLanguage

@Suite struct FragmentsOnCompositeTypesRuleTests {
    @Test func objectsInterfacesAndUnionsHaveFields() {
        expectErrors(
            in: """
                { dog { ...A ...B ... on CatOrDog { __typename } } }
                fragment A on Dog { barks }
                fragment B on Pet { name }
                """,
            "")
    }

    @Test func leavesAndInputsDoNot() {
        expectErrors(
            in: """
                { dog { ...A ...B ... on FurColor { x } } }
                fragment A on Boolean { bad }
                fragment B on ComplexInput { bad }
                """,
            """
            Fragment cannot condition on non composite type "FurColor". (1:26)
            Fragment "A" cannot condition on non composite type "Boolean". (2:15)
            Fragment "B" cannot condition on non composite type "ComplexInput". (3:15)
            """)
    }
}
