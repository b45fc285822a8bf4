import Testing

@testable import GraphQLLanguage

@Suite struct ScalarLeafsRuleTests {
    @Test func leavesStandAlone() {
        expectErrors(
            in: """
                { dog { barks } }
                """,
            "")
    }

    @Test func objectsNeedASelection() {
        expectErrors(
            in: """
                { dog human(id: 1) { pets } }
                """,
            """
            Field "dog" of type "Dog" must have a selection of subfields. Did you mean "dog { ... }"? (1:3)
            Field "pets" of type "[Pet]" must have a selection of subfields. Did you mean "pets { ... }"? (1:22)
            """)
    }

    @Test func leavesHaveNoSelection() {
        expectErrors(
            in: """
                { dog { barks { sinceWhen } doesKnowCommand(dogCommand: SIT) { x } } cat { furColor { inHexDec } } }
                """,
            """
            Field "barks" must not have a selection since type "Boolean" has no subfields. (1:15)
            Field "doesKnowCommand" must not have a selection since type "Boolean" has no subfields. (1:62)
            Field "furColor" must not have a selection since type "FurColor" has no subfields. (1:85)
            """)
    }

    @Test func typesAreShownWithTheirWrappers() {
        expectErrors(
            in: """
                { dogs iq { x } }
                """,
            """
            Field "dogs" of type "[Dog!]!" must have a selection of subfields. Did you mean "dogs { ... }"? (1:3)
            Field "iq" must not have a selection since type "Int!" has no subfields. (1:11)
            """)
    }
}
