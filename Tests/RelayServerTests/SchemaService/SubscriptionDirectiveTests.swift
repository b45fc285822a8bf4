import GraphQLExecution
import GraphQLLanguage
import RelayJSON
@_spi(Rooms) import RelayRecords
import Testing

@testable import SchemaService

/// @on and @live, over the example schemas.
@Suite(.bounded) struct SubscriptionDirectiveTests {
    private func events(_ field: String, of service: ServiceUnderTest) throws -> MutationEvents {
        guard case .events(let events) = try #require(service.service.subscriptions[field]) else {
            throw NoEvents(field: field)
        }
        return events
    }

    private struct NoEvents: Error { let field: String }

    private func matches(
        _ field: String, _ arguments: JSONObject, lastOf service: ServiceUnderTest
    ) throws -> Bool {
        try events(field, of: service).matches(
            arguments,
            ToldMutation(
                service.lastIntent, service.lastResponse, from: nil, in: service.snapshot,
                service.service))
    }

    @Test func idsAreEqualWhenTheyNameTheSameRecord() throws {
        var todo = try ServiceUnderTest.todo()
        try todo.run("addTodo", ["input": ["text": "T", "userId": "VXNlcjptZQ=="]])
        #expect(try events("todoAdded", of: todo).mutations == ["addTodo"])
        #expect(try matches("todoAdded", ["userId": "me"], lastOf: todo))
        #expect(try matches("todoAdded", ["userId": "VXNlcjptZQ=="], lastOf: todo))
        #expect(try !matches("todoAdded", ["userId": "you"], lastOf: todo))
        #expect(try !matches("todoAdded", ["userId": "VG9kbzow"], lastOf: todo))
    }

    @Test func anotherMutationIsNoEvent() throws {
        var todo = try ServiceUnderTest.todo()
        try todo.run("renameTodo", ["input": ["id": "VG9kbzow", "text": "T"]])
        #expect(try !matches("todoAdded", ["userId": "me"], lastOf: todo))
    }

    @Test func anAbsentOrNullArgumentMatchesAll() throws {
        var tracker = try ServiceUnderTest.tracker()
        try tracker.run(
            "addIssue",
            ["input": ["projectId": "relay", "title": "T", "open": true, "priority": "LOW"]])
        #expect(try matches("issueAdded", [:], lastOf: tracker))
        #expect(try matches("issueAdded", ["projectId": nil], lastOf: tracker))
        #expect(try matches("issueAdded", ["projectId": "j1"], lastOf: tracker))
        #expect(try !matches("issueAdded", ["projectId": "j2"], lastOf: tracker))
    }

    @Test func aDeletedRecordIsStillNamed() throws {
        var service = try ServiceUnderTest(
            """
            interface Node { id: ID! }
            type Query { node(id: ID!): Node }
            type Tag implements Node { id: ID! name: String! @unique color: Color }
            enum Color { RED BLUE }
            type Mutation { removeTag(input: TagInput!): TagPayload @delete(type: "Tag") }
            input TagInput { id: ID! clientMutationId: String }
            type TagPayload { deletedTagId: ID! }
            type Subscription {
              tagRemoved(id: ID, clientMutationId: String): TagPayload @on(mutations: ["removeTag", "removeTag"])
            }
            """, seed: #"{"id":"t1","type":"Tag","fields":{"name":"a"}}"#)
        try service.run("removeTag", ["input": ["id": "a", "clientMutationId": "c"]])
        // It is named twice, and told once.
        #expect(try events("tagRemoved", of: service).mutations == ["removeTag"])
        #expect(try matches("tagRemoved", ["id": "t1"], lastOf: service))
        #expect(try !matches("tagRemoved", ["id": "t2"], lastOf: service))
        #expect(try matches("tagRemoved", ["clientMutationId": "c"], lastOf: service))
        #expect(try !matches("tagRemoved", ["clientMutationId": "d"], lastOf: service))
    }

    @Test func anEventIsThePayloadAndALiveFieldIsAQuery() throws {
        var todo = try ServiceUnderTest.todo()
        guard case .live = todo.service.subscriptions["user"] else {
            Issue.record("user is @live")
            return
        }
        let outcome = try todo.run("addTodo", ["input": ["text": "T", "userId": "me"]])
        #expect(
            try response(
                to: "subscription { todoAdded { todo { text } } }", .payload(outcome.payload), todo)
                == #"{"data":{"todoAdded":{"todo":{"text":"T"}}}}"#)
        #expect(
            try response(to: "subscription { user { totalCount } }", nil, todo)
                == #"{"data":{"user":{"totalCount":3}}}"#)
    }

    private func response(
        to text: String, _ source: ObjectValue?, _ service: ServiceUnderTest
    ) throws -> String {
        let operation = try PreparedOperation(
            try Document(parsing: text), operationName: nil, schema: service.service.executable)
        var execution = Execution(
            operation.plan(for: .none), variables: .none, on: service.snapshot,
            schema: service.service.executable, identity: .unrestricted)
        return String(decoding: execution.response(source: source), as: UTF8.self)
    }
}
