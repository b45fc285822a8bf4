import Foundation
import OpenCombine
import Relay
import RelayStore
import Testing
import Threads
import TodoFixtures

/// Which records the server says are shown as others' mutations are expected to leave them.
@Suite(.bounded, .timeLimit(.minutes(2))) struct OthersRecordsTests {
    private let environment = MockEnvironment()

    /// A result of the live query.
    private func payload(_ relay: String) -> String {
        #"{"data":{"user":{"id":"U","totalCount":1,"todos":null}},"extensions":{"relay":{\#(relay)}}}"#
    }

    private func follow() throws -> (
        request: MockNetwork.Request, results: Collected<OperationResult<LiveTodosQuery.Data>>
    ) {
        // With metadata it shares no answers.
        let results = Collected(
            environment.publisher(
                of: LiveTodosQuery(), cacheConfig: CacheConfig(metadata: "a stream of its own")))
        return (try #require(environment.mostRecent), results)
    }

    private static let two = #""optimistic":true,"optimisticRecords":["a","b"]"#

    @Test func theyAreThoseOfTheLastResult() throws {
        let (request, results) = try follow()
        #expect(environment.othersOptimisticRecords.isEmpty)
        request.nextValue(payload(Self.two))
        #expect(environment.othersOptimisticRecords == ["a", "b"])
        request.nextValue(payload(#""optimistic":true,"optimisticRecords":["b"]"#))
        #expect(environment.othersOptimisticRecords == ["b"])
        // Which they are is not known any more.
        request.nextValue(payload(#""optimistic":true"#))
        #expect(environment.othersOptimisticRecords.isEmpty)
        request.nextValue(payload(Self.two))
        request.nextValue(payload(""))
        #expect(environment.othersOptimisticRecords.isEmpty && results.values.count == 5)
        results.cancel()
    }

    /// Each operation has its own.
    @Test func anOperationThatEndsSaysNothingAnyMore() throws {
        let told = Lock(0)
        let observation = environment.observeOthersRecords { told.withLock { $0 += 1 } }
        let ends: [(MockNetwork.Request, Collected<OperationResult<LiveTodosQuery.Data>>) -> Void] =
            [
                { $1.cancel() }, { request, _ in request.complete() },
                { request, _ in request.reject(URLError(.badServerResponse)) },
            ]
        let (first, kept) = try follow()
        first.nextValue(payload(#""optimistic":true,"optimisticRecords":["c"]"#))
        for end in ends {
            let (request, results) = try follow()
            request.nextValue(payload(Self.two))
            #expect(environment.othersOptimisticRecords == ["a", "b", "c"])
            end(request, results)
            #expect(environment.othersOptimisticRecords == ["c"])
        }
        #expect(told.withLock { $0 } == ends.count)
        // What comes too late is not shown either.
        first.nextValue(payload(""))
        kept.cancel()
        first.nextValue(payload(Self.two))
        #expect(environment.othersOptimisticRecords.isEmpty)
        #expect(told.withLock { $0 } == ends.count)
        observation.cancel()
    }

    /// They are there when the store tells of the result, and go with it.
    @Test func theyComeWithTheCommitThatShowsThem() throws {
        let seen = Lock<[Set<DataID>]>([])
        let (request, results) = try follow()
        let observation = environment.store.observe { [environment] event in
            guard case .notifyCompleted = event else { return }
            seen.withLock { $0.append(environment.othersOptimisticRecords) }
        }
        ResponseBurst.gather {
            request.nextValue(payload(#""optimistic":true,"optimisticRecords":["c"]"#))
            request.nextValue(payload(Self.two))
        }
        request.nextValue(payload(""))
        #expect(seen.withLock { $0 } == [["a", "b"], []])
        observation.cancel()
        results.cancel()
    }

    @Test func whatThisClientExpectsItselfIsNotAmongThem() throws {
        let (request, results) = try follow()
        request.nextValue(payload(Self.two))
        let own = Collected(
            environment.publisher(
                of: ChangeTodoStatusMutation(input: .init(complete: true, id: "a")),
                optimisticResponse: [
                    "changeTodoStatus": ["todo": ["id": "a", "complete": true]]
                ]))
        #expect(environment.optimisticEntries.map { $0.records.contains("a") } == [true])
        #expect(environment.othersOptimisticRecords == ["b"])
        own.cancel()
        #expect(environment.othersOptimisticRecords == ["a", "b"])
        results.cancel()
    }

    /// A server may say anything.
    @Test(arguments: ["7", "null", #""a""#, "{}", "[7,null,{}]", "[[]]"])
    func whatNamesNoRecordsNamesNone(_ value: String) throws {
        let (request, results) = try follow()
        request.nextValue(payload(#""optimistic":true,"optimisticRecords":\#(value)"#))
        #expect(environment.othersOptimisticRecords.isEmpty)
        #expect(results.values.count == 1 && results.error == nil)
        results.cancel()
    }

    @Test func soManyAndNoMore() throws {
        let (request, results) = try follow()
        for (count, isKnown) in [(1_000, true), (1_001, false)] {
            let ids = (0..<count).map { "\"\($0)\"" }.joined(separator: ",")
            request.nextValue(payload(#""optimistic":true,"optimisticRecords":[\#(ids)]"#))
            #expect(environment.othersOptimisticRecords.count == (isKnown ? count : 0))
        }
        results.cancel()
    }
}
