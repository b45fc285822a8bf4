import Testing

@testable import GraphQLLanguage

@Suite struct UniqueDirectivesPerLocationRuleTests {
    @Test func oneEachIsFine() {
        expectErrors(
            in: """
                { dog { name @include(if: true) @skip(if: false) nickname @include(if: true) } }
                """,
            "")
    }

    @Test func repeatableOnesMayBeRepeated() {
        expectErrors(
            in: """
                { dog { name @rep(n: 1) @rep(n: 2) } }
                """,
            "")
    }

    @Test func othersMayNot() {
        expectErrors(
            in: """
                { dog @skip(if: true) @skip(if: true) @include(if: true) @skip(if: false) { name @onField(a: 1) @onField(a: 2) } }
                """,
            """
            The directive "@skip" can only be used once at this location. (1:7, 1:23)
            The directive "@skip" can only be used once at this location. (1:7, 1:58)
            The directive "@onField" can only be used once at this location. (1:82, 1:97)
            """)
    }

    @Test func unknownOnesAreLeftToAnotherRule() {
        expectErrors(
            in: """
                { dog @unknown @unknown { name } }
                """,
            """
            Unknown directive "@unknown". (1:7)
            Unknown directive "@unknown". (1:16)
            """)
    }
}
