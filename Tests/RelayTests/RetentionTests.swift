import BoundedTesting
import Foundation
import OpenCombine
import Relay
@_spi(Rooms) import RelayStore
import Testing
import TodoFixtures

@Suite(.bounded, .timeLimit(.minutes(10)))
struct RetentionTests {
    private func environment(buffer: Int) throws -> Environment {
        let environment = Environment(
            network: MockNetwork(), store: Store(gcReleaseBufferSize: buffer))
        for id in ["a", "b"] {
            let todo =
                ["__typename": "Todo", "id": id, "text": id, "complete": false] as [String: Any]
            try environment.commitPayload(TodoQuery(id: id).createDescriptor(), ["node": todo])
        }
        return environment
    }

    @Test func promise47RecordsCanBeSavedAndGivenToAnotherStore() throws {
        let environment = try environment(buffer: 10)
        try environment.commitUpdate { store in
            store["a"]?["tags"] = ["x", 1, 1.5, NSNull()] as [Any]
            store.delete(dataID: "b")
        }
        let shown = try environment.applyUpdate { $0["a"]?["text"] = "shown" }
        let bytes = try JSONEncoder().encode(environment.store.source)
        let source = try JSONDecoder().decode(RecordSource.self, from: bytes)
        #expect(Set(source.recordIDs) == ["client:root", "a"] && source.count == 2)

        let restarted = Environment(network: MockNetwork(), store: Store(source: source))
        func node(_ id: String) -> Relay.Snapshot<TodoQuery.Data> {
            restarted.lookup(selector: TodoQuery(id: id).createDescriptor().fragment)
        }
        #expect(node("a").data?.node?.asTodo?.text == "a" && !node("a").isMissingData)
        // Deleted is not unknown.
        #expect(node("b").data?.node == nil && !node("b").isMissingData)
        #expect(node("c").isMissingData)
        let again = try JSONEncoder().encode(restarted.store.source)
        let tags = try JSONDecoder().decode(RecordSource.self, from: again)
        #expect(tags.recordIDs == source.recordIDs)
        try restarted.commitUpdate { #expect(($0["a"]?["tags"] as? [Any])?.count == 4) }
        shown.cancel()
    }

    @Test func promise47WhatIsNoRecordIsAnErrorThatSaysWhy() {
        let text = #"{"records":[{"id":"a","type":"Todo","fields":{"text":["x"]}}]}"#
        #expect {
            try JSONDecoder().decode(RecordSource.self, from: Data(text.utf8))
        } throws: { error in
            guard case DecodingError.dataCorrupted(let context) = error else { return false }
            return context.debugDescription.contains("\"text\" of record \"a\"")
        }
    }

    /// Where nothing is buffered, nobody has to collect all the same.
    @Test func withoutABufferReleasedRecordsAreCollected() async throws {
        let network = MockNetwork()
        let environment = Environment(network: network, store: Store(gcReleaseBufferSize: 0))
        for number in 0..<3_000 {
            let id = "\(number)"
            let result = Collected(environment.fetchQuery(TodoQuery(id: id)))
            network.requests.first?.resolve(Payloads.todo(id, id, complete: false))
            #expect(result.values.map { $0?.node?.asTodo?.text } == [id])
        }
        await eventually { environment.store.snapshot.recordCount < 2_100 }
    }

    /// Collects until the condition holds; a collection may be under way on another thread.
    private func collect(
        _ environment: Environment, until condition: () throws -> Bool
    ) async throws {
        let deadline = ContinuousClock.now + .testDeadline
        repeat {
            environment.store.collectGarbage()
            if try condition() { return }
            await Task.yield()
        } while ContinuousClock.now < deadline
        Issue.record("It was not collected in time.")
    }

    private func ids(_ environment: Environment) throws -> Set<DataID> {
        Set(try environment.store.source.recordIDs)
    }

    @Test func promise48RetainingIsCountedAndNothingIsCollectedBeforeTheLastRelease() async throws {
        let environment = try environment(buffer: 0)
        let operation = TodoQuery(id: "a").createDescriptor()
        let first = environment.retain(operation: operation)
        let second = environment.retain(operation: operation)
        first.cancel()
        try await collect(environment) { try !ids(environment).contains("b") }
        #expect(try ids(environment) == ["client:root", "a"])
        let shown = try environment.applyUpdate { $0["a"]?["text"] = "shown" }
        second.cancel()
        try await collect(environment) { try !ids(environment).contains("client:root") }
        // What an optimistic update works on is held.
        #expect(environment.store.snapshotText(of: "a", "text") == "shown")
        shown.cancel()
        // Nobody holds anything: the root goes too.
        try await collect(environment) { try environment.store.source.count == 0 }
    }

    @Test func promise49OnlyOperationsThatAreKeptHaveATimeOfFetching() throws {
        let before = Date()
        let operation = TodoQuery(id: "a").createDescriptor()
        let forgetful = try environment(buffer: 0)
        #expect(forgetful.check(operation: operation) == .available(nil))
        let buffered = try environment(buffer: 10)
        guard case .available(let fetched?) = buffered.check(operation: operation) else {
            Issue.record("The operation was fetched and is in the release buffer.")
            return
        }
        // A microsecond is lost in rounding.
        #expect(fetched > before.addingTimeInterval(-0.001) && fetched <= Date())
        let retained = forgetful.retain(operation: operation)
        try forgetful.commitPayload(operation, ["node": NSNull()])
        guard case .available(.some) = forgetful.check(operation: operation) else {
            Issue.record("The operation was fetched while it was retained.")
            return
        }
        retained.cancel()
    }

    @Test func aBufferSizeCannotBeNegative() throws {
        let environment = try environment(buffer: -1)
        environment.retain(operation: TodoQuery(id: "a").createDescriptor()).cancel()
        #expect(throws: Never.self) {
            try environment.commitPayload(
                TodoQuery(id: "c").createDescriptor(), ["node": NSNull()])
        }
    }
}
