import Testing

@testable import GraphQLLanguage

@Suite struct ExecutableDefinitionsRuleTests {
    @Test func operationsAndFragmentsAreExecutable() {
        expectErrors(
            in: """
                query Q { dog { ...F } }
                fragment F on Dog { name }
                """,
            "")
    }

    @Test func typeSystemDefinitionsAreNot() {
        expectErrors(
            in: """
                query Q { dog { name } }
                type Cow { name: String }
                extend type Dog { color: String }
                schema { query: Q }
                directive @d on FIELD
                """,
            """
            The "Cow" definition is not executable. (2:1)
            The "Dog" definition is not executable. (3:1)
            The schema definition is not executable. (4:1)
            The "d" definition is not executable. (5:1)
            """)
    }
}
