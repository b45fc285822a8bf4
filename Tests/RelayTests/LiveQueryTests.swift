import OpenCombine
import Relay
import RelayArtifacts
import Testing
import TodoFixtures

/// A live query is a stream: what is wrong with one result does not end it.
@Suite(.bounded, .timeLimit(.minutes(10))) struct LiveQueryTests {
    private let environment = MockEnvironment()
    private let query = LiveTodosQuery(variables: EmptyVariables())

    private func payload(_ count: String) -> String {
        #"{"data":{"user":{"id":"U","totalCount":\#(count),"todos":null}}}"#
    }

    /// The same query as one whose text only the server has.
    private struct PersistedTodosQuery: Relay.Operation {
        static let node = ConcreteRequest(
            fragment: LiveTodosQuery.node.fragment, operation: LiveTodosQuery.node.operation,
            params: RequestParameters(
                name: "LiveTodosQuery", operationKind: .query, text: nil, id: "live"))
        var variables = EmptyVariables()
        typealias Data = LiveTodosQuery.Data
    }

    @Test func aResultThatCannotBeReadDoesNotEndIt() throws {
        let results = Collected(environment.publisher(of: query))
        let request = try #require(environment.mostRecent)
        request.nextValue(payload("null"))
        request.nextValue(payload("1"))
        request.nextValue("?")
        request.nextValue(payload("2"))
        #expect(results.values.map { $0.data?.user?.totalCount } == [nil, 1, nil, 2])
        #expect(results.values.map(\.errors.isEmpty) == [false, true, false, true])
        #expect(results.values.first?.errors.first?.path == [.key("user"), .key("totalCount")])
        request.complete()
        #expect(results.isFinished)
    }

    /// That it goes on shows that it is live.
    @Test func norDoesOneOfAPersistedQueryOnceItGoesOn() throws {
        let results = Collected(environment.publisher(of: PersistedTodosQuery()))
        let request = try #require(environment.mostRecent)
        for count in ["1", "null", "2"] { request.nextValue(payload(count)) }
        request.nextValue("?")
        request.nextValue(payload("3"))
        #expect(results.values.map { $0.data?.user?.totalCount } == [1, nil, 2, nil, 3])
        results.cancel()
        // The first may be the only one.
        let failed = Collected(environment.publisher(of: PersistedTodosQuery()))
        environment.mostRecent?.nextValue(payload("null"))
        #expect(failed.error is ReadError)
    }

    /// Its second result may come in parts.
    @Test func norDoesAPartOfAPersistedQueryOnceItGoesOn() throws {
        let results = Collected(environment.publisher(of: PersistedTodosQuery()))
        let request = try #require(environment.mostRecent)
        request.nextValue(payload("1"))
        request.nextValue(String(payload("2").dropLast()) + #","hasNext":true}"#)
        request.nextValue("?")
        request.nextValue(
            #"{"incremental":[{"path":["user"],"data":{"totalCount":null}}],"hasNext":false}"#)
        request.nextValue(payload("3"))
        #expect(results.error == nil)
        #expect(results.values.last?.data?.user?.totalCount == 3)
        results.cancel()
    }
}
