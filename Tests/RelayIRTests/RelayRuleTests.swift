import GraphQLLanguage
import RelayIR
import Testing

/// Each rule of Relay: a document that breaks it, and what is said.
@Suite struct RelayRuleTests {
    @Test(arguments: [
        Mistake(
            "query Q { user { todos @connection(key: \"A_todos\") { edges { node { id } } } } }",
            "Expected field \"todos\" to have a \"first\" or \"last\" argument. (1:18)"),
        Mistake(
            "query Q { user { todos(first: 1) @connection(key: \"todos\") { edges { node { id } } } } }",
            "Expected the \"key\" argument of @connection to be of form \"<SomeName>_todos\". (1:34)"
        ),
        Mistake(
            "query Q($k: String!) { user { todos(first: 1) @connection(key: $k) { edges { node { id } } } } }",
            "Argument \"key\" of @connection must be a constant, not \"$k\". (1:64)"),
        Mistake(
            "query Q { user { todos(first: 1) @connection { edges { node { id } } } } }",
            "Directive \"@connection\" argument \"key\" of type \"String!\" is required, but it was not "
                + "provided. (1:34)"),
        Mistake(
            "query Q { user { todos(first: 1) @connection(key: \"A_todos\") { pageInfo { endCursor } } } }",
            "Expected field \"todos\" with @connection to select \"edges\". (1:18)"),
        Mistake(
            "query Q { user { todos(first: 1) @connection(key: \"A_todos\") { edges { cursor } } } }",
            "Expected field \"todos\" with @connection to select \"node\" in \"edges\". (1:64)"),
        Mistake(
            """
            query Q { user {
              todos(first: 1) @connection(key: "A_todos", filters: ["complet"]) { edges { node { id } } }
            } }
            """,
            "Unknown argument \"complet\" in \"filters\" of @connection: field \"todos\" has no such "
                + "argument. Did you mean \"complete\"? (2:56)"),
        Mistake(
            "query Q { user @connection(key: \"A_user\") { id } }",
            "Field \"user\" cannot have @connection: type \"User\" has no field \"edges\". (1:16)"),
        Mistake(
            "query Q { nodes(ids: []) @connection(key: \"A_nodes\") { id } }",
            "Field \"nodes\" cannot have @connection: its value is a list, of type \"[Node]!\". (1:26)"
        ),
    ])
    func connections(_ mistake: Mistake) throws { try check(mistake) }

    @Test(arguments: [
        Mistake(
            "fragment F on User @argumentDefinitions(a: 1) { id }",
            "Expected argument \"a\" to say its type: {type: \"Int\"}. (1:41)"),
        Mistake(
            "fragment F on User @argumentDefinitions(a: {type: \"[Int\"}) { id }",
            "Expected the type of argument \"a\" to be written as in \"[Int!]\", not \"[Int\". (1:51)"
        ),
        Mistake(
            "fragment F on User @argumentDefinitions(a: {type: \"Strin\"}) { id }",
            "Unknown type \"Strin\". Did you mean \"String\"? (1:51)"),
        Mistake(
            "fragment F on User @argumentDefinitions(a: {type: \"[Todo]\"}) { id }",
            "Argument \"a\" cannot be non-input type \"[Todo]\". (1:51)"),
        Mistake(
            "fragment F on User @argumentDefinitions(a: {type: \"Int\", defaultVal: 1}) { id }",
            "Argument \"a\" of @argumentDefinitions has no \"defaultVal\". Did you mean \"defaultValue\"? (1:58)"
        ),
        Mistake(
            "fragment F on User @argumentDefinitions(a: {type: \"[Int!]\", defaultValue: [1, \"b\"]}) { id }",
            "Int cannot represent non-integer value: \"b\" (1:79)"),
        Mistake(
            "fragment F on User @argumentDefinitions(a: {type: \"Int\", defaultValue: $b}) { id }",
            "The default value of argument \"a\" must be a constant, not \"$b\". (1:72)"),
        Mistake(
            "fragment F on User @argumentDefinitions(a: {type: \"Int\"}, a: {type: \"Int\"}) { id }",
            "There can be only one argument named \"a\". (1:41, 1:59)"),
        Mistake(
            """
            fragment F on User @argumentDefinitions(a: {type: "String"}) {
              todos(first: $a) { edges { cursor } }
            }
            """,
            "Variable \"$a\" of type \"String\" used in position expecting type \"Int\". (1:41, 2:16)"
        ),
    ])
    func argumentDefinitions(_ mistake: Mistake) throws { try check(mistake) }

    private static let countingFragment = """
        fragment Count on User @argumentDefinitions(count: {type: "Int!"}, done: {type: "Boolean"}) {
          todos(first: $count, complete: $done) { edges { cursor } }
        }

        """

    @Test(arguments: [
        Mistake(
            countingFragment + "query Q { user { ...Count } }",
            "Fragment \"Count\" argument \"count\" of type \"Int!\" is required, but it was not "
                + "provided. (4:18)"),
        Mistake(
            countingFragment + "query Q { user { ...Count @arguments(count: 1, dne: true) } }",
            "Unknown argument \"dne\" on fragment \"Count\". Did you mean \"done\"? (4:48)"),
        Mistake(
            countingFragment + "query Q { user { ...Count @arguments(count: \"1\") } }",
            "Int cannot represent non-integer value: \"1\" (4:45)"),
        Mistake(
            countingFragment + "query Q($n: Int) { user { ...Count @arguments(count: $n) } }",
            "Variable \"$n\" of type \"Int\" used in position expecting type \"Int!\". (4:9, 4:54)"),
        Mistake(
            countingFragment + """
                fragment Outer on User @argumentDefinitions(n: {type: "String"}) {
                  ...Count @arguments(count: 1, done: $n)
                }
                """,
            "Variable \"$n\" of type \"String\" used in position expecting type \"Boolean\". (4:45, 5:39)"
        ),
        Mistake(
            // Only what is written out says that a variable is not allowed there.
            """
            query R($n: Int) { user { ...G @arguments(n: $n) ...H } }
            fragment G on User @argumentDefinitions(n: {type: "Int"}) { todos(first: $n) { edges { cursor } } }
            fragment H on User { todos(first: 2) { edges { cursor } } }
            """,
            "Fields \"todos\" conflict because they have differing arguments. Use different aliases on the "
                + "fields to fetch both if this was intentional. (2:61, 3:22)"),
    ])
    func arguments(_ mistake: Mistake) throws { try check(mistake) }

    /// A fragment that nothing spreads yet has a type, too.
    @Test(arguments: [
        Mistake(
            "fragment F on User { a: id a: userId }",
            "Fields \"a\" conflict because \"id\" and \"userId\" are different fields. Use different aliases on "
                + "the fields to fetch both if this was intentional. (1:22, 1:28)"),
        Mistake(
            """
            query Q { user { ...G @arguments(n: 1) } }
            fragment F on User { ...G @arguments(n: 2) a: id }
            fragment G on User @argumentDefinitions(n: {type: "Int"}) { a: userId todos(first: $n) { edges { cursor } } }
            """,
            "Fields \"a\" conflict because \"id\" and \"userId\" are different fields. Use different aliases on "
                + "the fields to fetch both if this was intentional. (2:44, 3:61)"),
        Mistake(
            // The arguments that it gives, not those that an operation gives elsewhere.
            """
            query Q { user { ...G @arguments(n: 1) } }
            fragment F on User { ...H }
            fragment H on User { ...G @arguments(n: 2) todos(first: 1) { edges { cursor } } }
            fragment G on User @argumentDefinitions(n: {type: "Int"}) { todos(first: $n) { edges { cursor } } }
            """,
            "Fields \"todos\" conflict because they have differing arguments. Use different aliases on the "
                + "fields to fetch both if this was intentional. (3:44, 4:61)"),
        Mistake(
            // Whatever `n` is.
            """
            fragment F on User @argumentDefinitions(n: {type: "Int"}) {
              todos(first: $n, complete: true) { edges { cursor } }
              ...G
            }
            fragment G on User { todos(first: 1, complete: false) { edges { cursor } } }
            """,
            "Fields \"todos\" conflict because they have differing arguments. Use different aliases on the "
                + "fields to fetch both if this was intentional. (2:3, 5:22)"),
    ])
    func fragmentsThatNothingSpreadsAreMerged(_ mistake: Mistake) throws { try check(mistake) }

    /// Some operation could spread them.
    @Test(arguments: [
        """
        fragment A on User @argumentDefinitions(n: {type: "Int"}) {
          todos(first: $n) { pageInfo { endCursor } } ...B @arguments(count: $n)
        }
        fragment B on User @argumentDefinitions(count: {type: "Int"}) { todos(first: $count) { edges { cursor } } }
        """,
        """
        fragment A on User { todos(first: 5) { edges { cursor } } ...B @arguments(count: 5) }
        fragment B on User @argumentDefinitions(count: {type: "Int"}) { todos(first: $count) { edges { cursor } } }
        """,
        """
        fragment A on User @argumentDefinitions(n: {type: "Int", defaultValue: 5}) {
          todos(first: $n) { edges { cursor } } ...B @arguments(count: 5)
        }
        fragment B on User @argumentDefinitions(count: {type: "Int"}) { ...C @arguments(count: $count) }
        fragment C on User @argumentDefinitions(count: {type: "Int"}) { todos(first: $count) { edges { cursor } } }
        """,
        """
        fragment A on User @argumentDefinitions(n: {type: "Int"}, m: {type: "Int"}) {
          todos(first: $n) { edges { cursor } } ...B @arguments(count: $m)
        }
        fragment B on User @argumentDefinitions(count: {type: "Int"}) { todos(first: $count) { edges { cursor } } }
        """,
        """
        fragment A on User @argumentDefinitions(n: {type: "Int"}) { todos(first: $n) { edges { cursor } } ...B }
        fragment B on User { todos { edges { node { id } } } }
        """,
    ])
    func fragmentsThatNothingSpreadsMayHaveArguments(_ text: String) throws {
        _ = try compile(text, ExampleSchema.todo())
    }

    @Test func whatAFragmentDeclaresItNeedNotUse() throws {
        let documents = try compile(
            """
            query Q($n: Int) { user { ...F @arguments(n: $n) } }
            fragment F on User @argumentDefinitions(n: {type: "Int"}) { userId }
            """, ExampleSchema.todo())
        #expect(documents.operation("Q")?.text.hasPrefix("query Q {") == true)
    }

    @Test(arguments: [
        Mistake(
            "fragment F on TodoEdge @refetchable(queryName: \"Q\") { cursor }",
            "Cannot refetch fragment \"F\": \"TodoEdge\" is neither Query nor Viewer nor a Node. (1:24)"
        ),
        Mistake(
            """
            fragment F on User @refetchable(queryName: "R") { id }
            fragment G on User @refetchable(queryName: "R") { id }
            """,
            "There can be only one operation named \"R\". (1:44, 2:44)"),
        Mistake(
            "fragment F on User @refetchable(queryName: \"a b\") { id }",
            "Expected \"queryName\" of @refetchable to be a name, not \"a b\". (1:44)"),
        Mistake(
            "fragment F on User @refetchable(queryName: \"R\") @relay(plural: true) { id }",
            "Cannot refetch fragment \"F\": it is read from a list of records, with @relay(plural: "
                + "true). (1:20)"),
        Mistake(
            """
            fragment F on User @refetchable(queryName: "R") @argumentDefinitions(id: {type: "ID"}) { id }
            """,
            "Cannot refetch fragment \"F\": its own variable \"$id\" has the name of the one for the "
                + "record. (1:20)"),
        Mistake(
            "fragment F on User @refetchable(queryName: \"R\") { todos(after: $id) { edges { cursor } } }",
            "Cannot refetch fragment \"F\": it uses the operation's variable \"$id\", which is that for the "
                + "record in its query. (1:20)"),
        Mistake(
            """
            fragment F on Node @refetchable(queryName: "R")
            @argumentDefinitions(n: {type: "Int"}, m: {type: "Int"}, c: {type: "String"}) {
              ... on User { todos(first: $n, after: $c) @connection(key: "F_todos") { edges { node { id } } } }
              ... on Node { ... on User { todos(first: $m, after: $c) @connection(key: "F_todos") { edges { node { id } } } } }
            }
            """,
            "Cannot refetch fragment \"F\": connection \"todos\" is selected twice, and different variables "
                + "say which page. (3:17, 4:31)"),
        Mistake(
            """
            query Q($n: Int) { user { ...R @arguments(n: 5) } }
            fragment R on User @refetchable(queryName: "RQ") @argumentDefinitions(n: {type: "Int"}) {
              ...H todos(first: $n) { edges { cursor } }
            }
            fragment H on User { list: todos(first: $n) { edges { cursor } } }
            """,
            "Cannot refetch fragment \"R\": a fragment that it spreads uses the operation's variable "
                + "\"$n\", and its own has the same name. (2:20)"),
        Mistake(
            """
            fragment A_user on User @refetchable(queryName: "A_user") { id }
            fragment B_user on User @refetchable(queryName: "C_user") { id }
            fragment C_user on User { id }
            """,
            "Expected \"queryName\" of @refetchable to be a name of its own: \"A_user\" is a fragment. "
                + "(1:49, 1:10)",
            "Expected \"queryName\" of @refetchable to be a name of its own: \"C_user\" is a fragment. "
                + "(2:49, 3:10)"),
        Mistake(
            """
            fragment F on User @refetchable(queryName: "R") @argumentDefinitions(n: {type: "Int"}, c: {type: "String"}) {
              todos(first: $n, after: $c) @connection(key: "F_todos") { edges { node { id } } }
              more: todos(first: $n, after: $c) @connection(key: "F_more") { edges { node { id } } }
            }
            """,
            "Cannot refetch fragment \"F\": it has two connections, and its query can fetch pages of one. (3:3)"
        ),
        Mistake(
            """
            fragment F on Query @refetchable(queryName: "R") @argumentDefinitions(n: {type: "Int"}, c: {type: "String"}) {
              nodes(ids: []) { ... on User { ...G @relay(mask: false) } }
            }
            fragment G on User {
              todos(first: $first, after: $after) @connection(key: "F_todos") { edges { node { id } } }
            }
            """,
            "Cannot refetch fragment \"F\": connection \"todos\" is in a list of records. (5:3)"),
        Mistake(
            """
            fragment F on User @refetchable(queryName: "R") {
              todos(first: 10) @connection(key: "F_todos") { edges { node { id } } }
            }
            """,
            "Cannot refetch fragment \"F\": argument \"first\" of connection \"todos\" must be a variable, "
                + "which says what page is fetched. (2:16)",
            "Cannot refetch fragment \"F\": argument \"after\" of connection \"todos\" must be a variable, "
                + "which says what page is fetched. (2:3)"),
    ])
    func refetchable(_ mistake: Mistake) throws { try check(mistake) }

    @Test(arguments: [
        Mistake(
            "query Q { user { userId @required(action: LOG) ... on Node { id } userId } }",
            "Field \"userId\" must be @required with the same action wherever it is selected. (1:18, 1:67)"
        ),
        Mistake(
            "query Q { user @required(action: THROW) { userId @required(action: LOG) } }",
            "Field \"userId\" cannot be @required(action: LOG): its null makes \"user\" null, which is "
                + "@required(action: THROW). (1:43, 1:11)"),
        Mistake(
            "query Q { user { userId @catch(to: NULL) userId @catch } }",
            "Field \"userId\" must be @catch with the same \"to\" wherever it is selected. (1:18, 1:42)"
        ),
        Mistake(
            "query Q { user { userId @catch @required(action: NONE) } }",
            "Field \"userId\" cannot be both @catch and @required. (1:32)"),
        Mistake(
            "query Q @catch @throwOnFieldError { user { userId } }",
            "Operation \"Q\" cannot have both @catch and @throwOnFieldError. (1:9, 1:16)"),
    ])
    func errorsOfFields(_ mistake: Mistake) throws { try check(mistake) }

    @Test func anElementOfAListMayBeNullLessSeverelyThanTheList() throws {
        _ = try compile(
            """
            query Q { nodes(ids: []) @required(action: THROW) { ... on Todo { text @required(action: LOG) } } }
            """, ExampleSchema.todo())
    }

    @Test(arguments: [
        Mistake(
            "query Q { user { id: userId } }",
            "Field \"userId\" cannot have the alias \"id\": records are found by their \"id\". (1:18)"
        ),
        Mistake(
            "query Q { user { __isUser: userId } }",
            "Field \"userId\" cannot have the alias \"__isUser\": names that begin with two underscores are "
                + "GraphQL's own. (1:18)"),
        Mistake(
            "fragment F on User { todos(first: 1) { edges { node { id: text } } } }",
            "Field \"text\" cannot have the alias \"id\": records are found by their \"id\". (1:55)"
        ),
    ])
    func aliases(_ mistake: Mistake) throws { try check(mistake) }

    private static let add = "mutation M($i: AddTodoInput!, $c: [ID!]!) { addTodo(input: $i) "

    @Test(arguments: [
        Mistake(
            add + "{ todo @appendEdge(connections: $c) { id } } }",
            "Field \"todo\" cannot have @appendEdge: type \"Todo\" is not that of an edge, an object with "
                + "a \"node\". (1:71)"),
        Mistake(
            add + "{ todoEdge @prependEdge(connections: $c) { cursor } } }",
            "Expected field \"todoEdge\" with @prependEdge to select \"node\". (1:66)"),
        Mistake(
            add + "{ todo @appendNode(connections: $c, edgeTypeName: \"TodEdge\") { id } } }",
            "Unknown type \"TodEdge\" in \"edgeTypeName\" of @appendNode. Did you mean \"TodoEdge\"? (1:114)"
        ),
        Mistake(
            add + "{ todo @appendNode(connections: $c, edgeTypeName: \"User\") { id } } }",
            "Expected type \"User\" in \"edgeTypeName\" of @appendNode to be that of an edge, an object "
                + "with a \"node\". (1:114)"),
        Mistake(
            add + "{ user @appendNode(connections: $c, edgeTypeName: \"TodoEdge\") { id } } }",
            "Field \"user\" cannot be the node of an edge of type \"TodoEdge\": its type is \"User\", not "
                + "\"Todo\". (1:114)"),
        Mistake(
            add + "{ user { userId @appendNode(connections: $c, edgeTypeName: \"TodoEdge\") } } }",
            "Field \"userId\" cannot have @appendNode: type \"String\" is not that of an object. (1:80)"
        ),
        Mistake(
            "mutation M($i: AddTodoInput!, $c: [ID]) { addTodo(input: $i) "
                + "{ todoEdge @appendEdge(connections: $c) { node { id } } } }",
            "Variable \"$c\" of type \"[ID]\" used in position expecting type \"[ID!]!\". (1:31, 1:98)"
        ),
        Mistake(
            "mutation M($i: RemoveTodoInput!) { removeTodo(input: $i) { user { userId @deleteRecord } } }",
            "Field \"userId\" cannot have @deleteRecord: its type is \"String!\", not ID or a list of IDs. (1:74)"
        ),
        Mistake(
            "query Q { user { id @deleteRecord } }",
            "Directive \"@deleteRecord\" is for mutations and subscriptions, not for queries. (1:21)"
        ),
        Mistake(
            "query Q @raw_response_type { user { id } }",
            "Directive \"@raw_response_type\" is for mutations: only their expected answers have a type. (1:9)"
        ),
    ])
    func edgesAndRecords(_ mistake: Mistake) throws { try check(mistake) }

    private func check(_ mistake: Mistake) throws {
        let messages = try mistake.messages(ExampleSchema.todo())
        #expect(messages == mistake.expected)
    }
}
