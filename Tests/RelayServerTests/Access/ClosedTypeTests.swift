import BoundedTesting
import GraphQLLanguage
import RelayJSON
import Testing

@testable import GraphQLExecution
@_spi(Rooms) @testable import RelayRecords
@testable import SchemaService

/// A type of which somebody may see nothing costs them no visits, and their live queries nothing for its records.
@Suite(.bounded)
struct ClosedTypeTests {
    private static let schema = """
        interface Node { id: ID! }
        type Project implements Node @access(read: { any: [{ viewer: true }, { not: { viewer: true } }] }) {
          id: ID!
          notes: [Note]!
          noteList: NoteConnection!
          noteCount: Int! @count(field: "noteList")
          things: [Node]!
        }
        type Note implements Node @access(read: { all: [{ field: { open: true } }, { field: { owner: "$viewer" } }] }) {
          id: ID!
          open: Boolean
          owner: Person
        }
        type Person implements Node @access(read: { field: { id: "$viewer" } }) { id: ID! }
        type NoteConnection { edges: [NoteEdge] pageInfo: PageInfo! }
        type NoteEdge { node: Note cursor: String! }
        type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
        type Query {
          project(id: ID!): Project @lookup
          everyNote: [Note]! @list(type: "Note")
          notes(open: Boolean, owner: ID, first: Int, after: String): NoteConnection! @list(type: "Note")
          people: [Person]! @list(type: "Person")
        }
        """

    private static let count = 100
    private static let visitLimit = 1_000_000

    private struct Store {
        let schema: ExecutableSchema
        let snapshot: Snapshot

        init() throws {
            let service = try ServiceSchema(ClosedTypeTests.schema)
            var draft = Draft(on: Snapshot(indexes: service.indexes))
            let notes = (0..<ClosedTypeTests.count).map { DataID("n\($0)") }
            draft.write("ann", type: "Person", fields: [])
            for note in notes {
                draft.write(
                    note, type: "Note", fields: [("open", .bool(true)), ("owner", .link("ann"))])
            }
            draft.write(
                "p", type: "Project",
                fields: [
                    ("notes", .links([nil] + notes)), ("noteList", .links(notes)),
                    ("things", .links(["ann", "p"] + notes)),
                ])
            snapshot = draft.snapshot
            schema = SchemaService(service, symbols: snapshot.symbols).executable
        }

        func run(
            _ text: String, as identity: Identity
        ) throws -> (answer: String, dependencies: Dependencies, visits: Int) {
            let operation = try PreparedOperation(
                Document(parsing: text), operationName: nil, schema: schema,
                visitLimit: ClosedTypeTests.visitLimit)
            var execution = Execution(
                operation.plan(for: .none), variables: .none, on: snapshot, schema: schema,
                identity: identity,
                recordsDependencies: true)
            let answer = String(decoding: execution.response(), as: UTF8.self)
            let recorded = execution.dependencies
            let dependencies = try #require(recorded)
            let visits =
                2 * ClosedTypeTests.visitLimit - execution.remainingVisits
                - execution.remainingHiddenVisits
            return (answer, dependencies, visits)
        }
    }

    private static let ann = Identity.viewer(Viewer(id: "ann"))
    private static let bob = Identity.viewer(Viewer(id: "bob"))

    @Test(arguments: [
        ("{ everyNote { id } }", #"{"everyNote":[]}"#),
        (
            "{ notes(first: 1) { edges { cursor } pageInfo { hasNextPage } } }",
            #"{"notes":{"edges":[],"pageInfo":{"hasNextPage":false}}}"#
        ),
        ("{ notes(open: true, owner: \"ann\") { edges { cursor } } }", #"{"notes":{"edges":[]}}"#),
    ])
    func aListOfAllIsNotSearched(query: String, expected: String) throws {
        let store = try Store()
        let (answer, dependencies, visits) = try store.run(query, as: .nobody)
        #expect(answer == #"{"data":\#(expected)}"#)
        #expect(dependencies.records.isEmpty && dependencies.types.isEmpty)
        #expect(dependencies.missing.isEmpty)
        #expect(visits == 0)
        // Of those whom the rule lets see some, the same.
        let seen = try store.run(query, as: Self.bob)
        #expect(seen.answer == answer)
        #expect(seen.dependencies.records.count >= Self.count && !seen.dependencies.types.isEmpty)
        #expect(seen.visits == Self.count)
    }

    @Test func aListOfARecordIsNotLookedAt() throws {
        let store = try Store()
        let query = """
            { project(id: "p") { notes { id } noteCount noteList { edges { cursor } pageInfo { hasNextPage } } } }
            """
        let (answer, dependencies, _) = try store.run(query, as: .nobody)
        // A null element stays what it is.
        #expect(
            answer
                == #"{"data":{"project":{"notes":[null],"noteCount":0,"noteList":{"edges":[],"pageInfo":{"hasNextPage":false}}}}}"#
        )
        let project = try #require(store.snapshot.existing("p"))
        #expect(dependencies.records.keys.map(\.self) == [project])
        #expect(try store.run(query, as: Self.ann).dependencies.records.count >= Self.count)
    }

    /// Who has no record yet may get one.
    @Test func whoseRecordIsYetToBeMadeIsTold() throws {
        let store = try Store()
        let person = try #require(store.snapshot.symbols.findName("Person"))
        let hers = try store.run("{ people { id } }", as: Self.bob)
        #expect(hers.answer == #"{"data":{"people":[]}}"#)
        #expect(hers.dependencies.types == [person])
        let nobodys = try store.run("{ people { id } }", as: .nobody)
        #expect(nobodys.answer == hers.answer)
        #expect(nobodys.dependencies.types.isEmpty)
    }

    /// Only the types that are closed are.
    @Test func aListOfSeveralTypesIsSearched() throws {
        let store = try Store()
        let query = "{ project(id: \"p\") { things { id } } }"
        #expect(
            try store.run(query, as: Self.ann).answer.hasPrefix(
                #"{"data":{"project":{"things":[{"id":"ann"},{"id":"p"},{"id":"n0"}"#))
        #expect(
            try store.run(query, as: .nobody).answer
                == #"{"data":{"project":{"things":[{"id":"p"}]}}}"#)
    }
}
