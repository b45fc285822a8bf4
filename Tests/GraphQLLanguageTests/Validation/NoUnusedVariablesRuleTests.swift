import Testing

@testable import GraphQLLanguage

@Suite struct NoUnusedVariablesRuleTests {
    @Test func usedVariablesAreFine() {
        expectErrors(
            in: """
                query Q($a: Boolean, $b: ID, $c: Boolean!) { human(id: $b) { ...F } dog @skip(if: $c) { name } }
                fragment F on Human { name(surname: $a) }
                """,
            "")
    }

    @Test func unusedVariablesAreNamed() {
        expectErrors(
            in: """
                query Q($a: Boolean, $b: ID) { human(id: $b) { name } }
                """,
            """
            Variable "$a" is never used in operation "Q". (1:9)
            """)
    }

    @Test func anonymousOperationsHaveNoName() {
        expectErrors(
            in: """
                query ($a: Boolean) { dog { name } }
                """,
            """
            Variable "$a" is never used. (1:8)
            """)
    }

    @Test func useInAFragmentThatIsNotSpreadDoesNotCount() {
        expectErrors(
            in: """
                query Q($a: Boolean) { dog { name } ...G }
                fragment F on Dog { name(surname: $a) }
                fragment G on QueryRoot { iq }
                """,
            """
            Variable "$a" is never used in operation "Q". (1:9)
            Fragment "F" is never used. (2:1)
            """)
    }
}
