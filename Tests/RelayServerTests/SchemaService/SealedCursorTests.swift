import GraphQLExecution
import RelayJSON
import Testing

@testable import SchemaService

/// Cursors of who may not see everything, over the example schemas.
@Suite(.bounded) struct SealedCursorTests {
    private let seal = CursorSeal(key: Array("the key of tests".utf8))

    private func cursors(_ connection: JSONValue?) -> [String] {
        (connection?["edges"]?.array ?? []).compactMap { $0["cursor"]?.string }
    }

    @Test func theEdgeInAPayloadHasTheCursorOfTheConnection() throws {
        var todo = try ServiceUnderTest.todo()
        todo.cursorSeal = seal
        let answer = try JSONValue(
            parsing: todo.mutate(
                """
                mutation { addTodo(input: { text: "New" }) {
                  todoEdge { cursor } user { todos { edges { cursor } } } } }
                """))
        let payload = answer["data"]?["addTodo"]
        let cursor = try #require(payload?["todoEdge"]?["cursor"]?.string)
        #expect(cursors(payload?["user"]?["todos"]).last == cursor)
        let query = "{ user { todos { edges { cursor } } } }"
        let connection = try JSONValue(parsing: todo.query(query))["data"]?["user"]?["todos"]
        #expect(cursors(connection).count == 3 && cursors(connection).last == cursor)
        #expect(
            try todo.query("{ user { todos(before: \"\(cursor)\") { edges { node { text } } } } }")
                == todo.query("{ user { todos(first: 2) { edges { node { text } } } } }"))
    }

    @Test func aTypesRecordsAreAListOfTheirOwn() throws {
        var tracker = try ServiceUnderTest.tracker()
        tracker.cursorSeal = seal
        let query = """
            { issues { edges { cursor } } project(key: "relay") { issues { edges { cursor } } } }
            """
        let data = try JSONValue(parsing: tracker.query(query))["data"]
        let (all, own) = (cursors(data?["issues"]), cursors(data?["project"]?["issues"]))
        #expect(all.count == 2 && own.count == 2 && Set(all + own).count == 4)
        let page = "edges { node { title } }"
        #expect(
            try tracker.query("{ issues(after: \"\(all[0])\") { \(page) } }")
                == #"{"data":{"issues":{"edges":[{"node":{"title":"Two"}}]}}}"#)
        #expect(
            try tracker.query("{ issues(after: \"\(own[0])\") { \(page) } }")
                .contains("is not a cursor of this connection"))
        // The numbers of names and ids are others after a restart, and cursors the same.
        tracker.restart()
        #expect(try JSONValue(parsing: tracker.query(query))["data"] == data)
    }
}
