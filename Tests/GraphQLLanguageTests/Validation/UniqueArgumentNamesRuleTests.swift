import Testing

@testable import GraphQLLanguage

@Suite struct UniqueArgumentNamesRuleTests {
    @Test func oneNameMayBeUsedInTwoPlaces() {
        expectErrors(
            in: """
                { dog { name(surname: true) @skip(if: true) mother { name(surname: true) } } }
                """,
            "")
    }

    @Test func argumentsAreGivenOnce() {
        expectErrors(
            in: """
                { dog { name(surname: true, surname: false, surname: true) nickname @skip(if: true, if: true) } }
                """,
            """
            There can be only one argument named "surname". (1:14, 1:29, 1:45)
            There can be only one argument named "if". (1:75, 1:85)
            """)
    }
}
