import RelayJSON
@_spi(Rooms) import RelayRecords
import SchemaService
import Testing

@Suite(.bounded) struct SeedFileTests {
    private static let sdl = """
        interface Node { id: ID! }
        type Query { node(id: ID!): Node }
        type User implements Node {
          id: ID! login: String! @unique age: Int score: Float code: ID best: User posts: [Post!]! pages: PostConnection
          count: Int! @count(field: "posts")
        }
        type Post implements Node { id: ID! text: String! mood: Mood tags: [String!]! at: String! @now extra: Any }
        enum Mood { GOOD BAD }
        scalar Any
        type PostConnection { edges: [PostEdge] pageInfo: PageInfo! }
        type PostEdge { node: Post cursor: String! }
        type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
        """

    private func read(_ text: String) throws -> SeedFile {
        try SeedFile.read(
            Array(text.utf8), for: try ServiceSchema(Self.sdl), timeMicroseconds: 1_000)
    }

    private func errors(in text: String) throws -> String {
        let errors = #expect(throws: SeedErrors.self) { try read(text) }
        return try #require(errors).description
    }

    @Test func theExampleIsReadInTheOrderOfItsLines() throws {
        let todo = try ServiceUnderTest.todo()
        let ids = todo.snapshot.recordsInCreationOrder().map(todo.snapshot.symbols.idString)
        #expect(ids == ["VXNlcjptZQ==", "VG9kbzow", "VG9kbzox"])
    }

    @Test func valuesAreStoredAsMutationsStoreThem() throws {
        let service = try ServiceUnderTest(
            Self.sdl,
            seed: """
                {"id":"u","type":"User","fields":{"login":"l","score":2,"code":7,"best":null,"posts":{"refs":["p"]}}}

                {"id":"p","type":"Post","fields":{"text":"t","extra":{"value":{"a":[1]}}}}\r

                """)
        #expect(
            service.fields("u")
                == ["login": "l", "score": 2.0, "code": "7", "best": nil, "posts": ["refs": ["p"]]])
        #expect(
            service.fields("p")
                == [
                    "text": "t", "extra": ["value": ["a": [1]]], "tags": ["value": []],
                    "at": "2025-11-24T16:00:00.123Z",
                ])
    }

    @Test func everythingThatIsWrongIsToldByLine() throws {
        #expect(
            try errors(
                in: """
                    {"id":"u","type":"User","fields":{"login":"a","age":"x","logn":1,"count":2,"id":"v","code":{"ref":"u"}}}
                    nonsense
                    {"id":"u","type":"Post","fields":{"text":"t"}}
                    {"id":"w","type":"Usr","fields":{}}
                    {"id":"v","type":"User","fields":{"login":"a","best":{"ref":"p"},"posts":{"refs":["u",null]},"pages":{"ref":"p"},"age":4294967296}}
                    {"id":"p","type":"Post","fields":{"mood":"SAD","tags":{"value":[1]}}}
                    {"id":"q","type":"Post","fields":{"text":"t","mood":["GOOD"]}}
                    {"id":"r","type":"Post","fields":{"text":null}}
                    """)
                    == """
                    line 1: User.age is Int, which "x" does not fit.
                    line 1: There is no field User.logn. Did you mean "login"?
                    line 1: User.count is found by a directive and cannot be given.
                    line 1: There is no field User.id.
                    line 1: User.code is ID, which {"ref":"u"} does not fit.
                    line 2: Invalid JSON at byte 1: expected "null", found "o".
                    line 3: Record "u" is already on line 1.
                    line 4: There is no stored type "Usr" for record "w". Did you mean "User"?
                    line 5: User.login is unique, and "a" is already on line 1.
                    line 5: User.posts is a list of records, in which null has no place.
                    line 5: User.pages is PostConnection, which {"ref":"p"} does not fit. Write {"refs": [id, …]}.
                    line 5: User.age is Int, which 4294967296 does not fit.
                    line 5: User.best must refer to User, and "p" on line 6 is Post.
                    line 5: User.posts must refer to Post, and "u" on line 1 is User.
                    line 6: Post.mood is Mood, which "SAD" does not fit.
                    line 6: Post.tags is [String!]!, which {"value":[1]} does not fit. Write {"value": […]}.
                    line 6: Record "p" needs "text": Post.text is String!.
                    line 7: Field "mood" of record "q" must be a scalar, null, {"ref": id}, {"refs": [id, …]} or {"value": …}, not ["GOOD"].
                    line 8: Post.text is String!, which null does not fit.
                    """)
    }

    @Test func aLinkToNothingIsAWarning() throws {
        let seed = try read(
            #"{"id":"u","type":"User","fields":{"login":"l","best":{"ref":"gone"}}}"#)
        #expect(
            seed.warnings == ["line 1: User.best refers to \"gone\", which is not in the file."])
        #expect(seed.writes.recordIDs == ["u"])
    }

    @Test func anExportIsReadBackAsItWas() throws {
        var tracker = try ServiceUnderTest.tracker()
        try tracker.run(
            "addIssue",
            [
                "input": [
                    "projectId": "j1", "title": "T", "open": true, "priority": "LOW",
                    "labels": ["x"],
                ]
            ])
        try tracker.run("assign", ["input": ["personId": "p1", "issueId": "Issue-1"]])
        let lines = tracker.snapshot.recordsInCreationOrder()
            .compactMap { tracker.snapshot.recordJSON($0)?.json.text }
        let again = try ServiceUnderTest(
            try Example.text("tracker.graphql"), seed: lines.joined(separator: "\n"))
        #expect(
            again.snapshot.recordsInCreationOrder()
                .compactMap { again.snapshot.recordJSON($0)?.json.text } == lines)
    }
}
