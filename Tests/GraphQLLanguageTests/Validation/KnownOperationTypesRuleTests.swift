import Testing

@testable import GraphQLLanguage

@Suite struct KnownOperationTypesRuleTests {
    @Test func operationsTheSchemaHasAreFine() {
        expectErrors(in: "subscription { dogSubscribe { name } }", "")
    }

    @Test func operationsTheSchemaLacksAreNamed() {
        expectErrors(
            in: "query Q { dog { name } } mutation M { anything { x } }",
            "The mutation operation is not supported by the schema. (1:26)")
    }
}
