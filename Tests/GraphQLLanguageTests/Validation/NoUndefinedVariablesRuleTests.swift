import Testing

@testable import GraphQLLanguage

@Suite struct NoUndefinedVariablesRuleTests {
    @Test func definedVariablesAreFineInFragmentsToo() {
        expectErrors(
            in: """
                query Q($a: Boolean, $b: ID) { human(id: $b) { ...F } }
                fragment F on Human { name(surname: $a) }
                """,
            "")
    }

    @Test func undefinedVariablesAreNamed() {
        expectErrors(
            in: """
                query Q { human(id: $b) { ...F } }
                fragment F on Human { ...G }
                fragment G on Human { name(surname: $a) }
                """,
            """
            Variable "$b" is not defined by operation "Q". (1:21, 1:1)
            Variable "$a" is not defined by operation "Q". (3:37, 1:1)
            """)
    }

    @Test func anonymousOperationsHaveNoName() {
        expectErrors(
            in: """
                { human(id: $b) { name } }
                """,
            """
            Variable "$b" is not defined. (1:13, 1:1)
            """)
    }

    @Test func everyOperationHasToDefineThem() {
        expectErrors(
            in: """
                query A($a: Boolean) { dog { ...F } }
                query B { dog { ...F } }
                fragment F on Dog { name(surname: $a) @skip(if: $b) }
                """,
            """
            Variable "$a" is not defined by operation "B". (3:35, 2:1)
            Variable "$b" is not defined by operation "A". (3:49, 1:1)
            Variable "$b" is not defined by operation "B". (3:49, 2:1)
            """)
    }

    @Test func variablesInsideValuesCount() {
        expectErrors(
            in: """
                query Q { complicatedArgs { complexArgField(complexArg: { requiredField: true, stringListField: [$a], nested: { requiredField: $b } }) } }
                """,
            """
            Variable "$a" is not defined by operation "Q". (1:98, 1:1)
            Variable "$b" is not defined by operation "Q". (1:128, 1:1)
            """)
    }
}
