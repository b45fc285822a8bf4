import GraphQLLanguage
import RelayArtifacts
import RelayIR
import Testing

@Suite struct ConnectionTests {
    static let list = """
        query ListQuery { user(id: "me") { ...List_user @arguments(count: 5) } }
        fragment List_user on User
          @refetchable(queryName: "ListPaginationQuery")
          @argumentDefinitions(
            count: {type: "Int", defaultValue: 10}, cursor: {type: "String"}, done: {type: "Boolean"}
          ) {
          todos(first: $count, after: $cursor, complete: $done) @connection(key: "List_todos") {
            __id
            edges { node { text } }
          }
        }
        """

    @Test func connectionsAreHandledAndReadFromTheirOwnRecord() throws {
        let documents = try compile(Self.list, ExampleSchema.todo())
        #expect(
            documents.operation("ListQuery")?.request.operation.text == """
                ListQuery
                  user(id:"me") -> User
                    todos(first:5) -> TodoConnection
                      edges -> TodoEdge*
                        node -> Todo
                          text
                          __typename
                          id
                        cursor
                      pageInfo -> PageInfo
                        endCursor
                        hasNextPage
                    handle connection todos(first:5) as __List_todos_connection
                    id
                """)
        #expect(
            documents.fragment("List_user")?.node.text == """
                List_user on User($count = 10, $cursor, $done); \
                refetch ListPaginationQuery ["node"] by id; \
                connection ["todos"] forward count,cursor
                  todos: __List_todos_connection(complete:$done) -> TodoConnection
                    client
                      __id
                    edges -> TodoEdge*
                      node -> Todo
                        text
                        __typename
                      cursor
                    pageInfo -> PageInfo
                      endCursor
                      hasNextPage
                """)
    }

    /// Its own, then those that a fragment in it leaves to operations, then the one for the record.
    @Test func aRefetchQueryHasAllVariables() throws {
        let documents = try compile(
            """
            fragment F on User @refetchable(queryName: "FQ") @argumentDefinitions(n: {type: "Int"}) {
              todos(first: $n) { edges { cursor } }
              ...G
            }
            fragment G on User { list: todos(first: 1, complete: $done) { edges { cursor } } }
            """, ExampleSchema.todo())
        #expect(documents.operation("FQ")?.variables.map(\.name) == ["n", "done", "id"])
    }

    /// A variable of the operation may be given to an argument with a default, and must then be what its places need.
    @Test func theQueryOfAFragmentHasTheTypesThatItsInnerFragmentsNeed() throws {
        let documents = try compile(
            """
            query Q($x: Boolean!) { user { ...Outer } }
            fragment Outer on User @refetchable(queryName: "OuterRefetchQuery") { id ...Inner @arguments(x: $x) }
            fragment Inner on User @argumentDefinitions(x: {type: "Boolean", defaultValue: false}) {
              userId @include(if: $x)
            }
            """, ExampleSchema.todo())
        let text = try #require(documents.operation("OuterRefetchQuery")).text
        #expect(text.contains("query OuterRefetchQuery($x: Boolean!"))
    }

    /// And no narrower type: the operation's own variable may be null, where its default makes up for what the inner
    /// fragment declares.
    @Test func theQueryOfAFragmentTakesWhatTheOperationTakes() throws {
        let documents = try compile(
            """
            query Q($n: Int = 3) { user { ...Outer } }
            fragment Outer on User @refetchable(queryName: "OuterRefetchQuery") { id ...Inner @arguments(n: $n) }
            fragment Inner on User @argumentDefinitions(n: {type: "Int!"}) { todos(first: $n) { edges { cursor } } }
            """, ExampleSchema.todo())
        let text = try #require(documents.operation("OuterRefetchQuery")).text
        #expect(text.contains("query OuterRefetchQuery($n: Int,"), "\(text)")
    }

    /// In literals of `@oneOf` inputs no field may be null, and in those of custom scalars anything may be anywhere.
    @Test func theQueryOfAFragmentHasTheVariablesOfLiterals() throws {
        let schema = try Schema.build([
            Source(
                """
                scalar JSON
                input By @oneOf { name: String id: ID }
                type Query { user: User node(id: ID!): Node }
                interface Node { id: ID! }
                type User implements Node { id: ID! one(by: By!): String any(json: JSON, list: [JSON]): String }
                """)
        ])
        let documents = try compile(
            """
            query Q($x: String!, $a: JSON, $b: JSON, $c: JSON) { user { ...Outer } }
            fragment Outer on User @refetchable(queryName: "OuterRefetchQuery") {
              one(by: {name: $x}) any(json: [$a, {b: $b}], list: [{c: [$c]}])
            }
            """, schema)
        let text = try #require(documents.operation("OuterRefetchQuery")).text
        #expect(
            text.contains("($x: String!, $a: JSON, $b: JSON, $c: JSON, $id: ID!)"), "\(text)")
    }

    @Test func refetchableFragmentsGetTheirQuery() throws {
        let documents = try compile(Self.list, ExampleSchema.todo())
        let request = try #require(documents.operation("ListPaginationQuery")?.request)
        #expect(
            request.fragment.text == """
                ListPaginationQuery on Query($count = 10, $cursor, $done, $id)
                  node(id:$id) -> ?
                    ...List_user with count:$count,cursor:$cursor,done:$done
                """)
        #expect(
            request.operation.text == """
                ListPaginationQuery($count = 10, $cursor, $done, $id)
                  node(id:$id) -> ?
                    __typename
                    on User
                      todos(after:$cursor,complete:$done,first:$count) -> TodoConnection
                        edges -> TodoEdge*
                          node -> Todo
                            text
                            __typename
                            id
                          cursor
                        pageInfo -> PageInfo
                          endCursor
                          hasNextPage
                      handle connection todos(after:$cursor,complete:$done,first:$count) \
                as __List_todos_connection(complete:$done)
                    id
                """)
    }

    /// It has pages, wherever it is selected.
    @Test func aConnectionUnderTwoConditionsIsOne() throws {
        let documents = try compile(
            """
            fragment F on User @refetchable(queryName: "FQ")
            @argumentDefinitions(n: {type: "Int"}, c: {type: "String"}) {
              ... @include(if: $a) { ...G @relay(mask: false) todos(first: $n, after: $c) @connection(key: "F_todos") { edges { node { id } } } }
              todos(first: $n, after: $c) @connection(key: "F_todos") { edges { node { text } } }
            }
            fragment G on User { userId }
            """, ExampleSchema.todo())
        let metadata = try #require(documents.fragment("F")?.node.metadata)
        #expect(metadata.connections.count == 1)
    }

    /// One field of a response may be in several connections, or be added to some by several fragments.
    @Test func aFieldHasTheHandlersOfAllItsSelections() throws {
        let documents = try compile(
            """
            query Q { user { ...A ...B ...C } }
            fragment A on User { todos(first: 5) @connection(key: "A_todos") { edges { node { id } } } }
            fragment B on User { todos(first: 5) @connection(key: "B_todos") { edges { node { id } } } }
            fragment C on User { todos(first: 5) @connection(key: "A_todos") { edges { node { id } } } }
            mutation M($input: AddTodoInput!, $a: [ID!]!, $b: [ID!]!) {
              addTodo(input: $input) { ...D ...E }
            }
            fragment D on AddTodoPayload { todoEdge @appendEdge(connections: $a) { node { id } } }
            fragment E on AddTodoPayload { todoEdge @appendEdge(connections: $b) { node { id } } }
            """, ExampleSchema.todo())
        func handles(_ name: String) -> [String] {
            let text = documents.operation(name)?.request.operation.text ?? ""
            return text.split(separator: "\n").compactMap { line in
                line.contains("handle ") ? String(line.drop { $0 == " " }) : nil
            }
        }
        #expect(
            handles("Q") == [
                "handle connection todos(first:5) as __A_todos_connection",
                "handle connection todos(first:5) as __B_todos_connection",
            ])
        #expect(
            handles("M") == [
                "handle appendEdge todoEdge as __todoEdge_appendEdge with connections:$a",
                "handle appendEdge todoEdge as __todoEdge_appendEdge with connections:$b",
            ])
    }

    @Test func mutationDirectivesHandTheirFieldsToHandlers() throws {
        let documents = try compile(
            """
            mutation AddMutation($input: AddTodoInput!, $connections: [ID!]!) {
              addTodo(input: $input) {
                todoEdge @appendEdge(connections: $connections) { node { text } }
                todo @prependNode(connections: $connections, edgeTypeName: "TodoEdge") { id }
              }
            }
            mutation RemoveMutation($input: RemoveTodoInput!) {
              removeTodo(input: $input) { deletedTodoId @deleteRecord }
            }
            """, ExampleSchema.todo())
        #expect(
            documents.operation("AddMutation")?.request.operation.text == """
                AddMutation($input, $connections)
                  addTodo(input:$input) -> AddTodoPayload
                    todoEdge -> TodoEdge
                      node -> Todo
                        text
                        id
                    handle appendEdge todoEdge as __todoEdge_appendEdge with connections:$connections
                    todo -> Todo
                      id
                    handle prependNode todo as __todo_prependNode \
                with connections:$connections,edgeTypeName:"TodoEdge"
                """)
        #expect(
            documents.operation("RemoveMutation")?.request.operation.text == """
                RemoveMutation($input)
                  removeTodo(input:$input) -> RemoveTodoPayload
                    deletedTodoId
                    handle deleteRecord deletedTodoId as __deletedTodoId_deleteRecord
                """)
        let text = documents.operation("AddMutation")?.text
        #expect(text?.contains("$connections") == false)
    }

    @Test func variablesOfASpreadFragmentBecomeVariablesOfTheRefetchQuery() throws {
        let documents = try compile(
            """
            fragment Outer on Project @refetchable(queryName: "OuterRefetchQuery") { ...Inner }
            fragment Inner on Project { issues(first: 1, priority: $p, open: $o) { edges { cursor } } }
            """, ExampleSchema.tracker())
        #expect(
            documents.operation("OuterRefetchQuery")?.text.hasPrefix(
                "query OuterRefetchQuery($p: Priority, $o: Boolean, $id: ID!) {") == true)
        #expect(
            documents.fragment("Inner")?.node.text.hasPrefix("Inner on Project(root $p, root $o)")
                == true)
    }

    /// A variable that a fragment declares is not that of the same name in a fragment that it spreads.
    @Test func variablesOfASpreadFragmentAreNotThoseThatTheFragmentAroundItDeclares() throws {
        let documents = try compile(
            """
            query Q($p: Priority) { node(id: 1) { ...Outer } }
            fragment Outer on Project @refetchable(queryName: "OuterRefetchQuery") { ...Middle }
            fragment Middle on Project @argumentDefinitions(p: {type: "Priority", defaultValue: LOW}) {
              ...Inner
              low: issues(first: 1, priority: $p) { edges { cursor } }
            }
            fragment Inner on Project { issues(first: 1, priority: $p) { edges { cursor } } }
            """, ExampleSchema.tracker())
        let text = try #require(documents.operation("OuterRefetchQuery")?.text)
        #expect(text.hasPrefix("query OuterRefetchQuery($p: Priority, $id: ID!) {"))
        #expect(text.contains("low: issues(first: 1, priority: LOW)"))
    }

    @Test(arguments: ["Actor", "Owner"])
    func abstractTypesOfNodesAreRefetched(_ type: String) throws {
        let schema = try Schema.build([
            Source(
                """
                interface Node { id: ID! }
                interface Actor { login: String }
                union Owner = User | Team
                union Any = User | Tag
                type Query { node(id: ID!): Node }
                type User implements Node & Actor { id: ID! login: String }
                type Team implements Node & Actor { id: ID! login: String }
                type Tag { name: String }
                """)
        ])
        func fragment(on type: String) -> String {
            "fragment F on \(type) @refetchable(queryName: \"Q\") { __typename }"
        }
        let documents = try compile(fragment(on: type), schema)
        let text = try #require(documents.operation("Q")?.text)
        #expect(
            text.hasPrefix("query Q($id: ID!) {\n  node(id: $id) {\n    __typename\n"), "\(text)")
        #expect(documents.fragment("F")?.node.metadata.refetch?.path == ["node"])
        let message =
            "Cannot refetch fragment \"F\": \"Any\" is neither Query nor Viewer nor a Node. (1:19)"
        #expect(try Mistake(fragment(on: "Any")).messages(schema) == [message])
    }

    @Test func aVariableOfARefetchQueryFitsAllItsPlaces() throws {
        let schema = try Schema.build([
            Source(
                """
                interface Node { id: ID! }
                type Query { node(id: ID!): Node }
                type Item implements Node { id: ID! a(x: [Int]!): Int b(x: [Int!]): Int c(x: [Int]): Int }
                """)
        ])
        for fields in ["a(x: $x) b(x: $x) c(x: $x)", "b(x: $x) c(x: $x) a(x: $x)"] {
            let documents = try compile(
                "fragment F on Item @refetchable(queryName: \"Q\") { \(fields) }", schema)
            #expect(
                documents.operation("Q")?.text.hasPrefix("query Q($x: [Int!]!, $id: ID!) {") == true
            )
        }
    }
}
