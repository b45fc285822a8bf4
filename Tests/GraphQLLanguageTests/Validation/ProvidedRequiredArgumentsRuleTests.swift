import Testing

@testable import GraphQLLanguage

@Suite struct ProvidedRequiredArgumentsRuleTests {
    @Test func whatIsOptionalMayBeMissing() {
        expectErrors(
            in: """
                { complicatedArgs { a: multipleOpts b: multipleOpts(opt2: 1) c: multipleOptAndReq(req1: 1, req2: 2) d: nonNullFieldWithDefault } }
                """,
            "")
    }

    @Test func whatIsRequiredMayNot() {
        expectErrors(
            in: """
                { complicatedArgs { a: multipleReqs(req2: 2) b: multipleReqs c: multipleOptAndReq(opt1: 1) d: nonNullIntArgField } }
                """,
            """
            Field "multipleReqs" argument "req1" of type "Int!" is required, but it was not provided. (1:21)
            Field "multipleReqs" argument "req1" of type "Int!" is required, but it was not provided. (1:46)
            Field "multipleReqs" argument "req2" of type "Int!" is required, but it was not provided. (1:46)
            Field "multipleOptAndReq" argument "req1" of type "Int!" is required, but it was not provided. (1:62)
            Field "multipleOptAndReq" argument "req2" of type "Int!" is required, but it was not provided. (1:62)
            Field "nonNullIntArgField" argument "nonNullIntArg" of type "Int!" is required, but it was not provided. (1:92)
            """)
    }

    @Test func theSameHoldsForDirectives() {
        expectErrors(
            in: """
                { dog @include { name @skip nickname @onField(b: "x") } }
                """,
            """
            Directive "@include" argument "if" of type "Boolean!" is required, but it was not provided. (1:7)
            Directive "@skip" argument "if" of type "Boolean!" is required, but it was not provided. (1:23)
            Directive "@onField" argument "a" of type "Int!" is required, but it was not provided. (1:38)
            """)
    }

    @Test func aWrongValueIsNotAMissingOne() {
        expectErrors(
            in: """
                { complicatedArgs { multipleReqs(req1: "one", req2: 2) } }
                """,
            """
            Int cannot represent non-integer value: "one" (1:40)
            """)
    }
}
