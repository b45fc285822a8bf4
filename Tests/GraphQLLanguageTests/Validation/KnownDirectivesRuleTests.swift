import Testing

@testable import GraphQLLanguage

@Suite struct KnownDirectivesRuleTests {
    @Test func knownDirectivesInTheirPlacesAreFine() {
        expectErrors(
            in: """
                query Q($v: Boolean! @rep) @onQuery { dog @include(if: $v) { ... @skip(if: true) { name } ...F @include(if: true) } }
                fragment F on Dog @rep { name }
                """,
            "")
    }

    @Test func unknownDirectivesAreNamed() {
        expectErrors(
            in: """
                query Q { dog @unknown(directive: "value") { name ...F @other } }
                fragment F on Dog { name }
                """,
            """
            Unknown directive "@unknown". (1:15)
            Unknown directive "@other". (1:56)
            """)
    }

    @Test func directivesStandWhereTheyMay() {
        expectErrors(
            in: """
                query Q($v: ID @onQuery) @include(if: true) { human(id: $v) @onQuery { ...F @onQuery ... @onQuery { name } } }
                fragment F on Human @onQuery { name }
                subscription S @onQuery { dogSubscribe { name } }
                """,
            """
            Directive "@onQuery" may not be used on VARIABLE_DEFINITION. (1:16)
            Directive "@include" may not be used on QUERY. (1:26)
            Directive "@onQuery" may not be used on FIELD. (1:61)
            Directive "@onQuery" may not be used on FRAGMENT_SPREAD. (1:77)
            Directive "@onQuery" may not be used on INLINE_FRAGMENT. (1:90)
            Directive "@onQuery" may not be used on FRAGMENT_DEFINITION. (2:21)
            Directive "@onQuery" may not be used on SUBSCRIPTION. (3:16)
            """)
    }
}
