import GraphQLExecution
import RelayJSON
@_spi(Rooms) import RelayRecords
import SchemaService
import Testing

/// @create, @update, @delete, @link, @unlink and @now, over the example schemas. `ServiceUnderTest` checks
/// on every run that a refusal writes nothing and that the log gives the payload again.
@Suite(.bounded) struct MutationDirectiveTests {
    // MARK: @create

    @Test func createStoresTheInputAndAppendsToTheParent() throws {
        var todo = try ServiceUnderTest.todo()
        let answer = try todo.mutate(
            """
            mutation { addTodo(input: { text: "New", clientMutationId: "c" }) {
              todo { id text complete } todoEdge { node { text } cursor } user { userId totalCount }
              clientMutationId } }
            """)
        #expect(
            answer
                == #"{"data":{"addTodo":{"todo":{"id":"Todo-1","text":"New","complete":false},"todoEdge":{"node":{"text":"New"},"cursor":"cDI"},"user":{"userId":"me","totalCount":3},"clientMutationId":"c"}}}"#
        )
        #expect(
            todo.fields("VXNlcjptZQ==")?["todos"]
                == ["refs": ["VG9kbzow", "VG9kbzox", "Todo-1"]])
        // Only the new link is written, however long the list is.
        #expect(todo.lastWrites.bytes.count < 100)
    }

    @Test func theEdgesCursorIsThatOfTheConnection() throws {
        var todo = try ServiceUnderTest.todo()
        _ = try todo.mutate(
            "mutation { addTodo(input: { text: \"New\" }) { todoEdge { cursor } } }")
        #expect(
            try todo.query("{ user { todos(after: \"cDE\") { edges { cursor node { text } } } } }")
                == #"{"data":{"user":{"todos":{"edges":[{"cursor":"cDI","node":{"text":"New"}}]}}}}"#
        )
    }

    @Test func createWritesLinksByIDOrUniqueValue() throws {
        var tracker = try ServiceUnderTest.tracker()
        _ = try tracker.mutate(
            """
            mutation { addIssue(input: { projectId: "relay", title: "T", authorId: "bob",
              labels: ["a"] }) { issue { id } } }
            """)
        #expect(
            tracker.fields("Issue-1")
                == [
                    "title": "T", "open": true, "priority": "NORMAL", "labels": ["value": ["a"]],
                    "author": ["ref": "p2"],
                    "createdAt": "2025-11-24T16:00:00.123Z",
                    "updatedAt": "2025-11-24T16:00:00.123Z",
                ])
    }

    @Test func whatTheInputLeavesOutStaysAbsent() throws {
        var tracker = try ServiceUnderTest.tracker()
        let answer = try tracker.mutate(
            """
            mutation { addIssue(input: { projectId: "j1", title: "T" }) {
              issue { estimate labels author { id } watchers { id } } } }
            """)
        #expect(
            answer
                == #"{"data":{"addIssue":{"issue":{"estimate":null,"labels":null,"author":null,"watchers":[]}}}}"#
        )
        #expect(tracker.fields("Issue-1")?["estimate"] == nil)
    }

    @Test func createRefusesAParentThatIsNotThere() throws {
        var todo = try ServiceUnderTest.todo()
        let before = todo.snapshot.recordCount
        #expect(
            try todo.mutate(
                "mutation { addTodo(input: { text: \"T\", userId: \"nobody\" }) { todo { id } } }")
                == #"{"data":{"addTodo":null},"errors":[{"message":"Could not run addTodo: there is no User whose id or userId is \"nobody\" (input.userId). Nothing was changed.","locations":[{"line":1,"column":12}],"path":["addTodo"],"extensions":{"code":"NOT_FOUND"}}]}"#
        )
        #expect(todo.snapshot.recordCount == before)
    }

    @Test func aRecordOfAnotherTypeIsNoParent() throws {
        var todo = try ServiceUnderTest.todo()
        let refused = #expect(throws: ExecutionError.self) {
            try todo.run("addTodo", ["input": ["text": "T", "userId": "VG9kbzow"]])
        }
        #expect(refused?.code == .notFound)
    }

    @Test func createRefusesALinkToNothing() throws {
        var tracker = try ServiceUnderTest.tracker()
        let refused = #expect(throws: ExecutionError.self) {
            try tracker.run(
                "addProject", ["input": ["key": "k", "title": "T", "ownerId": "i1"]])
        }
        #expect(refused?.code == .notFound)
        #expect(
            refused?.message == """
                Could not run addProject: there is no Person whose id or login is "i1" \
                (input.ownerId). Nothing was changed.
                """)
    }

    @Test func aUniqueValueCannotBeTakenTwice() throws {
        var tracker = try ServiceUnderTest.tracker()
        let refused = #expect(throws: ExecutionError.self) {
            try tracker.run("addProject", ["input": ["key": "relay", "title": "T"]])
        }
        #expect(refused?.code == .conflict)
        #expect(
            refused?.message == """
                Could not run addProject: there is another Project whose key is "relay" \
                (input.key). Nothing was changed.
                """)
    }

    @Test func createFillsListsOfRecordsByTheirNames() throws {
        var service = try ServiceUnderTest(Self.library, seed: Self.shelf)
        try service.run(
            "addBook", ["input": ["title": "T", "authorIds": ["Ada", "a2", "a1"], "tagsIds": []]])
        #expect(
            service.fields("Book-1")
                == [
                    "title": "T", "authors": ["refs": ["a1", "a2"]], "tags": ["refs": []],
                    "codes": ["value": []],
                ])
        let refused = #expect(throws: ExecutionError.self) {
            try service.run("addBook", ["input": ["title": "T", "authorIds": ["Ada", "none"]]])
        }
        #expect(refused?.code == .notFound)
    }

    @Test func anOptionalParentMayBeLeftOut() throws {
        var service = try ServiceUnderTest(Self.library, seed: Self.shelf)
        #expect(
            try service.mutate(
                "mutation { addBook(input: { title: \"T\" }) { book { title } bookEdge { cursor } shelf { id } } }"
            ) == #"{"data":{"addBook":{"book":{"title":"T"},"bookEdge":null,"shelf":null}}}"#)
        #expect(
            try service.mutate(
                "mutation { addBook(input: { title: \"T\", shelfId: \"s1\" }) { bookEdge { cursor } shelf { id } } }"
            ) == #"{"data":{"addBook":{"bookEdge":{"cursor":"cDA"},"shelf":{"id":"s1"}}}}"#)
    }

    private static let library = """
        interface Node { id: ID! }
        type Query { node(id: ID!): Node }
        type Shelf implements Node { id: ID! books: BookConnection }
        type Author implements Node { id: ID! name: String! @unique }
        type Tag implements Node { id: ID! }
        type Book implements Node {
          id: ID! title: String! authors: [Author!]! tags: [Tag!] codes: [Int!]! updated: String @now(on: UPDATE)
        }
        type BookConnection { edges: [BookEdge] pageInfo: PageInfo! }
        type BookEdge { node: Book cursor: String! }
        type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
        type Mutation {
          addBook(input: AddBookInput!): BookPayload @create(type: "Book", into: "Shelf.books", parent: "shelfId")
          changeBook(input: ChangeBookInput!): ChangeBookPayload @update(type: "Book")
          moveBook(input: MoveBookInput!): MoveBookPayload @delete(type: "Book")
        }
        input AddBookInput { title: String! shelfId: ID authorIds: [ID!] tagsIds: [ID!] }
        type BookPayload { book: Book! bookEdge: BookEdge shelf: Shelf }
        input ChangeBookInput { id: ID! title: String authors: [ID!] codes: [Int!] }
        type ChangeBookPayload { node: Node! clientMutationId: String }
        input MoveBookInput { id: ID! }
        type MoveBookPayload { deletedId: ID! }
        """

    private static let shelf = """
        {"id":"s1","type":"Shelf"}
        {"id":"a1","type":"Author","fields":{"name":"Ada"}}
        {"id":"a2","type":"Author","fields":{"name":"Bob"}}
        {"id":"b1","type":"Book","fields":{"title":"One"}}
        """

    @Test func aNewRecordLinksBackToItsParentIfItHasSuchAField() throws {
        var service = try ServiceUnderTest(
            """
            interface Node { id: ID! }
            type Query { node(id: ID!): Node }
            type Project implements Node { id: ID! key: String! @unique issues: [Issue!]! }
            type Issue implements Node { id: ID! project: Project! open: Boolean }
            type Mutation {
              addIssue(input: AddIssueInput!): IssuePayload
                @create(type: "Issue", into: "Project.issues", parent: "projectId")
              openIssue(input: OpenIssueInput!): IssuePayload @update(type: "Issue", parent: "projectId")
            }
            input AddIssueInput { projectId: ID! }
            input OpenIssueInput { id: ID! projectId: ID! open: Boolean }
            type IssuePayload { issue: Issue! project: Project! }
            """,
            seed: """
                {"id":"1","type":"Project","fields":{"key":"a"}}
                {"id":"2","type":"Project","fields":{"key":"b"}}
                """)
        try service.run("addIssue", ["input": ["projectId": "a"]])
        #expect(service.fields("Issue-1") == ["project": ["ref": "1"]])
        #expect(service.fields("1")?["issues"] == ["refs": ["Issue-1"]])
        // The parent of an @update only fills the payload.
        try service.run("openIssue", ["input": ["id": "Issue-1", "projectId": "b", "open": true]])
        #expect(service.fields("Issue-1") == ["project": ["ref": "1"], "open": true])
    }

    // MARK: @update

    @Test func updateLeavesWhatIsAbsentAndSetsNull() throws {
        var tracker = try ServiceUnderTest.tracker()
        tracker.timeMicroseconds += 1_000_000
        _ = try tracker.mutate(
            "mutation { updateIssue(input: { id: \"i2\", title: \"2\", estimate: null }) { issue { id } } }"
        )
        #expect(
            tracker.fields("i2")
                == [
                    "title": "2", "open": false, "priority": "LOW", "estimate": nil,
                    "createdAt": "2025-11-24T16:00:00.123Z",
                    "updatedAt": "2025-11-24T16:00:01.123Z",
                ])
    }

    @Test func updateRefusesNullWhereThereMustBeAValue() throws {
        var tracker = try ServiceUnderTest.tracker()
        #expect(
            try tracker.mutate(
                "mutation { updateIssue(input: { id: \"i1\", title: null }) { issue { id } } }")
                == #"{"data":{"updateIssue":null},"errors":[{"message":"Could not run updateIssue: Issue.title is String! and cannot be set to null (input.title). Nothing was changed.","locations":[{"line":1,"column":12}],"path":["updateIssue"],"extensions":{"code":"BAD_USER_INPUT"}}]}"#
        )
    }

    @Test func updateRefusesAnUnknownRecord() throws {
        var todo = try ServiceUnderTest.todo()
        let refused = #expect(throws: ExecutionError.self) {
            try todo.run("renameTodo", ["input": ["id": "none", "text": "T"]])
        }
        #expect(refused?.code == .notFound)
    }

    @Test func theParentOfAnUpdateOnlyFillsThePayload() throws {
        var todo = try ServiceUnderTest.todo()
        #expect(
            try todo.mutate(
                """
                mutation { changeTodoStatus(input: { id: "VG9kbzox", complete: true }) {
                  todo { complete } user { completedCount } } }
                """)
                == #"{"data":{"changeTodoStatus":{"todo":{"complete":true},"user":{"completedCount":2}}}}"#
        )
        #expect(todo.lastWrites.recordIDs == ["VG9kbzox"])
        let refused = #expect(throws: ExecutionError.self) {
            try todo.run(
                "changeTodoStatus",
                ["input": ["id": "VG9kbzox", "complete": true, "userId": "none"]])
        }
        #expect(refused?.code == .notFound)
    }

    @Test func updateReplacesListsAndFillsAnInterface() throws {
        var service = try ServiceUnderTest(Self.library, seed: Self.shelf)
        #expect(
            try service.mutate(
                "mutation { changeBook(input: { id: \"b1\", authors: [\"Bob\"], codes: [1] }) { node { id } } }"
            )
                == #"{"data":{"changeBook":{"node":{"id":"b1"}}}}"#)
        #expect(
            service.fields("b1")
                == [
                    "title": "One", "codes": ["value": [1]], "authors": ["refs": ["a2"]],
                    "updated": "2025-11-24T16:00:00.123Z",
                ])
    }

    @Test func aRecordMayKeepItsUniqueValueButNotTakeAnothers() throws {
        var service = try ServiceUnderTest(
            """
            interface Node { id: ID! }
            type Query { user(name: ID!): User @lookup }
            type User implements Node { id: ID! name: String! @unique }
            type Mutation { rename(input: RenameInput!): RenamePayload @update(type: "User") }
            input RenameInput { id: ID! name: String! }
            type RenamePayload { user: User! }
            """,
            seed: """
                {"id":"1","type":"User","fields":{"name":"ada"}}
                {"id":"2","type":"User","fields":{"name":"bob"}}
                """)
        try service.run("rename", ["input": ["id": "ada", "name": "ada"]])
        let refused = #expect(throws: ExecutionError.self) {
            try service.run("rename", ["input": ["id": "ada", "name": "bob"]])
        }
        #expect(refused?.code == .conflict)
        try service.run("rename", ["input": ["id": "ada", "name": "eve"]])
        #expect(
            try service.query("{ user(name: \"eve\") { id } }") == #"{"data":{"user":{"id":"1"}}}"#)
        #expect(try service.query("{ user(name: \"ada\") { id } }") == #"{"data":{"user":null}}"#)
    }

    // MARK: @delete

    @Test func deleteUnlinksAndLeavesNothing() throws {
        var todo = try ServiceUnderTest.todo()
        #expect(
            try todo.mutate(
                """
                mutation { removeTodo(input: { id: "VG9kbzow", clientMutationId: "x" }) {
                  deletedTodoId user { totalCount } clientMutationId } }
                """)
                == #"{"data":{"removeTodo":{"deletedTodoId":"VG9kbzow","user":{"totalCount":1},"clientMutationId":"x"}}}"#
        )
        #expect(todo.fields("VG9kbzow") == nil)
        #expect(todo.fields("VXNlcjptZQ==")?["todos"] == ["refs": ["VG9kbzox"]])
        let again = #expect(throws: ExecutionError.self) {
            try todo.run("removeTodo", ["input": ["id": "VG9kbzow", "userId": "me"]])
        }
        #expect(again?.code == .notFound)
    }

    @Test func linksToADeletedRecordReadAsNullOrDisappear() throws {
        var tracker = try ServiceUnderTest.tracker()
        _ = try tracker.mutate(
            "mutation { assign(input: { personId: \"ada\", issueId: \"i1\" }) { issue { id } } }")
        _ = try tracker.mutate(
            "mutation { deleteIssue(input: { id: \"i1\", projectId: \"relay\" }) { deletedIssueId } }"
        )
        #expect(
            try tracker.query("{ person(login: \"ada\") { assigned { edges { node { id } } } } }")
                == #"{"data":{"person":{"assigned":{"edges":[]}}}}"#)
    }

    @Test func deleteWithoutAListDeletes() throws {
        var service = try ServiceUnderTest(Self.library, seed: Self.shelf)
        #expect(
            try service.mutate("mutation { moveBook(input: { id: \"b1\" }) { deletedId } }")
                == #"{"data":{"moveBook":{"deletedId":"b1"}}}"#)
        #expect(service.fields("b1") == nil)
    }

    // MARK: @link, @unlink

    @Test func linkingTwiceChangesNothing() throws {
        var tracker = try ServiceUnderTest.tracker()
        let link = """
            mutation { assign(input: { personId: "ada", issueId: "i2" }) {
              issue { id } issueEdge { cursor node { id } } person { login } } }
            """
        let answer =
            #"{"data":{"assign":{"issue":{"id":"i2"},"issueEdge":{"cursor":"cDA","node":{"id":"i2"}},"person":{"login":"ada"}}}}"#
        #expect(try tracker.mutate(link) == answer)
        #expect(try tracker.mutate(link) == answer)
        #expect(tracker.lastWrites.isEmpty)
        #expect(tracker.fields("p1")?["assigned"] == ["refs": ["i2"]])
    }

    @Test func unlinkTakesTheLinkAndShowsNoEdge() throws {
        var tracker = try ServiceUnderTest.tracker()
        try tracker.run("assign", ["input": ["personId": "p1", "issueId": "i1"]])
        try tracker.run("assign", ["input": ["personId": "p1", "issueId": "i2"]])
        let unlink = """
            mutation { unassign(input: { personId: "ada", issueId: "i1" }) {
              issue { id } issueEdge { cursor } person { login } } }
            """
        let answer =
            #"{"data":{"unassign":{"issue":{"id":"i1"},"issueEdge":null,"person":{"login":"ada"}}}}"#
        #expect(try tracker.mutate(unlink) == answer)
        #expect(tracker.fields("p1")?["assigned"] == ["refs": ["i2"]])
        #expect(try tracker.mutate(unlink) == answer)
        #expect(tracker.lastWrites.isEmpty)
    }

    @Test func plainListsAreLinkedToo() throws {
        var tracker = try ServiceUnderTest.tracker()
        #expect(
            try tracker.mutate(
                "mutation { watch(input: { issueId: \"i1\", personId: \"bob\" }) { issue { watchers { login } } person { id } } }"
            )
                == #"{"data":{"watch":{"issue":{"watchers":[{"login":"bob"}]},"person":{"id":"p2"}}}}"#
        )
    }

    @Test(arguments: [("none", "i1"), ("p1", "none"), ("i1", "i1")])
    func bothEndsOfALinkMustBeThere(person: String, issue: String) throws {
        var tracker = try ServiceUnderTest.tracker()
        let refused = #expect(throws: ExecutionError.self) {
            try tracker.run(
                "assign", ["input": ["personId": .string(person), "issueId": .string(issue)]])
        }
        #expect(refused?.code == .notFound)
    }

    @Test func theParentAmongTwoRecordsOfOneTypeIsTheOneNamedLikeItsInput() throws {
        var service = try ServiceUnderTest(
            """
            interface Node { id: ID! }
            type Query { node(id: ID!): Node }
            type Person implements Node { id: ID! follows: [Person!]! }
            type Mutation {
              follow(input: FollowInput!): FollowPayload
                @link(field: "Person.follows", parent: "followerId", child: "followedId")
            }
            input FollowInput { followerId: ID! followedId: ID! }
            type FollowPayload { followed: Person! follower: Person! }
            """,
            seed: """
                {"id":"a","type":"Person"}
                {"id":"b","type":"Person"}
                """)
        #expect(
            try service.mutate(
                "mutation { follow(input: { followerId: \"a\", followedId: \"b\" }) { follower { id } followed { id } } }"
            ) == #"{"data":{"follow":{"follower":{"id":"a"},"followed":{"id":"b"}}}}"#)
    }

    // MARK: Ids

    @Test func generatedIDsSayTheirTypeAndDiffer() throws {
        let ids = (0..<100).map { _ in GlobalID.random(type: "Todo") }
        #expect(Set(ids).count == 100)
        for id in ids {
            let text = try #require(Base64URL.decode(id.rawValue))
            #expect(String(decoding: text, as: UTF8.self).hasPrefix("Todo:"))
        }
    }
}
