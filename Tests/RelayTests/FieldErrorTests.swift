import OpenCombine
import Relay
import Testing
import TodoFixtures

/// `@required`, `@catch` and `@throwOnFieldError`, from the server's response to the reader.
@Suite(.bounded, .timeLimit(.minutes(10))) struct FieldErrorTests {
    private let environment = MockEnvironment()

    /// A response in which a todo's text has an error is taken in, and read by the query.
    private func read<Query: Relay.Operation>(
        _ query: Query, fields: String = #""text":null"#, failing: String = "text"
    ) throws -> Relay.Snapshot<Query.Data> {
        try read(query, as: Query.Data.self, fields: fields, failing: failing)
    }

    /// The same with another type for the query's data.
    private func read<Data: ReadableRecord>(
        _ query: some Relay.Operation, as type: Data.Type, fields: String = #""text":null"#,
        failing: String = "text"
    ) throws -> Relay.Snapshot<Data> {
        let operation = query.createDescriptor()
        let responses = Collected(environment.execute(operation: operation))
        environment.mostRecent?.resolve(
            """
            {"data":{"node":{"__typename":"Todo","id":"a",\(fields)}},\
            "errors":[{"message":"no","path":["node","\(failing)"],\
            "locations":[{"line":1,"column":2}],"extensions":{"code":"FORBIDDEN"}}]}
            """)
        // Data and errors both arrive.
        #expect(responses.values.first?.errors?.first?.path == [.key("node"), .key(failing)])
        #expect(responses.values.first?.hasData == true)
        return environment.lookup(selector: operation.fragment)
    }

    /// A node whose text may be null, though the schema says that it is not.
    private struct NullableText: ReadableRecord {
        var node: Todo?

        init(_ record: inout RecordReader) throws { node = try record.optionalLinked("node") }

        struct Todo: ReadableRecord {
            var text: String?
            init(_ record: inout RecordReader) throws { text = try record.optionalString("text") }
        }
    }

    private static let error = GraphQLError(
        message: "no", locations: [.init(line: 1, column: 2)],
        path: [.key("node"), .key("text")], extensions: ["code": "FORBIDDEN"])

    @Test func anErrorOfAFieldKeepsItsPathItsLocationsAndItsExtensions() throws {
        let snapshot = try read(RequiredNoneQuery(id: "a"))
        #expect(snapshot.errors == [Self.error])
    }

    @Test func requiredNoneMakesTheObjectNull() throws {
        let snapshot = try read(RequiredNoneQuery(id: "a"))
        let data = try #require(try snapshot.value())
        #expect(data.node == nil)
    }

    @Test func requiredLogMakesTheObjectNullAndSaysSo() async throws {
        let events = environment.events
        let snapshot = try read(RequiredLogQuery(id: "a"))
        #expect(try snapshot.value()?.node == nil)
        for await event in events where event.name == .missingRequiredFieldLog {
            #expect(event.path == ["node", "text"] && event.operation == "RequiredLogQuery")
            break
        }
    }

    @Test func requiredThrowThrowsToWhoeverReads() throws {
        let snapshot = try read(RequiredThrowQuery(id: "a"))
        let error = #expect(throws: ReadError.self) { try snapshot.value() }
        #expect(error?.reason == .required && error?.path == ["node", "text"])
        #expect(snapshot.data == nil)
        // And is over when there is a value.
        var told: [Result<RequiredThrowQuery.Data?, any Error>] = []
        let following = environment.subscribe(snapshot: snapshot).sink { snapshot in
            told.append(Result { try snapshot.value() })
        }
        try environment.commitUpdate { $0["a"]?["text"] = "there" }
        #expect(try told.last?.get()?.node?.asTodo?.text == "there")
        following.cancel()
    }

    @Test func caughtLeavesAreResultsOrNull() throws {
        let query = CaughtLeavesQuery(id: "a")
        var snapshot = try read(query, fields: #""text":null,"complete":true"#)
        let failed = try #require(try snapshot.value()?.node?.asTodo)
        #expect(failed.text == .failure(FieldErrors(errors: [Self.error])))
        #expect(failed.complete == true && snapshot.errors.isEmpty)

        snapshot = try read(query, fields: #""text":"x","complete":null"#, failing: "complete")
        let other = try #require(try snapshot.value()?.node?.asTodo)
        #expect(other.text == .success("x") && other.complete == nil && snapshot.errors.isEmpty)
    }

    @Test func aCaughtObjectHasTheErrorsBelowIt() throws {
        let fields = #""text":null,"complete":true"#
        let snapshot = try read(CaughtNodeQuery(id: "a"), fields: fields)
        let data = try #require(try snapshot.value())
        #expect(data.node == .failure(FieldErrors(errors: [Self.error])))
        #expect(snapshot.errors.isEmpty)

        let asNull = try read(CaughtNodeAsNullQuery(id: "a"), fields: fields)
        let none = try #require(try asNull.value())
        #expect(none.node == nil && asNull.errors.isEmpty)
    }

    @Test func catchTakesInWhatRequiredWouldThrow() throws {
        let snapshot = try read(CaughtRequiredQuery(id: "a"))
        let data = try #require(try snapshot.value())
        guard case .failure(let errors) = data.node else {
            Issue.record("it was not caught")
            return
        }
        #expect(
            errors.errors.map(\.message) == ["no", #"The required field "node.text" is null."#])
    }

    @Test func aWholeOperationCanBeCaught() throws {
        let snapshot = try read(CaughtWholeQuery(id: "a"), as: NullableText.self)
        #expect(throws: FieldErrors(errors: [Self.error])) { try snapshot.result.get() }
        let whole = try snapshot.value()
        #expect(whole != nil)

        let asNull = try read(CaughtWholeAsNullQuery(id: "a"))
        #expect(try asNull.value() == nil)
    }

    @Test func throwOnFieldErrorThrows() throws {
        let snapshot = try read(ThrowingQuery(id: "a"))
        let error = #expect(throws: ReadError.self) { try snapshot.value() }
        #expect(error?.reason == .failed([Self.error]))
    }

    @Test func aMutationsResultHasBothDataAndErrors() throws {
        let told = Collected(environment.publisher(of: change("a", true)))
        environment.mostRecent?.resolve(
            """
            {"data":{"changeTodoStatus":{"todo":{"id":"a","complete":true}}},\
            "errors":[{"message":"half done"}]}
            """)
        #expect(told.values.map { $0.data?.changeTodoStatus?.todo.id } == ["a"])
        #expect(told.values.first?.errors.map(\.message) == ["half done"] && told.isFinished)

        let refused = Collected(environment.publisher(of: change("a", true)))
        environment.mostRecent?.resolve(#"{"data":null,"errors":[{"message":"no"}]}"#)
        #expect((refused.error as? NetworkError)?.errors.map(\.message) == ["no"])
    }
}
