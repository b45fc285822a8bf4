import Testing

@testable import GraphQLLanguage

@Suite struct VariablesInAllowedPositionRuleTests {
    @Test func typesThatFitAreFine() {
        expectErrors(
            in: """
                query Q($a: Boolean!, $b: [String!]!, $c: ComplexInput!, $d: Int!) { complicatedArgs { a: booleanArgField(booleanArg: $a) b: stringListArgField(stringListArg: $b) c: complexArgField(complexArg: $c) d: listList(a: [[$d]]) e: intArgField(intArg: $d) } }
                """,
            "")
    }

    @Test func defaultsMakeUpForAMissingNonNull() {
        expectErrors(
            in: """
                query Q($a: Int = 1, $b: Int, $c: Boolean = true) { complicatedArgs { a: nonNullIntArgField(nonNullIntArg: $a) b: nonNullFieldWithDefault(arg: $b) } dog @include(if: $c) { name } }
                """,
            "")
    }

    @Test func aDefaultOfNullDoesNot() {
        expectErrors(
            in: """
                query Q($a: Int = null) { complicatedArgs { a: nonNullIntArgField(nonNullIntArg: $a) } }
                """,
            """
            Variable "$a" of type "Int" used in position expecting type "Int!". (1:9, 1:82)
            """)
    }

    @Test func typesThatDoNotFitAreNamed() {
        expectErrors(
            in: """
                query Q($a: Int, $b: String, $c: [String], $d: String) { complicatedArgs { a: nonNullIntArgField(nonNullIntArg: $a) b: booleanArgField(booleanArg: $b) c: stringListNonNullArgField(stringListNonNullArg: $c) d: stringListArgField(stringListArg: $d) } dog @include(if: $b) { name } }
                """,
            """
            Variable "$a" of type "Int" used in position expecting type "Int!". (1:9, 1:113)
            Variable "$b" of type "String" used in position expecting type "Boolean!". (1:18, 1:267)
            Variable "$b" of type "String" used in position expecting type "Boolean". (1:18, 1:148)
            Variable "$c" of type "[String]" used in position expecting type "[String!]". (1:30, 1:203)
            Variable "$d" of type "String" used in position expecting type "[String]". (1:44, 1:244)
            """)
    }

    @Test func usesInFragmentsCount() {
        expectErrors(
            in: """
                query Q($a: Int) { complicatedArgs { ...F } }
                fragment F on ComplicatedArgs { ...G }
                fragment G on ComplicatedArgs { nonNullIntArgField(nonNullIntArg: $a) }
                """,
            """
            Variable "$a" of type "Int" used in position expecting type "Int!". (1:9, 3:67)
            """)
    }

    @Test func usesInsideValuesCount() {
        expectErrors(
            in: """
                query Q($a: String, $b: Boolean) { complicatedArgs { complexArgField(complexArg: {requiredField: $b, stringListField: [$a, $b], intField: $a}) listList(a: [$a]) } }
                """,
            """
            Variable "$a" of type "String" used in position expecting type "Int". (1:9, 1:139)
            Variable "$a" of type "String" used in position expecting type "[Int!]". (1:9, 1:157)
            Variable "$b" of type "Boolean" used in position expecting type "Boolean!". (1:21, 1:98)
            Variable "$b" of type "Boolean" used in position expecting type "String". (1:21, 1:124)
            """)
    }

    @Test func variablesInOneOfObjectsAreNonNull() {
        expectErrors(
            in: """
                query Q($a: ID, $b: ID!, $c: String = "x") {
                  a: choose(by: {id: $a}) b: choose(by: {id: $b}) c: choose(by: {name: $c}) }
                """, of: oneOf,
            """
            Variable "$a" is of type "ID" but must be non-nullable to be used for OneOf Input Object "By". (1:9, 2:22)
            Variable "$c" is of type "String" but must be non-nullable to be used for OneOf Input Object "By". (1:26, 2:72)
            """)
    }
}
