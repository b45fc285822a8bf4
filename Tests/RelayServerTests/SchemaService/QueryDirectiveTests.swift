import GraphQLExecution
import RelayJSON
@_spi(Rooms) import RelayRecords
import SchemaService
import Testing

/// @lookup, @list, @count, @unique, filters, `node` and `nodes`, over the example schemas.
@Suite(.bounded) struct QueryDirectiveTests {
    @Test func aRecordIsLookedUpByIDOrUniqueValue() throws {
        let todo = try ServiceUnderTest.todo()
        let expected = #"{"data":{"user":{"id":"VXNlcjptZQ==","userId":"me"}}}"#
        #expect(try todo.query("{ user { id userId } }") == expected)
        #expect(try todo.query("{ user(id: \"VXNlcjptZQ==\") { id userId } }") == expected)
        #expect(try todo.query("{ user(id: \"VG9kbzow\") { id } }") == #"{"data":{"user":null}}"#)
    }

    @Test func nodesAreFoundByIDAlone() throws {
        let todo = try ServiceUnderTest.todo()
        #expect(
            try todo.query("{ node(id: \"VG9kbzow\") { __typename id ... on Todo { text } } }")
                == #"{"data":{"node":{"__typename":"Todo","id":"VG9kbzow","text":"Taste JavaScript"}}}"#
        )
        #expect(try todo.query("{ node(id: \"me\") { id } }") == #"{"data":{"node":null}}"#)
        #expect(
            try todo.query("{ nodes(ids: [\"VG9kbzox\", \"none\", \"VXNlcjptZQ==\"]) { id } }")
                == #"{"data":{"nodes":[{"id":"VG9kbzox"},null,{"id":"VXNlcjptZQ=="}]}}"#)
    }

    @Test func aConnectionIsPagedAndFiltered() throws {
        let todo = try ServiceUnderTest.todo()
        #expect(
            try todo.query(
                "{ user { todos(first: 1) { edges { node { text } } pageInfo { hasNextPage hasPreviousPage } } } }"
            )
                == #"{"data":{"user":{"todos":{"edges":[{"node":{"text":"Taste JavaScript"}}],"pageInfo":{"hasNextPage":true,"hasPreviousPage":false}}}}}"#
        )
        #expect(
            try todo.query("{ user { todos(complete: false) { edges { node { text } } } } }")
                == #"{"data":{"user":{"todos":{"edges":[{"node":{"text":"Buy a unicorn"}}]}}}}"#)
        #expect(
            try todo.query("{ user { todos(complete: null) { edges { node { id } } } } }")
                == #"{"data":{"user":{"todos":{"edges":[{"node":{"id":"VG9kbzow"}},{"node":{"id":"VG9kbzox"}}]}}}}"#
        )
    }

    @Test func linksAreCountedByWhatTheirRecordsHold() throws {
        let todo = try ServiceUnderTest.todo()
        #expect(
            try todo.query("{ user { totalCount completedCount } }")
                == #"{"data":{"user":{"totalCount":2,"completedCount":1}}}"#)
    }

    @Test func allRecordsOfATypeAreListedInCreationOrder() throws {
        var tracker = try ServiceUnderTest.tracker()
        _ = try tracker.mutate(
            "mutation { addIssue(input: { projectId: \"relay\", title: \"Three\" }) { issue { id } } }"
        )
        #expect(
            try tracker.query("{ issues { edges { node { title } } } }")
                == #"{"data":{"issues":{"edges":[{"node":{"title":"One"}},{"node":{"title":"Two"}},{"node":{"title":"Three"}}]}}}"#
        )
        #expect(
            try tracker.query("{ issues(priority: HIGH, open: true) { edges { node { title } } } }")
                == #"{"data":{"issues":{"edges":[{"node":{"title":"One"}}]}}}"#)
    }

    @Test func linksAndInterfacesResolve() throws {
        let tracker = try ServiceUnderTest.tracker()
        #expect(
            try tracker.query("{ project(key: \"relay\") { owner { name } openIssues title } }")
                == #"{"data":{"project":{"owner":{"name":"Ada"},"openIssues":1,"title":"Relay"}}}"#)
        #expect(
            try tracker.query(
                "{ nodes(ids: [\"i1\", \"j1\", \"p1\"]) { ... on Titled { title } __typename } }")
                == #"{"data":{"nodes":[{"title":"One","__typename":"Issue"},{"title":"Relay","__typename":"Project"},{"__typename":"Person"}]}}"#
        )
    }

    @Test func aLinkIsFilteredByWhateverNamesItsRecord() throws {
        let service = try ServiceUnderTest(
            """
            interface Node { id: ID! }
            type Query { books(author: ID): [Book!]! @list(type: "Book") by(name: ID!): Author @lookup }
            type Author implements Node {
              id: ID! name: String! @unique
              books(author: ID): [Book!]!
              own: Int! @count(field: "books", where: { author: "Ada" })
            }
            type Book implements Node { id: ID! author: Author }
            """,
            seed: """
                {"id":"a1","type":"Author","fields":{"name":"Ada","books":{"refs":["b1","b2"]}}}
                {"id":"b1","type":"Book","fields":{"author":{"ref":"a1"}}}
                {"id":"b2","type":"Book","fields":{}}
                """)
        for name in ["a1", "Ada"] {
            #expect(
                try service.query("{ books(author: \"\(name)\") { id } }")
                    == #"{"data":{"books":[{"id":"b1"}]}}"#)
        }
        #expect(
            try service.query("{ by(name: \"Ada\") { own books { id } } }")
                == #"{"data":{"by":{"own":1,"books":[{"id":"b1"},{"id":"b2"}]}}}"#)
    }

    private func libraryWithNumbers() throws -> ServiceUnderTest {
        try ServiceUnderTest(
            """
            interface Node { id: ID! }
            type Query {
              books(author: ID): [Book!]! @list(type: "Book")
              numbered(author: Int): [Book!]! @list(type: "Book")
              by(name: ID!): Author @lookup
            }
            type Author implements Node {
              id: ID! name: String! @unique number: Int @unique
              books(author: ID, first: Int): BookConnection
              own: Int! @count(field: "books", where: { author: "Ada" })
              fifth: Int! @count(field: "books", where: { author: 5 })
            }
            type Book implements Node { id: ID! author: Author }
            type BookConnection { edges: [BookEdge] pageInfo: PageInfo! }
            type BookEdge { node: Book cursor: String! }
            type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
            """,
            seed: """
                {"id":"a1","type":"Author","fields":{"name":"Ada","number":5,"books":{"refs":["b1","b2"]}}}
                {"id":"a2","type":"Author","fields":{"name":"Bob"}}
                {"id":"b1","type":"Book","fields":{"author":{"ref":"a1"}}}
                {"id":"b2","type":"Book","fields":{"author":{"ref":"a2"}}}
                """)
    }

    @Test func aNumberNamesALinkedRecordAsATextDoes() throws {
        let service = try libraryWithNumbers()
        #expect(
            try service.query("{ numbered(author: 5) { id } by(name: \"Ada\") { fifth } }")
                == #"{"data":{"numbered":[{"id":"b1"}],"by":{"fifth":1}}}"#)
        #expect(
            try service.query("{ numbered(author: 6) { id } }") == #"{"data":{"numbered":[]}}"#)
    }

    /// When another record has the value, the list is another one.
    @Test(arguments: [
        "{ books(author: \"NAME\") { id } }",
        "{ by(name: \"a1\") { books(author: \"NAME\") { pageInfo { hasNextPage } } } }",
    ])
    func aFilteredListDependsOnTheRecordThatItsArgumentNames(text: String) throws {
        let service = try libraryWithNumbers()
        func touches(
            _ name: String, _ change: (inout Draft) -> Void
        ) throws -> Bool {
            let read = try service.dependencies(of: text.replacing("NAME", with: name))
            let after = service.after(change)
            return read.isTouched(by: after.changes, in: after.snapshot)
        }
        let rename: (inout Draft) -> Void = {
            $0.write("a2", type: "Author", fields: [("name", .string("Carl"))])
        }
        #expect(try touches("Bob", rename))
        #expect(try touches("Carl", rename))
        #expect(try touches("Bob") { $0.delete("a2") })
    }

    @Test func aCountDependsOnTheRecordThatItsConditionNames() throws {
        let service = try libraryWithNumbers()
        let read = try service.dependencies(of: "{ by(name: \"a1\") { own } }")
        let after = service.after {
            $0.write("a1", type: "Author", fields: [("name", .string("Augusta"))])
        }
        #expect(read.isTouched(by: after.changes, in: after.snapshot))
    }

    @Test func recordsOfSeveralTypesShareAListALookupAndAFilter() throws {
        let service = try ServiceUnderTest(
            """
            interface Node { id: ID! }
            interface Titled implements Node { id: ID! title: String! }
            union Any = Song | Book
            type Query { any(name: ID!): Any @lookup titled(name: ID!): Titled @lookup }
            type Shelf implements Node {
              id: ID!
              items(title: String, first: Int): TitledConnection
              all(owner: ID): [Any!]!
              count: Int! @count(field: "items", where: { title: "S" })
            }
            type Song implements Node & Titled { id: ID! title: String! @unique owner: Shelf }
            type Book implements Node & Titled { id: ID! title: String! isbn: Int @unique owner: Shelf }
            type TitledConnection { edges: [TitledEdge] pageInfo: PageInfo! }
            type TitledEdge { node: Titled cursor: String! }
            type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
            extend type Query { shelves: [Shelf!]! @list(type: "Shelf") }
            """,
            seed: """
                {"id":"s","type":"Song","fields":{"title":"S","owner":{"ref":"h"}}}
                {"id":"b","type":"Book","fields":{"title":"B","isbn":42}}
                {"id":"h","type":"Shelf","fields":{"items":{"refs":["b","s"]},"all":{"refs":["s","b"]}}}
                """)
        #expect(
            try service.query(
                "{ s: any(name: \"S\") { __typename } b: titled(name: \"42\") { title } }")
                == #"{"data":{"s":{"__typename":"Song"},"b":{"title":"B"}}}"#)
        #expect(
            try service.query(
                """
                { shelves { count all(owner: "h") { __typename }
                  items(title: "B", first: 1) { edges { node { id title ... on Book { isbn } } } } } }
                """)
                == #"{"data":{"shelves":[{"count":1,"all":[{"__typename":"Song"}],"items":{"edges":[{"node":{"id":"b","title":"B","isbn":42}}]}}]}}"#
        )
    }

    @Test func aCursorOfAListOfAllRecordsSurvivesARestart() throws {
        var service = try ServiceUnderTest.tracker()
        for title in ["Three", "Four", "Five"] {
            _ = try service.mutate(
                """
                mutation { addIssue(input: {projectId: "j1", title: "\(title)"}) { issue { id } } }
                """)
        }
        _ = try service.mutate(
            #"mutation { deleteIssue(input: {id: "i1", projectId: "j1"}) { deletedIssueId } }"#)
        let page = "issues(first: 2) { edges { cursor node { title } } pageInfo { endCursor } }"
        let before = try JSONValue(parsing: service.query("{ \(page) }"))
        let cursor = try #require(
            before["data"]?["issues"]?["pageInfo"]?["endCursor"]?.string)
        service.restart()
        #expect(try JSONValue(parsing: service.query("{ \(page) }")) == before)
        let next = try service.query(
            "{ issues(first: 1, after: \"\(cursor)\") { edges { node { title } } } }")
        #expect(next.contains("\"Four\""), "\(next)")
    }

    @Test func indexesAreThoseThatTheDirectivesNeed() throws {
        #expect(
            try ServiceUnderTest.tracker().schema.indexes
                == [
                    .unique(type: "Person", key: "login"), .unique(type: "Project", key: "key"),
                    .count(
                        CountDefinition(
                            type: "Project", field: "issues",
                            conditions: [.init(key: "open", value: true)])),
                    .records(type: "Project"), .records(type: "Issue"),
                    .places(type: "Project", key: "issues"),
                    .places(type: "Person", key: "assigned"),
                    .places(type: "Issue", key: "watchers"),
                ])
    }
}
