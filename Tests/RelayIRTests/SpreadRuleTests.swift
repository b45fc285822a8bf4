import GraphQLLanguage
import RelayArtifacts
import RelayIR
import Testing

/// Rules about fragments that are read with what is around them: unmasked, named, given arguments.
@Suite struct SpreadRuleTests {
    @Test(arguments: [
        Mistake(
            "fragment F on User @relay(mask: false) { id }",
            "Argument \"mask\" of @relay is for fragment spreads, not for fragments. (1:33)"),
        Mistake(
            "query Q { user { ...F @relay(plural: true) } } fragment F on User { id }",
            "Argument \"plural\" of @relay is for fragments, not for fragment spreads. (1:38)"),
        Mistake(
            """
            query Q { user { ...F @relay(mask: false) } }
            fragment F on User @argumentDefinitions(n: {type: "Int"}) { todos(first: $n) { edges { cursor } } }
            """,
            "Fragment \"F\" cannot be spread with @relay(mask: false): it has @argumentDefinitions. (1:18)"
        ),
        Mistake(
            "fragment F on User @inline { id }",
            "Directive \"@inline\" is not supported: a fragment can be read anywhere with its key, and "
                + "where it is spread with @relay(mask: false). (1:20)"),
    ])
    func masks(_ mistake: Mistake) throws { try check(mistake) }

    @Test(arguments: [
        Mistake(
            "query Q { user { userId ...F @alias(as: \"userId\") } } fragment F on User { id }",
            "Two selections are named \"userId\" by @alias. (1:30, 1:18)"),
        Mistake(
            "query Q { user { ...F @alias ...G @alias(as: \"F\") } } fragment F on User { id } "
                + "fragment G on User { id }",
            "Two selections are named \"F\" by @alias. (1:35, 1:23)"),
        Mistake(
            "query Q { user { ... @alias { id } } }",
            "Expected @alias of an inline fragment without a type condition to say its name: @alias(as: "
                + "\"name\"). (1:22)"),
        Mistake(
            "query Q { user { ...F @alias(as: \"a-b\") } } fragment F on User { id }",
            "Expected \"as\" of @alias to be a name, not \"a-b\". (1:34)"),
        Mistake(
            "query Q { user { ...F @alias(as: \"__a\") } } fragment F on User { id }",
            "Expected \"as\" of @alias to be a name, not \"__a\". (1:34)"),
        Mistake(
            "query Q { user { ...F @alias @relay(mask: false) } } fragment F on User { id }",
            "Fragment \"F\" cannot be spread with both @alias and @relay(mask: false). (1:23)"),
        // One object's data has both.
        Mistake(
            """
            query Q { node(id: 1) { ... on Todo @alias(as: "x") { text } ... on User { x: userId } } }
            """,
            "Two selections are named \"x\" by @alias. (1:37, 1:76)"),
        Mistake(
            """
            query Q { node(id: 1) { x: id ... on User { ... on User @alias(as: "x") { userId } } } }
            """,
            "Two selections are named \"x\" by @alias. (1:57, 1:25)"),
        Mistake(
            """
            query Q { node(id: 1) { ... on Node { ...F @alias(as: "x") } ... on User { ...G @alias(as: "x") } } }
            fragment F on Todo { id }
            fragment G on User { id }
            """,
            "Two selections are named \"x\" by @alias. (1:81, 1:44)"),
        Mistake(
            """
            query Q { user { ...F @alias(as: "x") ...G @relay(mask: false) } }
            fragment F on User { id }
            fragment G on User { ...H @relay(mask: false) }
            fragment H on User { x: userId }
            """,
            "Two selections are named \"x\" by @alias. (1:23, 4:22)"),
    ])
    func aliases(_ mistake: Mistake) throws { try check(mistake) }

    @Test func objectsOfDifferentTypesMayHaveTheSameNames() throws {
        _ = try compile(
            """
            query Q { node(id: 1) {
              ... on Todo { ...F @alias(as: "x") ...G @arguments(n: 1) }
              ... on User { x: userId ...G @arguments(n: 2) }
            } }
            fragment F on Todo { text }
            fragment G on Node @argumentDefinitions(n: {type: "Int"}) { id }
            """, ExampleSchema.todo())
    }

    private static let masked = """
        fragment F on User { todos(first: $n) { edges { cursor } } }
        fragment G on User @argumentDefinitions(n: {type: "Int"}) { ...F @relay(mask: false) }
        fragment H on User @argumentDefinitions(n: {type: "Int"}) { ...I @relay(mask: false) }
        fragment I on User { ...J @relay(mask: false) }
        fragment J on User { ...K @arguments(n: $n) }
        fragment K on User @argumentDefinitions(n: {type: "Int"}) { todos(last: $n) { edges { cursor } } }

        """

    /// Where it is written out in the reader, its variable would be that of the fragment around it.
    @Test func anUnmaskedFragmentCannotUseWhatTheFragmentAroundItDeclares() throws {
        let expected = [
            "Fragment \"F\" cannot be spread with @relay(mask: false) in fragment \"G\", which declares \"$n\": "
                + "\"F\" uses the operation's variable of that name. (2:61)",
            "Fragment \"I\" cannot be spread with @relay(mask: false) in fragment \"H\", which declares \"$n\": "
                + "\"I\" uses the operation's variable of that name. (3:61)",
        ]
        let mistake = Mistake(
            Self.masked
                + "query Q($n: Int) { user { ...G @arguments(n: 5) } other: user { ...H @arguments(n: 5) } }"
        )
        #expect(try mistake.messages(ExampleSchema.todo()) == expected)
    }

    @Test(arguments: [
        Mistake(
            """
            query Q { user { ...F @arguments(n: 1) ...F @arguments(n: 2) } }
            fragment F on User @argumentDefinitions(n: {type: "Int"}) { a: todos(first: 1) { edges { cursor } } }
            """,
            "Fragment \"F\" is spread with different arguments in the same place: its data would be read "
                + "with one of them. Give one of the spreads a name with @alias. (1:18, 1:40)"),
        Mistake(
            """
            query Q { node(id: 1) { ...F ... on User { ...G @relay(mask: false) } } }
            fragment F on Node @argumentDefinitions(n: {type: "Int", defaultValue: 1}) { id }
            fragment G on User { ...F @arguments(n: 1) }
            """,
            "Fragment \"F\" is spread with different arguments in the same place: its data would be read "
                + "with one of them. Give one of the spreads a name with @alias. (1:25, 3:22)"),
    ])
    func spreads(_ mistake: Mistake) throws { try check(mistake) }

    /// Each level has the one below it twice, and one place for both.
    @Test func fragmentsInFragmentsHaveFewPlaces() throws {
        var text = "query Q { user { ...F0 @relay(mask: false) } }\n"
        for level in 0..<60 {
            text += """
                fragment F\(level) on User {
                  x\(level): userId ...F\(level + 1) @relay(mask: false)
                  ... on Node { ...F\(level + 1) @relay(mask: false) ... on User { ...F\(level + 1) @relay(mask: false) } }
                }

                """
        }
        text += "fragment F60 on User { id }"
        let documents = try compile(text, ExampleSchema.todo())
        let reader = try #require(documents.operation("Q")?.request.fragment.text)
        #expect(reader.split(separator: "\n").count == 63)
    }

    /// The innermost records are users, which no thing is.
    @Test func typesOfPlacesAreTheNarrowestThatAreKnown() throws {
        let schema = try Schema.build([
            Source(
                """
                interface Node { id: ID! }
                interface Named { name: String }
                type Query { node: Node }
                type User implements Node & Named { id: ID! name: String }
                type Team implements Node & Named { id: ID! name: String }
                """)
        ])
        let text = """
            query Q { node {
              ... on User { ... on Named { ... on User { ...F @arguments(a: 1) } } }
              ... on Team { ...F @arguments(a: 2) }
            } }
            fragment F on Node @argumentDefinitions(a: {type: "ID"}) { id }
            """
        let messages = try Mistake(text).messages(schema)
        #expect(messages == [])
    }

    @Test func aFragmentIsSpreadWithOtherArgumentsUnderAnotherName() throws {
        let documents = try compile(
            """
            query Q { user { ...F @arguments(n: 1) ...F @arguments(n: 1) ...F @arguments(n: 2) @alias(as: "two") } }
            fragment F on User @argumentDefinitions(n: {type: "Int"}) { ... on User { id } }
            """, ExampleSchema.todo())
        #expect(
            documents.operation("Q")?.request.fragment.text == """
                Q on Query
                  user -> User
                    ...F with n:1
                    two: always on User
                      ...F with n:2
                """)
    }

    private func check(_ mistake: Mistake) throws {
        let messages = try mistake.messages(ExampleSchema.todo())
        #expect(messages == mistake.expected)
    }
}
