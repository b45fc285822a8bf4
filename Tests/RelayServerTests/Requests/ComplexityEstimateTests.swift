import GraphQLLanguage
import RelayJSON
import Testing

@testable import RelayServer
@testable import SchemaService
@testable import StoreEngine

@Suite(.bounded, .timeLimit(.minutes(10)))
struct ComplexityEstimateTests {
    private static let schema = Result {
        try Schema.build(
            [Source(try Example.text("tracker.graphql"))], predefined: [PredefinedDirectives.source]
        )
    }

    private func estimate(_ text: String, assuming listSize: Int = 50) throws -> ComplexityEstimate
    {
        let schema = try Self.schema.get()
        let document = try Document(parsing: text)
        #expect(document.validate(against: schema).map(\.message) == [])
        return ComplexityEstimate(
            try #require(document.operations.first), in: document, schema: schema,
            assumedListSize: listSize)
    }

    @Test(arguments: [
        ("{ __typename }", 1),
        ("{ project(key: \"k\") { title owner { name } } }", 4),
        // issues, edges, and for each of ten edges node and title; pageInfo once.
        ("{ issues(first: 10) { edges { node { title } } pageInfo { hasNextPage } } }", 24),
        ("{ issues(last: 10) { edges { node { title } } } }", 22),
        ("{ issues(first: 10, last: 3) { edges { node { title } } } }", 8),
        ("{ issues { edges { node { title } } } }", 102),
        // What is below a list counts once at least.
        ("{ issues(first: 0) { edges { node { title } } } }", 4),
        ("{ issues(first: -5) { edges { node { title } } } }", 4),
        ("{ nodes(ids: []) { id } }", 2),
        // Inside each other they multiply: 2 + 10 × (1 + (2 + 10 × 2)).
        (
            """
            { projects(first: 10) { edges { node { issues(first: 10) { edges { node { title } } } } } } }
            """, 232
        ),
        // Lists of the schema's own have the assumed length; nodes(ids:) that of its argument.
        ("{ issues(first: 1) { edges { node { watchers { name } } } } }", 54),
        ("{ nodes(ids: [\"a\", \"b\", \"c\"]) { id } }", 4),
        // Fragments count where they are spread, as part of the same object.
        (
            """
            { issues(first: 10) { ...C ...C } }
            fragment C on IssueConnection { edges { node { ...I } } } fragment I on Issue { id title }
            """, 63
        ),
        ("{ node(id: \"a\") { ... on Issue { title } ... on Project { title key } } }", 4),
        // The lists of introspection count as one item.
        (
            "{ __schema { types { name fields { name } } } __type(name: \"T\") { name } a: __typename }",
            8
        ),
        ("subscription { issues(first: 10) { edges { cursor } } }", 12),
    ])
    func countsFieldsOfTheResult(text: String, count: Int) throws {
        #expect(try estimate(text).fieldCount([:]) == count)
    }

    @Test(
        arguments: [
            (["n": 10], 12), ([:], 5), (["n": nil], 52), (["n": 10.0], 12), (["n": "x"], 52),
            (["n": -1], 3),
        ] as [(JSONObject, Int)])
    func sizesComeFromVariables(variables: JSONObject, count: Int) throws {
        let estimate = try estimate(
            "query ($n: Int = 3) { issues(first: $n) { edges { cursor } } }")
        #expect(estimate.fieldCount(variables) == count)
    }

    @Test func listsOfIdsAreAsLongAsTheVariable() throws {
        let estimate = try estimate("query ($ids: [ID!]!) { nodes(ids: $ids) { id __typename } }")
        #expect(estimate.fieldCount(["ids": ["a", "b", "c", "d"]]) == 9)
    }

    @Test func noListIsTakenToBeLongerThanTheLongest() throws {
        let estimate = try estimate("{ issues(first: 2147483647) { edges { cursor } } }")
        #expect(estimate.fieldCount([:], longestList: 100) == 102)
    }

    @Test func whatCannotBeCountedIsTheLargestNumber() throws {
        let deep =
            (0..<20).reduce("{ edges { node { id } } }") { inner, _ in
                "{ edges { node { author { assigned(first: 2147483647) \(inner) } } } }"
            }
        #expect(try estimate("{ issues(first: 2147483647) \(deep) }").fieldCount([:]) == .max)
    }

    /// Each fragment spreads the next twice: two to the power of their number, if they were counted one by one.
    @Test func fragmentsAreCountedOnce() throws {
        let fragments = (0..<60).map { number in
            """
             fragment F\(number) on Issue { a: author { ...G\(number) } b: author { ...G\(number) } }
             fragment G\(number) on Person {
               assigned(first: 1) { edges { node { ...F\(number + 1) } } }
             }
            """
        }
        let text =
            "{ issues(first: 1) { edges { node { ...F0 } } } }" + fragments.joined()
            + " fragment F60 on Issue { id }"
        #expect(try estimate(text).fieldCount([:]) == .max)
    }

    // MARK: As a limit

    @Test func whatIsTooMuchIsRefusedOverEveryTransport() async throws {
        try await RunningServer.run({ $0.limits.engine.document.complexity = 20 }) { server in
            let document =
                "query ($n: Int) { user { todos(first: $n) { edges { node { text } } } } }"
            let small: JSONObject = ["query": .string(document), "variables": ["n": 8]]
            let large: JSONObject = ["query": .string(document), "variables": ["n": 9]]
            let answers = [
                try await server.post(.object(small)), try await server.post(.object(large)),
            ]
            #expect(answers.map(\.errorCode) == [nil, "LIMIT_EXCEEDED"])
            let result = try await server.request(small)
            #expect(result.firstErrorCode == nil)
            let refusal = try await server.request(large)
            #expect(refusal.firstErrorCode == "LIMIT_EXCEEDED")
            #expect(
                refusal.firstErrorMessage == """
                    The result may have more than 20 fields; ask for shorter pages by "first" or \
                    "last", or for less in each.
                    """)
        }
    }

    @Test func askingForEverythingIsNoReasonToRefuse() async throws {
        try await RunningServer.run { server in
            let all = "{ user { todos(first: 2147483647) { edges { node { text } } } } }"
            let response = try await server.post(["query": .string(all)])
            #expect(response.json?["data"]?["user"]?["todos"]?["edges"]?.array?.count == 2)
        }
    }

    @Test func introspectionAsToolsSendItIsWithinTheLimits() throws {
        let cache = try OperationCache(schema: ServiceUnderTest.todo().service.executable)
        let request = GraphQLRequest(query: Self.introspection)
        #expect(throws: Never.self) { try cache.operation(for: request, storedRecords: 0) }
    }

    private static let introspection = """
        query IntrospectionQuery {
          __schema {
            description queryType { name } mutationType { name } subscriptionType { name }
            types { ...FullType }
            directives { name description isRepeatable locations args { ...InputValue } }
          }
        }
        fragment FullType on __Type {
          kind name description specifiedByURL isOneOf
          fields(includeDeprecated: true) {
            name description args(includeDeprecated: true) { ...InputValue } type { ...TypeRef }
            isDeprecated deprecationReason
          }
          inputFields(includeDeprecated: true) { ...InputValue }
          interfaces { ...TypeRef }
          enumValues(includeDeprecated: true) { name description isDeprecated deprecationReason }
          possibleTypes { ...TypeRef }
        }
        fragment InputValue on __InputValue {
          name description type { ...TypeRef } defaultValue isDeprecated deprecationReason
        }
        fragment TypeRef on __Type {
          kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name
            ofType { kind name ofType { kind name ofType { kind name } } } } } } }
        }
        """
}
