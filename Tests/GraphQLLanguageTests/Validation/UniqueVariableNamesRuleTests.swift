import Testing

@testable import GraphQLLanguage

@Suite struct UniqueVariableNamesRuleTests {
    @Test func oneNameMayBeUsedInTwoOperations() {
        expectErrors(
            in: """
                query A($x: ID) { human(id: $x) { name } }
                query B($x: ID) { human(id: $x) { name } }
                """,
            "")
    }

    @Test func oneNameStandsForOneVariable() {
        expectErrors(
            in: """
                query A($x: ID, $x: ID, $x: ID) { human(id: $x) { name } }
                """,
            """
            There can be only one variable named "$x". (1:10, 1:18, 1:26)
            """)
    }
}
