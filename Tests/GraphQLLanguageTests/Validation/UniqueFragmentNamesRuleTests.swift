import Testing

@testable import GraphQLLanguage

@Suite struct UniqueFragmentNamesRuleTests {
    @Test func differentNamesMayStandTogether() {
        expectErrors(
            in: """
                { dog { ...A ...B } }
                fragment A on Dog { name }
                fragment B on Dog { name }
                """,
            "")
    }

    @Test func oneNameStandsForOneFragment() {
        expectErrors(
            in: """
                { dog { ...A } }
                fragment A on Dog { name }
                fragment A on Dog { nickname }
                """,
            """
            There can be only one fragment named "A". (2:10, 3:10)
            """)
    }
}
