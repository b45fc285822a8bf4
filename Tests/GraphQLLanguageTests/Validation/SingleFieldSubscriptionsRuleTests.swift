import Testing

@testable import GraphQLLanguage

@Suite struct SingleFieldSubscriptionsRuleTests {
    @Test func oneFieldIsFine() {
        expectErrors(
            in: """
                subscription S { catSubscribe { name meows } }
                """,
            "")
    }

    @Test func oneFieldThroughFragmentsIsFine() {
        expectErrors(
            in: """
                subscription S { ...F ... on SubscriptionRoot { catSubscribe { name } } }
                fragment F on SubscriptionRoot { catSubscribe { name } ...F2 }
                fragment F2 on SubscriptionRoot { catSubscribe { meows } }
                """,
            "")
    }

    @Test func moreThanOneFieldIsTooMany() {
        expectErrors(
            in: """
                subscription S { catSubscribe { name } dogSubscribe { name } d: dogSubscribe { name } }

                """,
            """
            Subscription "S" must select only one top level field. (1:40, 1:62)
            """)
    }

    @Test func fragmentsCountToo() {
        expectErrors(
            in: """
                subscription { catSubscribe { name } ...F }
                fragment F on SubscriptionRoot { ... { humanSubscribe { name } } }
                """,
            """
            Anonymous Subscription must select only one top level field. (2:40)
            """)
    }

    @Test func introspectionIsNoStream() {
        expectErrors(
            in: """
                subscription { __typename }
                """,
            """
            Anonymous Subscription must not select an introspection top level field. (1:16)
            """)
    }

    @Test func introspectionIsNoStreamUnderAnAliasEither() {
        expectErrors(
            in: """
                subscription S { catSubscribe: __typename }
                """,
            """
            Subscription "S" must not select an introspection top level field. (1:18)
            """)
    }

    @Test func theStreamDoesNotDependOnVariables() {
        expectErrors(
            in: """
                subscription S($v: Boolean!) { catSubscribe @skip(if: $v) { name } ...F @include(if: $v) }
                fragment F on SubscriptionRoot { dogSubscribe { name @skip(if: $v) } }
                """,
            """
            Subscription "S" must not use `@skip` or `@include` directives in the top level selection. (1:45, 1:73)
            """)
    }

    @Test func fragmentsInALongChainDoNotUseUpTheStack() throws {
        let chain = (0..<5_000).map {
            "fragment F\($0) on SubscriptionRoot { ...F\($0 + 1) }"
        }
        let text =
            "subscription { ...F0 } \(chain.joined(separator: " ")) "
            + "fragment F5000 on SubscriptionRoot { catSubscribe { name } }"
        #expect(try Document(parsing: text).validate(against: animals).isEmpty)
    }
}
