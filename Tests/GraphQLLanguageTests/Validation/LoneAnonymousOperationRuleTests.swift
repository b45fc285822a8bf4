import Testing

@testable import GraphQLLanguage

@Suite struct LoneAnonymousOperationRuleTests {
    @Test func anAnonymousOperationMayStandAlone() {
        expectErrors(
            in: """
                { dog { ...F } }
                fragment F on Dog { name }
                """,
            "")
    }

    @Test func anAnonymousOperationStandsAlone() {
        expectErrors(
            in: """
                { dog { name } }
                query B { dog { name } }
                { cat { name } }
                """,
            """
            This anonymous operation must be the only defined operation. (1:1)
            This anonymous operation must be the only defined operation. (3:1)
            """)
    }
}
