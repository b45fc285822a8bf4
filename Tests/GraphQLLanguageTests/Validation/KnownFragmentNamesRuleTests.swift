import Testing

@testable import GraphQLLanguage

@Suite struct KnownFragmentNamesRuleTests {
    @Test func definedFragmentsAreFine() {
        expectErrors(
            in: """
                { dog { ...A ... { name } } }
                fragment A on Dog { name }
                """,
            "")
    }

    @Test func undefinedFragmentsAreNamed() {
        expectErrors(
            in: """
                { dog { ...A ... on Dog { ...B } } }
                fragment C on Dog { ...D }
                """,
            """
            Unknown fragment "A". (1:12)
            Unknown fragment "B". (1:30)
            Fragment "C" is never used. (2:1)
            Unknown fragment "D". (2:24)
            """)
    }
}
