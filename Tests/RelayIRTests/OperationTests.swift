import GraphQLLanguage
import RelayArtifacts
import RelayIR
import Testing

@Suite struct OperationTests {
    @Test func argumentsOfAFragmentHaveTheTypesThatItDeclares() throws {
        let documents = try compile(
            """
            query Q { ...F @arguments(id: 5, ids: 6) }
            fragment F on Query @argumentDefinitions(id: {type: "ID!"}, ids: {type: "[ID!]!"}) {
              node(id: $id) { id }
              nodes(ids: $ids) { id }
            }
            """, ExampleSchema.todo())
        let operation = try #require(documents.operation("Q"))
        // As where the fragment is written out, or its data would be looked for in the wrong place.
        #expect(operation.request.operation.text.contains(#"node(id:"5")"#))
        #expect(operation.request.operation.text.contains(#"nodes(ids:["6"])"#))
        #expect(
            operation.request.fragment.text == """
                Q on Query
                  ...F with id:"5",ids:["6"]
                """)
    }

    /// A default that the server needs, because a value must be there in the end, stays in the query.
    @Test func aRefetchQueryTellsTheDefaultsThatItNeeds() throws {
        let documents = try compile(
            """
            query Q { user { ...A ...C } }
            fragment A on User @refetchable(queryName: "ARefetchQuery")
              @argumentDefinitions(x: {type: "Boolean", defaultValue: true}) { id ...B @arguments(x: $x) }
            fragment B on User @argumentDefinitions(x: {type: "Boolean", defaultValue: false}) {
              userId @include(if: $x)
            }
            fragment C on User @refetchable(queryName: "CRefetchQuery")
              @argumentDefinitions(n: {type: "Int!", defaultValue: 9}) { id ...D @arguments(n: $n) }
            fragment D on User @argumentDefinitions(n: {type: "Int", defaultValue: 3}) {
              todos(first: $n) { edges { node { id } } }
            }
            """, ExampleSchema.todo())
        func head(_ name: String) -> Substring? {
            documents.operation(name)?.text.prefix { $0 != "{" }
        }
        #expect(head("ARefetchQuery") == "query ARefetchQuery($x: Boolean = true, $id: ID!) ")
        #expect(head("CRefetchQuery") == "query CRefetchQuery($n: Int, $id: ID!) ")
    }

    /// A field of an interface is one field with that of its objects, whatever their defaults.
    @Test func whereOneFieldHasADefaultNullCountsInAll() throws {
        let schema = try Schema.build([
            Source(
                """
                type Query { named: Named }
                interface Named { name(upper: Boolean): String }
                type User implements Named { name(upper: Boolean = true): String other(upper: Boolean): Int }
                """)
        ])
        let documents = try compile(
            """
            query Q($u: Boolean) { named { name(upper: $u) none: name(upper: null) ...F } }
            fragment F on User { name(upper: $u) none: name(upper: null) other(upper: null) }
            """, schema)
        let operation = try #require(documents.operation("Q")).request.operation.text
        let fragment = try #require(documents.fragment("F")).node.text
        for text in [operation, fragment] {
            #expect(text.contains("name(upper:$u or null)"))
            #expect(text.contains("none: name(upper:null)"))
        }
        // One rule for a name: code that names fields at run time knows no types.
        #expect(fragment.contains("other(upper:null)"))
        #expect(documents.operation("Q")?.request.operation.nullArguments == ["upper"])
    }

    @Test func fragmentsStayClosedForReadersAndAreWrittenOutForNormalization() throws {
        let documents = try compile(
            """
            query UserQuery { user(id: "me") { name: userId ...Item_user } }
            fragment Item_user on User { totalCount todos(first: 2) { edges { node { text } } } }
            """, ExampleSchema.todo())
        let operation = try #require(documents.operation("UserQuery"))
        #expect(
            operation.request.fragment.text == """
                UserQuery on Query
                  user(id:"me") -> User
                    name: userId
                    ...Item_user
                """)
        #expect(
            operation.request.operation.text == """
                UserQuery
                  user(id:"me") -> User
                    name: userId
                    totalCount
                    todos(first:2) -> TodoConnection
                      edges -> TodoEdge*
                        node -> Todo
                          text
                          id
                    id
                """)
        #expect(
            operation.request.params.text == """
                query UserQuery {
                  user(id: "me") {
                    name: userId
                    ...Item_user
                    id
                  }
                }

                fragment Item_user on User {
                  totalCount
                  todos(first: 2) {
                    edges {
                      node {
                        text
                        id
                      }
                    }
                  }
                }

                """)
        #expect(operation.request.params.operationKind == .query)
        #expect(
            documents.fragment("Item_user")?.node.text == """
                Item_user on User
                  totalCount
                  todos(first:2) -> TodoConnection
                    edges -> TodoEdge*
                      node -> Todo
                        text
                """)
    }

    @Test func abstractTypesBringTheirNamesAndDiscriminators() throws {
        let documents = try compile(
            """
            query Q($id: ID!) { node(id: $id) { ... on Titled { title } ...Issue_titled } }
            fragment Issue_titled on Titled { title ... on Issue { open } }
            """, ExampleSchema.tracker())
        let request = try #require(documents.operation("Q")?.request)
        #expect(
            request.operation.text == """
                Q($id)
                  node(id:$id) -> ?
                    __typename
                    on Titled __isTitled Project|Issue
                      title
                      on Issue
                        open
                    id
                """)
        #expect(
            request.fragment.text == """
                Q on Query($id)
                  node(id:$id) -> ?
                    on Titled __isTitled Project|Issue
                      title
                    ...Issue_titled
                """)
        #expect(
            documents.fragment("Issue_titled")?.node.text == """
                Issue_titled on Titled; possible Project|Issue
                  title
                  on Issue
                    open
                """)
        #expect(
            request.params.text?.contains("... on Titled {\n      __isTitled: __typename") == true)
    }

    @Test func conditionsAreKeptAndWhatIsThereAnywayIsNotRepeated() throws {
        let documents = try compile(
            """
            query Q($more: Boolean!, $less: Boolean!) {
              user {
                userId @include(if: true)
                ... @include(if: $more) { userId totalCount }
                completedCount @skip(if: $less) @include(if: $more)
                never: totalCount @skip(if: true)
              }
            }
            """, ExampleSchema.todo())
        #expect(
            documents.operation("Q")?.request.operation.text == """
                Q($more, $less)
                  user -> User
                    userId
                    if $more
                      totalCount
                    if not $less
                      if $more
                        completedCount
                    id
                """)
        #expect(
            documents.operation("Q")?.request.fragment.text == """
                Q on Query($more, $less)
                  user -> User
                    userId
                    if $more
                      userId
                      totalCount
                    if not $less
                      if $more
                        completedCount
                """)
    }

    @Test func requiredAndCatchAreMarksForReadersOnly() throws {
        let documents = try compile(
            """
            query Q @throwOnFieldError {
              user @required(action: LOG) {
                todos(first: 1) @catch { edges { node @required(action: THROW) { text } } }
              }
            }
            fragment F on User @catch(to: NULL) @relay(plural: true) { __id userId @required(action: NONE) }
            """, ExampleSchema.todo())
        let request = try #require(documents.operation("Q")?.request)
        #expect(
            request.fragment.text == """
                Q on Query; throws
                  user -> User required LOG
                    todos(first:1) -> TodoConnection catch RESULT
                      edges -> TodoEdge*
                        node -> Todo required THROW
                          text
                """)
        #expect(request.params.text?.contains("@") == false)
        #expect(
            documents.fragment("F")?.node.text == """
                F on User; plural; catch NULL
                  client
                    __id
                  userId required NONE
                """)
    }

    @Test func persistedOperationsHaveAnIDAndNoText() throws {
        let documents = try RelayDocuments(
            Document(parsing: "query Q { user { userId } }"), schema: ExampleSchema.todo(),
            persist: { "id-\($0.utf8.count)" })
        let operation = try #require(documents.operation("Q"))
        #expect(operation.request.params.text == nil)
        #expect(operation.request.params.id == "id-\(operation.text.utf8.count)")
    }

    /// Servers of before September 2025 do not parse descriptions, and a comment must not change a persisted id.
    @Test func descriptionsAreNotSent() throws {
        let documents = try compile(
            """
            "The first screen." query Q("Whose." $id: ID!) { user(id: $id) { ...F } }
            "A user." fragment F on User { userId }
            """, ExampleSchema.todo())
        let operation = try #require(documents.operation("Q"))
        #expect(
            operation.text == """
                query Q($id: ID!) {
                  user(id: $id) {
                    ...F
                    id
                  }
                }

                fragment F on User {
                  userId
                }

                """)
        #expect(operation.definition.description?.value == "The first screen.")
        #expect(operation.variables.first?.definition.description?.value == "Whose.")
    }

    @Test func unmaskedFragmentsAreReadInPlace() throws {
        let documents = try compile(
            """
            query Q { user { ...F @relay(mask: false) } }
            fragment F on User { userId }
            """, ExampleSchema.todo())
        #expect(
            documents.operation("Q")?.request.fragment.text == """
                Q on Query
                  user -> User
                    userId
                """)
    }

    @Test func variablesOfAnUnmaskedFragmentAreThoseOfItsReader() throws {
        let documents = try compile(
            """
            fragment Outer on User { ...F @relay(mask: false) ...G }
            fragment F on User { todos(first: $count) { edges { cursor } } }
            fragment G on User { others: todos(first: $more) { edges { cursor } } }
            """, ExampleSchema.todo())
        #expect(
            documents.fragment("Outer")?.node.text.hasPrefix("Outer on User(root $count)\n") == true
        )
    }

    @Test func aClientsOwnTextIsNormalizedWithNothingAdded() throws {
        let document = try Document(
            parsing: """
                query Q($id: ID!) {
                  node(id: $id) { __typename ... on Node { __isNode: __typename id }
                    ...T }
                }
                fragment T on Titled { __isTitled: __typename title }
                """)
        let node = try NormalizationOperation.normalizing(
            document.operations[0], in: document, schema: ExampleSchema.tracker())
        #expect(
            node.text == """
                Q($id)
                  node(id:$id) -> ?
                    __typename
                    is __isNode
                    id
                    on Titled __isTitled Project|Issue
                      title
                """)
    }

    @Test func defaultsFollowTheTypesOfVariables() throws {
        let documents = try compile(
            """
            mutation M($e: Float = 1, $l: [String!] = "a", $id: ID = 5) {
              addIssue(input: {projectId: $id, title: "t", estimate: $e, labels: $l}) {
                issue { title }
              }
            }
            """.replacing("$id: ID =", with: "$id: ID! ="), ExampleSchema.tracker())
        #expect(
            documents.operation("M")?.request.operation.text == """
                M($e = 1.0, $l = ["a"], $id = "5")
                  addIssue(input:{projectId:$id,title:"t",estimate:$e,labels:$l}) -> AddIssuePayload
                    issue -> Issue
                      title
                      id
                """)
    }
}
