import Testing

@testable import GraphQLLanguage

@Suite struct VariablesAreInputTypesRuleTests {
    @Test func inputTypesAreFine() {
        expectErrors(
            in: """
                query Q($a: Int, $b: [[Int!]], $c: ComplexInput) { complicatedArgs { intArgField(intArg: $a) listList(a: $b) complexArgField(complexArg: $c) } }
                """,
            "")
    }

    @Test func outputTypesAreNot() {
        expectErrors(
            in: """
                query Q($a: Dog, $b: [[CatOrDog!]]!, $c: Pet) { complicatedArgs { anyArgField(any: [$a, $b, $c]) } }
                """,
            """
            Variable "$a" of type "Dog" used in position expecting type "Any". (1:9, 1:85)
            Variable "$a" cannot be non-input type "Dog". (1:13)
            Variable "$b" of type "[[CatOrDog!]]!" used in position expecting type "Any". (1:18, 1:89)
            Variable "$b" cannot be non-input type "[[CatOrDog!]]!". (1:22)
            Variable "$c" of type "Pet" used in position expecting type "Any". (1:38, 1:93)
            Variable "$c" cannot be non-input type "Pet". (1:42)
            """)
    }
}
