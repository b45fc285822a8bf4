import SchemaService
import Testing

/// What is said about each mistake, word for word. Every snippet is added to ``base`` as line 8.
@Suite(.bounded) struct SchemaMistakeTests {
    /// A schema without mistakes.
    static let base = """
        interface Node { id: ID! }
        type Query { node(id: ID!): Node user(id: ID!): User @lookup }
        type User implements Node { id: ID! name: String! @unique todos: TodoConnection friends: [User!]! best: User tags: [String!] age: Int }
        type Todo implements Node { id: ID! text: String! done: Boolean }
        type TodoConnection { edges: [TodoEdge] pageInfo: PageInfo! }
        type TodoEdge { node: Todo cursor: String! }
        type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }

        """

    static func mistakes(in sdl: String) -> String {
        do throws(SchemaMistakes) {
            _ = try ServiceSchema(base + sdl)
            return ""
        } catch {
            return error.mistakes.map(\.summary).joined(separator: "\n")
        }
    }

    @Test(arguments: [
        (
            #"extend type Query { a: User }"#,
            #"""
            8:21: Nothing says what "Query.a" is. Add @lookup to find one record by an argument, or @list(type: "…") for all records of a type; or register a resolver for it.
            """#
        ),
        (
            #"extend type Query { a: User @lookup }"#,
            #"""
            8:29: @lookup: "Query.a" must have one argument, the id or unique value of the record. Write: a(id: ID!): User @lookup
            """#
        ),
        (
            #"extend type Query { a(id: ID!, b: ID!): User @lookup }"#,
            #"""
            8:46: @lookup: "Query.a" must have one argument, the id or unique value of the record. Write: a(id: ID!): User @lookup
            """#
        ),
        (
            #"extend type Query { a(id: ID!): [User] @lookup }"#,
            #"""
            8:40: @lookup: "Query.a" is [User], and what is found is one record. Its type must implement Node.
            """#
        ),
        (
            #"extend type Query { a(id: ID!): String @lookup }"#,
            #"""
            8:40: @lookup: "Query.a" is String, and what is found is one record. Its type must implement Node.
            """#
        ),
        (
            #"extend type Query { a: [User!]! @list(type: "Usr") }"#,
            #"""
            8:45: @list: There is no type "Usr". Did you mean "User"?
            """#
        ),
        (
            #"extend type Query { a: [User!]! @list(type: "Todo") }"#,
            #"""
            8:33: @list: "Query.a" is [User!]!, which holds no list of "Todo". Write: a: [Todo!]! @list(type: "Todo"), or a connection
            """#
        ),
        (
            #"extend type Query { a: [User!]! @list(type: "PageInfo") }"#,
            #"""
            8:45: @list: Type "PageInfo" is not stored. Write: type PageInfo implements Node { id: ID! … }
            """#
        ),
        (
            #"extend type Query { a: [User!]! @list(typ: "User") }"#,
            #"""
            8:33: Directive "@list" argument "type" of type "String!" is required, but it was not provided.
            8:39: Unknown argument "typ" on directive "@list". Did you mean "type"?
            """#
        ),
        (
            #"extend type Query { a: [User!]! @list(type: User) }"#,
            #"""
            8:45: String cannot represent a non string value: User
            """#
        ),
        (
            #"extend type Query { a(nam: String): [User!]! @list(type: "User") }"#,
            #"""
            8:23: Argument "nam" of "Query.a" names no stored field of "User" to filter by. Did you mean "name"?
            """#
        ),
        (
            #"extend type Query { a(name: Int, friends: ID): [User!]! @list(type: "User") }"#,
            #"""
            8:23: Argument "name" of "Query.a" is compared with a field of type String!. Write: name: String
            8:34: Argument "friends" of "Query.a" names no stored field of "User" to filter by.
            """#
        ),
        (
            #"extend type Query { a(first: String, after: Int): TodoConnection @list(type: "Todo") }"#,
            #"""
            8:23: Argument "first" of a connection is Int, not String. Write: first: Int
            8:38: Argument "after" of a connection is String, not Int. Write: after: String
            """#
        ),
        (
            #"extend type Query { a(id: ID!): User @lookup @list(type: "User") }"#,
            #"""
            8:46: "Query.a" has @lookup and @list. Keep one of them.
            """#
        ),
        (
            #"extend type Query { a(id: ID!): User @lookup @live }"#,
            #"""
            8:46: @live means nothing on "Query.a": it stands on fields of the subscription type. Remove it.
            """#
        ),
        (
            #"extend type Query { a(id: ID!): User @lookup @create(type: "User") }"#,
            #"""
            8:46: @create means nothing on "Query.a": it stands on fields of the mutation type. Remove it.
            """#
        ),
    ])
    func mistakesOfFoundFieldsAreNamed(sdl: String, expected: String) {
        #expect(Self.mistakes(in: sdl) == expected)
    }

    @Test(arguments: [
        (
            #"extend type User { n: Int @count(field: "todo") }"#,
            #"""
            8:41: @count: Type "User" has no field "todo". Did you mean "todos"?
            """#
        ),
        (
            #"extend type User { n: Int @count(field: "name") }"#,
            #"""
            8:41: @count: "User.name" is neither a list of records nor a connection. What there is: todos, friends.
            """#
        ),
        (
            #"extend type User { n: String @count(field: "todos") }"#,
            #"""
            8:30: @count: "User.n" is String. Write: n: Int! @count(…)
            """#
        ),
        (
            #"extend type User { n(a: Int): Int @count(field: "todos", where: { don: true }) }"#,
            #"""
            8:22: @count: Argument "a" means nothing here. Remove it.
            8:67: @count: "don" is no stored field of "Todo" to compare with. Did you mean "done"?
            """#
        ),
        (
            #"extend type User { n: Int @count(field: "todos", where: { done: 1 }) }"#,
            #"""
            8:65: @count: "done" is Boolean, and 1 is none.
            """#
        ),
        (
            #"extend type User { n: Int @count(field: "todos", where: true) }"#,
            #"""
            8:57: @count: "where" is an object. Write: where: { field: value }
            """#
        ),
        (
            #"extend type User { u: [String!] @unique v: Float @unique w: Int @now x: User @now y: Boolean @unique }"#,
            #"""
            8:33: @unique: "User.u" is [String!]. Only a String, ID, Int, enum or custom scalar names a record.
            8:50: @unique: "User.v" is Float. Only a String, ID, Int, enum or custom scalar names a record.
            8:65: @now: "User.w" is Int, and a time is written as text. Write: w: String!, or a scalar of your own
            8:78: @now: "User.x" is User, and a time is written as text. Write: x: String!, or a scalar of your own
            8:94: @unique: "User.y" is Boolean. Only a String, ID, Int, enum or custom scalar names a record.
            """#
        ),
        (
            #"extend type User { u(a: Int): String }"#,
            #"""
            8:22: "User.u" is a stored value, for which argument "a" means nothing. Remove it.
            """#
        ),
        (
            #"extend type User { u: Plain } type Plain { a: Int }"#,
            #"""
            8:23: "User.u" cannot be stored: "Plain" is no scalar, no enum, no connection, and does not implement Node. Write: type Plain implements Node { id: ID! … }
            """#
        ),
        (
            #"extend type User { u: BadConnection } type BadConnection { edges: [TodoEdge] }"#,
            #"""
            8:23: "User.u" cannot be stored: connection "BadConnection" lacks "pageInfo: PageInfo!".
            """#
        ),
        (
            #"extend type User { u: BadConnection } type BadConnection { pageInfo: PageInfo! }"#,
            #"""
            8:23: "User.u" cannot be stored: connection "BadConnection" lacks "edges: [BadEdge]".
            """#
        ),
        (
            #"extend type User { u: [TodoConnection] v: [[User]] }"#,
            #"""
            8:23: "User.u" cannot be stored: it is a list of connections. Write: u: TodoConnection
            8:43: "User.v" cannot be stored: it is a list of lists. Write: v: [User!]!
            """#
        ),
        (
            #"extend type User { u: Any } union Any = User | Plain type Plain { a: Int }"#,
            #"""
            8:23: "User.u" cannot be stored: "Any" can be a type that does not implement Node.
            """#
        ),
        (
            #"extend type TodoConnection { total: Int } extend type TodoEdge { cursr: String }"#,
            #"""
            8:30: "TodoConnection.total" cannot be filled. What can be: edges, pageInfo. Remove it.
            8:66: "TodoEdge.cursr" cannot be filled. What can be: node, cursor. Remove it.
            """#
        ),
        (
            #"extend type User { u: PlainConnection } type PlainConnection { edges: [PlainEdge] pageInfo: PageInfo! } type PlainEdge { node: Plain cursor: Int! } type Plain { a: Int }"#,
            #"""
            8:41: "PlainConnection" is a connection of "Plain", which is not stored. Write: type Plain implements Node { id: ID! … }
            8:142: "PlainEdge.cursor" is Int!. Write: cursor: String!
            """#
        ),
    ])
    func mistakesOfStoredFieldsAreNamed(sdl: String, expected: String) {
        #expect(Self.mistakes(in: sdl) == expected)
    }

    @Test(arguments: [
        (
            #"type Mutation { a: Int }"#,
            #"""
            8:17: Nothing says what mutation "a" does. Add @create, @update, @delete, @link, @unlink or @move; or register a handler for it.
            """#
        ),
        (
            #"type Mutation { a(input: A!): User @create(type: "User") } input A { name: String! }"#,
            #"""
            8:31: Mutation "a" returns User. It returns an object with the record as a field. Write: a(…): APayload
            """#
        ),
        (
            #"type Mutation { a(input: A): P @create(type: "User") } input A { name: String! } type P { user: User }"#,
            #"""
            8:17: Mutation "a" takes one argument, its input object. Write: a(input: AInput!)
            """#
        ),
        (
            #"type Mutation { a(input: A!): P @create(type: "PageInfo") } input A { name: String! } type P { user: User }"#,
            #"""
            8:47: @create: Type "PageInfo" is not stored. Write: type PageInfo implements Node { id: ID! … }
            """#
        ),
        (
            #"type Mutation { a(input: A!): P @create(type: "User") } input A { age: Int } type P { user: User }"#,
            #"""
            8:33: @create: Nothing fills "User.name", which is String!. Write in A: name: String!
            """#
        ),
        (
            #"type Mutation { a(input: A!): P @create(type: "User") } input A { name: String age: String frends: [ID!] bestId: [ID] tags: [String] friends: [ID] id: ID } type P { user: User }"#,
            #"""
            8:67: "User.name" is String!, and "A.name" may be left out. Write: name: String!
            8:80: "A.age" is String, which cannot be stored in "User.age": Int. Write: age: Int
            8:92: "A.frends" is no field of "User". Did you mean "friends"?
            8:106: "A.bestId" is [ID], which cannot be stored in "User.best": User. Write: bestId: ID
            8:119: "A.tags" is [String], which cannot be stored in "User.tags": [String!]. Write: tags: [String!]
            8:134: "A.friends" is [ID], which cannot be stored in "User.friends": [User!]!. Write: friends: [ID!]
            8:148: "A.id" is generated by the server. Remove it.
            """#
        ),
        (
            #"type Mutation { a(input: A!): P @create(type: "Todo", into: "User.todoz", parent: "userId") } input A { text: String! userId: ID! } type P { todo: Todo }"#,
            #"""
            8:61: @create: Type "User" has no field "todoz". Did you mean "todos"?
            """#
        ),
        (
            #"type Mutation { a(input: A!): P @create(type: "Todo", into: "User.name", parent: "userId") } input A { text: String! userId: ID! } type P { todo: Todo }"#,
            #"""
            8:61: @create: "User.name" is neither a list of records nor a connection. What there is: todos, friends.
            """#
        ),
        (
            #"type Mutation { a(input: A!): P @create(type: "Todo", into: "todos", parent: "userId") } input A { text: String! userId: ID! } type P { todo: Todo }"#,
            #"""
            8:61: @create: "todos" names no field. Write "Type.field".
            """#
        ),
        (
            #"type Mutation { a(input: A!): P @create(type: "Todo", into: "User.todos") } input A { text: String! userId: ID! } type P { todo: Todo }"#,
            #"""
            8:33: @create: Nothing says which User has the list "User.todos". Write: parent: "userId"
            """#
        ),
        (
            #"type Mutation { a(input: A!): P @create(type: "Todo", into: "User.todos", parent: "userld") } input A { text: String! userId: ID! } type P { todo: Todo }"#,
            #"""
            8:83: @create: Input "A" has no field "userld" to name a User with. Did you mean "userId"?
            """#
        ),
        (
            #"type Mutation { a(input: A!): P @create(type: "Todo", into: "User.friends", parent: "userId") } input A { text: String! userId: ID! } type P { todo: Todo }"#,
            #"""
            8:33: @create: "User.friends" holds User, not Todo.
            """#
        ),
        (
            #"type Mutation { a(input: A!): P @create(type: "Todo", into: "User.todos", parent: "userId") } input A { text: String! userId: ID } type P { todo: Todo! todoEdge: TodoEdge! user: User! clientMutationId: String! other: Int }"#,
            #"""
            8:163: "P.todoEdge" can be null: "A.userId" may be left out. Write: todoEdge: TodoEdge
            8:179: "P.user" can be null: "A.userId" may be left out. Write: user: User
            8:203: "P.clientMutationId" can be null: the client may leave it out of its input. Write: clientMutationId: String
            8:211: "P.other" cannot be filled by @create. What can be: todo: Todo, todoEdge: TodoEdge, user: User, clientMutationId: String.
            """#
        ),
        (
            #"type Mutation { a(input: A!): P @update(type: "Todo", parent: "userId") } input A { text: String userId: ID! } type P { todo: Todo! }"#,
            #"""
            8:33: @update: Input "A" has no field "id" to name a Todo with. Write in it: id: ID!
            8:63: @update: Nothing says what record "userId" names. Give "P" one field of its type, or leave out "parent".
            """#
        ),
        (
            #"type Mutation { a(input: A!): P @update(type: "Todo") } input A { id: ID text: String } type P { todo: Todo! todoEdge: TodoEdge }"#,
            #"""
            8:67: "A.id" is ID, and it must name a Todo. Write: id: ID!
            8:110: "P.todoEdge" cannot be filled by @update. What can be: todo: Todo, clientMutationId: String.
            """#
        ),
        (
            #"type Mutation { a(input: A!): P @delete(type: "Todo", from: "User.todos", parent: "userId") } input A { id: ID! userId: ID! why: String } type P { todo: Todo deletedId: ID! user: User! }"#,
            #"""
            8:125: @delete does nothing with "A.why". Remove it.
            8:148: "P.todo" cannot be filled by @delete. What can be: user: User, deletedId: ID!, clientMutationId: String.
            """#
        ),
        (
            #"extend type User { secrets(first: Int, after: String, last: Int, before: String): TodoConnection @access(read: { viewer: true }) } type Mutation { a(input: A!): P @link(field: "User.secrets", parent: "userId", child: "todoId") } input A { todoId: ID! userId: ID! } type P { todo: Todo edge: TodoEdge! user: User! }"#,
            #"""
            8:292: "P.edge" can be null: not everybody may read the list. Write: edge: TodoEdge
            """#
        ),
        (
            #"type Mutation { a(input: A!): P @unlink(field: "User.todos", parent: "userId", child: "todoId") } input A { todoId: ID! userId: ID! } type P { todo: Todo edge: TodoEdge! user: User! }"#,
            #"""
            8:161: "P.edge" can be null: the record has no edge any more. Write: edge: TodoEdge
            """#
        ),
        (
            #"type Mutation { a(input: A!): P @link(field: "User.todos", parent: "userId", child: "todo") } input A { todoId: ID! userId: ID } type P { todo: Todo edge: TodoEdge! user: User! }"#,
            #"""
            8:85: @link: Input "A" has no field "todo" to name a Todo with. Did you mean "todoId"?
            8:117: "A.userId" is ID, and it must name a User. Write: userId: ID!
            """#
        ),
        (
            #"type Mutation { a(input: A!): P @move(field: "User.todos", parent: "userId", child: "todoId", after: "after") } input A { todoId: ID userId: ID! after: Boolean how: String } type P { todo: Todo! edge: TodoEdge! user: User! deletedId: ID }"#,
            #"""
            8:123: "A.todoId" is ID, and it must name a Todo. Write: todoId: ID!
            8:146: "A.after" is Boolean, and it must name a Todo. Write: after: ID
            """#
        ),
        (
            #"type Mutation { a(input: A!): P @move(field: "User.todos", parent: "userId", child: "todoId", after: "after") } input A { todoId: ID! userId: ID! after: ID how: String } type P { todo: Todo! edge: TodoEdge! user: User! deletedId: ID }"#,
            #"""
            8:157: @move does nothing with "A.how". Remove it.
            8:220: "P.deletedId" cannot be filled by @move. What can be: todo: Todo, todoEdge: TodoEdge, user: User, clientMutationId: String.
            """#
        ),
        (
            #"type Mutation { a(input: A!): P @move(field: "User.todos", parent: "userId", child: "todoId") } input A { todoId: ID! userId: ID! } type P { todo: Todo }"#,
            #"""
            8:33: Directive "@move" argument "after" of type "String!" is required, but it was not provided.
            """#
        ),
        (
            #"type Mutation { a(input: A!): P @update(type: "Todo") b(input: A!): P @delete(type: "Todo") } input A { id: ID! } type P { todo: Todo }"#,
            #"""
            8:124: "P.todo" cannot be filled by @delete. What can be: deletedId: ID!, clientMutationId: String.
            """#
        ),
        (
            #"type Mutation { a(input: A!): P @update(type: "Todo") @delete(type: "Todo") } input A { id: ID! } type P { todo: Todo }"#,
            #"""
            8:55: "Mutation.a" has @update and @delete. Keep one of them.
            """#
        ),
    ])
    func mistakesOfMutationsAreNamed(sdl: String, expected: String) {
        #expect(Self.mistakes(in: sdl) == expected)
    }

    @Test(arguments: [
        (
            #"type Mutation { a(input: A!): P @update(type: "Todo") } input A { id: ID! } type P { todo: Todo } type Subscription { s: P @on(mutations: ["aa"]) t(idd: ID): P @on(mutations: ["a"]) u: User @on(mutations: "a") v(id: Int): P @on(mutations: ["a"]) @live w(id: ID!): User @lookup x: User y: User @live z: P @on(mutations: []) }"#,
            #"""
            8:140: @on: There is no mutation "aa". Did you mean "a"?
            8:149: Argument "idd" of "t" is compared with the input of "a", and A has no such field. Did you mean "id"?
            8:206: @on: Mutation "a" gives P, not User. Write: u: P
            8:213: Argument "id" of "v" is compared with "A.id". Write: id: ID
            8:247: "Subscription.v" has @on and @live. Keep @on to send each mutation, or @live with @lookup or @list to send the newest result.
            8:253: "Subscription.w" does not say when it sends. Add @live to send after every commit that changes it.
            8:278: Nothing says what "Subscription.x" sends. Add @on(mutations: ["…"]), or @live with @lookup or @list; or register a source for it.
            8:286: Nothing says what "Subscription.y" is. Add @lookup to find one record by an argument, or @list(type: "…") for all records of a type; or register a resolver for it.
            8:305: @on: No mutation is named. Write: @on(mutations: ["…"])
            """#
        )
    ])
    func mistakesOfSubscriptionsAreNamed(sdl: String, expected: String) {
        #expect(Self.mistakes(in: sdl) == expected)
    }

    @Test(arguments: [
        (
            #"extend type PageInfo { x: Int @unique y: Int @count(field: "a") }"#,
            #"""
            8:24: "PageInfo.x" cannot be filled. What can be: hasNextPage, hasPreviousPage, startCursor, endCursor. Remove it.
            8:31: @unique means nothing on "PageInfo.x": it stands on fields of a type that implements Node. Write: type PageInfo implements Node { id: ID! … }, or remove it.
            8:39: "PageInfo.y" cannot be filled. What can be: hasNextPage, hasPreviousPage, startCursor, endCursor. Remove it.
            8:46: @count means nothing on "PageInfo.y": it stands on fields of a type that implements Node. Write: type PageInfo implements Node { id: ID! … }, or remove it.
            """#
        ),
        (
            #"extend type Query { a: Foo } extend type User { n: Int @cont(field: "todos") }"#,
            #"""
            8:24: Unknown type "Foo". Did you mean "Todo"?
            8:56: Unknown directive "@cont". Did you mean "@count", "@on", "@link", "@list", or "@move"?
            """#
        ),
    ])
    func mistakesOfPlacesAndOfTheLanguageAreNamed(sdl: String, expected: String) {
        #expect(Self.mistakes(in: sdl) == expected)
    }

    /// One report for everything, in the order of the places, and nothing twice.
    @Test func whatTheLanguageAndTheServiceHaveAgainstASchemaIsToldTogether() {
        #expect(
            Self.mistakes(
                in: """
                    type Mutation { addTodo(input: AddTodoInput!): AddTodoPayload @create(typ: "Todo") }
                    input AddTodoInput { text: Strin! }
                    type AddTodoPayload { todo: Todo }
                    extend type Query { all: [Todo!]! @list(type: "Tod") none: Nothing }
                    """) == """
                    8:63: Directive "@create" argument "type" of type "String!" is required, but it was not provided.
                    8:71: Unknown argument "typ" on directive "@create". Did you mean "type"?
                    9:28: Unknown type "Strin". Did you mean "String"?
                    11:47: @list: There is no type "Tod". Did you mean "Todo"?
                    11:60: Unknown type "Nothing". Did you mean "String"?
                    """)
    }

    @Test func eachMistakeIsShownInItsLine() throws {
        let schema = """
            interface Node { id: ID! }
            type Query { node(id: ID!): Node }
            type User implements Node { id: ID! name: Strin }
            \ttype User { age: Int }
            """
        let mistakes = #expect(throws: SchemaMistakes.self) { try ServiceSchema(schema) }
        #expect(
            mistakes?.named("todo.graphql").description == """
                todo.graphql:3:6: There can be only one type named "User".
                  3 | type User implements Node { id: ID! name: Strin }
                    |      ^
                  4 | \ttype User { age: Int }
                    | \t     ^
                todo.graphql:3:43: Unknown type "Strin". Did you mean "String"?
                  3 | type User implements Node { id: ID! name: Strin }
                    |                                           ^
                """)
    }

    @Test func theBaseAndTheExamplesHaveNone() throws {
        #expect(Self.mistakes(in: "") == "")
        _ = try ServiceSchema(try Example.text("todo.graphql"))
        _ = try ServiceSchema(try Example.text("tracker.graphql"))
    }
}
