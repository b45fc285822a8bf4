import Testing

@testable import GraphQLLanguage

@Suite struct UniqueInputFieldNamesRuleTests {
    @Test func oneNameMayBeUsedInTwoObjects() {
        expectErrors(
            in: """
                { complicatedArgs { complexArgField(complexArg: {requiredField: true, nested: {requiredField: true}}) } }
                """,
            "")
    }

    @Test func fieldsAreGivenOnce() {
        expectErrors(
            in: """
                { complicatedArgs { a: complexArgField(complexArg: {requiredField: true, requiredField: false, requiredField: true}) b: anyArgField(any: {a: {b: 1, b: 2}, a: [{c: 1, c: 2}]}) } }
                """,
            """
            There can be only one input field named "requiredField". (1:53, 1:74)
            There can be only one input field named "requiredField". (1:53, 1:96)
            There can be only one input field named "a". (1:139, 1:156)
            There can be only one input field named "b". (1:143, 1:149)
            There can be only one input field named "c". (1:161, 1:167)
            """)
    }
}
