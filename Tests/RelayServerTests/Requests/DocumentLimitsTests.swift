import GraphQLExecution
import GraphQLLanguage
import RelayJSON
import SchemaService
import Testing

@testable import StoreEngine

@Suite(.bounded, .timeLimit(.minutes(10)))
struct DocumentLimitsTests {
    private func check(
        _ text: String, _ change: (inout DocumentLimits) -> Void = { _ in }
    ) throws {
        var limits = DocumentLimits()
        change(&limits)
        try limits.check(text)
        try limits.check(try Document(parsing: text))
    }

    private func message(
        _ text: String, _ change: (inout DocumentLimits) -> Void
    ) -> String? {
        let error = #expect(throws: ExecutionError.self) { try check(text, change) }
        #expect(error?.code == .limitExceeded)
        return error?.message
    }

    // MARK: What is counted

    /// A name or a number may be as long as the document.
    @Test(arguments: [
        "{ LONG }", "{ user { todos(first: 9DIGITS) { totalCount } } }",
        "query ($a: LONG) { user { id } }",
        "{ user { ...LONG } }",
    ])
    func whatIsWrongWithADocumentIsSaidInAThousandBytes(_ text: String) async throws {
        let engine = try await EngineUnderTest()
        let document = text.replacing("LONG", with: String(repeating: "a", count: 100_000))
            .replacing("DIGITS", with: String(repeating: "9", count: 100_000))
        let answer = try await engine.run(document)
        let message = try #require(answer["errors"]?.array?.first?["message"]?.string)
        #expect(message.utf8.count < 1_100, "\(text)")
    }

    @Test func bytes() throws {
        try check("{ abc }") { $0.bytes = 7 }
        #expect(message("{ abcd }") { $0.bytes = 7 } == "The document has more than 7 bytes.")
    }

    @Test func aliasesWhereverTheyStand() throws {
        let text = "{ x: a { ... on T { y: b } ...F } } fragment F on T { z: c }"
        try check(text) { $0.aliases = 3 }
        #expect(message(text) { $0.aliases = 2 } == "The document has more than 2 aliases.")
    }

    @Test func directivesWhereverTheyStand() throws {
        let text = """
            query ($v: Int @a) @b { f @c ...F @d ... @e { g } } fragment F on T @f { h @g @h }
            """
        try check(text) { $0.directives = 8 }
        #expect(message(text) { $0.directives = 7 } == "The document has more than 7 directives.")
    }

    @Test func rootFieldsOfEachOperationWithThoseOfItsFragments() throws {
        let text = """
            query A { a b { x y z } ... on T { c } ...F ...F } query B { a }
            fragment F on T { d e { x } ...G } fragment G on T { f }
            """
        try check(text) { $0.rootFields = 9 }
        #expect(message(text) { $0.rootFields = 8 } == "The document has more than 8 root fields.")
    }

    @Test func depthThroughFragments() throws {
        let text =
            "{ a { ...F } } fragment F on T { b { ... on T { ...G } } } fragment G on T { c }"
        try check(text) { $0.depth = 6 }
        #expect(
            message(text) { $0.depth = 5 } == "The document nests deeper than 5 levels.")
        // The order in which fragments are met does not matter.
        let reversed =
            "fragment G on T { c } fragment F on T { b { ... on T { ...G } } } { a { ...F } }"
        try check(reversed) { $0.depth = 6 }
        #expect(
            message(reversed) { $0.depth = 5 } == "The document nests deeper than 5 levels.")
    }

    @Test func listsOfIntrospectionInsideEachOther() throws {
        let deep = "type { fields { type { fields { name } } } }"
        try check("{ __schema { types { fields { type { fields { name } } } } } }") { _ in }
        let message = "The document has more than 2 nested lists of introspection."
        #expect(self.message("{ __schema { types { fields { \(deep) } } } }") { _ in } == message)
        #expect(
            self.message(
                "{ __type(name: \"T\") { ...F } } fragment F on __Type { fields { \(deep) } }"
            ) {
                _ in
            } == message)
        // Fields of the schema's own may have these names.
        try check("{ fields { fields { fields { fields } } } }")
    }

    @Test func circlesOfFragmentsAreLeftToValidation() throws {
        try check("{ ...F } fragment F on T { a { ...G } } fragment G on T { b { ...F } }")
        try check("{ ...F } fragment F on T { ...F }")
    }

    // MARK: Hostile documents

    /// Fragments each of which spreads the next one twice.
    private static func doubling(
        _ count: Int, on type: String, _ field: String, _ end: String = "", inside root: String
    ) -> String {
        let fragments = (0..<count).map {
            let next = "\(field) { ...F\($0 + 1) } \(end)"
            return " fragment F\($0) on \(type) { a: \(next) b: \(next) }"
        }
        return
            "{ \(root) { ...F0 } } \(fragments.joined()) fragment F\(count) on \(type) { __typename }"
    }

    /// Documents that grow with `size`, each made to cost more than it says.
    private static let hostile: [(name: String, make: @Sendable (_ size: Int) -> String)] = [
        ("nesting", { String(repeating: "{a", count: $0) + String(repeating: "}", count: $0) }),
        ("aliases", { size in "{" + (0..<size).map { " a\($0): __typename" }.joined() + "}" }),
        (
            "directives",
            { "{ __typename " + String(repeating: "@skip(if: false) ", count: $0) + "}" }
        ),
        ("fields", { "{" + String(repeating: " __typename", count: $0) + "}" }),
        ("lists", { "{ node(id: " + String(repeating: "[", count: $0) }),
        (
            "a chain of fragments",
            { size in
                "{ ...F0 }"
                    + (0..<size).map { " fragment F\($0) on Query { ...F\($0 + 1) }" }.joined()
            }
        ),
        (
            "fragments that double",
            { size in
                "{ user { ...F0 } }"
                    + (0..<min(size, 90)).map {
                        " fragment F\($0) on User { ...F\($0 + 1) ...F\($0 + 1) }"
                    }.joined()
                    + " fragment F\(min(size, 90)) on User { todos(first: 10) { edges { cursor } } }"
            }
        ),
        (
            "introspection that doubles",
            { doubling(min($0, 40), on: "__Type", "ofType", inside: "__type(name: \"Int\")") }
        ),
        (
            "empty lists that double",
            {
                doubling(
                    min($0, 20), on: "User", "todos(first: 0) { edges { node { user", "} } }",
                    inside: "user")
            }
        ),
        ("a string", { "{ node(id: \"" + String(repeating: "x", count: $0 * 20) + "\") { id } }" }),
    ]

    @Test func hostileDocumentsAreRefused() async throws {
        try await RunningServer.run { server in
            for (name, make) in Self.hostile {
                let response = try await server.post(["query": .string(make(40_000))])
                #expect(response.errorCode == "LIMIT_EXCEEDED", "\(name)")
                let result = try await server.request(["query": .string(make(40_000))])
                #expect(result.firstErrorCode == "LIMIT_EXCEEDED", "\(name)")
            }
        }
    }

    /// So the work to refuse a document does not grow with it: the refusal stands where the limit is, and whoever
    /// read on would find that this is no GraphQL.
    @Test func nothingBehindALimitIsRead() throws {
        let cache = try OperationCache(schema: ServiceUnderTest.todo().service.executable)
        func refusal(_ text: String) -> ExecutionError? {
            let request = GraphQLRequest(query: text)
            let errors = #expect(throws: ExecutionErrors.self) {
                try cache.operation(for: request, storedRecords: 0)
            }
            return errors?.errors.first
        }
        // What doubles is a short document, which is parsed whole: its refusal is what it would come to.
        for (name, make) in Self.hostile
        where !name.hasSuffix("double")
            && !name.hasSuffix("doubles")
        {
            for size in [20_001, 200_010] {
                let document = make(size)
                let error = refusal(document)
                #expect(error?.code == .limitExceeded, "\(name), \(size)")
                #expect(refusal(document + " ?") == error, "\(name), \(size)")
            }
        }
    }
}
