import Testing

@testable import GraphQLLanguage

@Suite struct NoUnusedFragmentsRuleTests {
    @Test func fragmentsMayBeUsedThroughOthers() {
        expectErrors(
            in: """
                { dog { ...A } }
                fragment A on Dog { ...B }
                fragment B on Dog { name }
                """,
            "")
    }

    @Test func unusedFragmentsAreNamed() {
        expectErrors(
            in: """
                { dog { ...A } }
                fragment A on Dog { name }
                fragment B on Dog { name }
                fragment C on Dog { ...B }
                """,
            """
            Fragment "B" is never used. (3:1)
            Fragment "C" is never used. (4:1)
            """)
    }

    @Test func fragmentsThatUseOneAnotherAreUnusedAllTheSame() {
        expectErrors(
            in: """
                { dog { name } }
                fragment A on Dog { ...B }
                fragment B on Dog { ...A }
                """,
            """
            Fragment "A" is never used. (2:1)
            Cannot spread fragment "A" within itself via "B". (2:21, 3:21)
            Fragment "B" is never used. (3:1)
            """)
    }
}
