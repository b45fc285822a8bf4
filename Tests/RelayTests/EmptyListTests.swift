import Dispatch
import Relay
import Testing
import TodoFixtures

@Suite(.bounded, .timeLimit(.minutes(10))) struct EmptyListTests {
    /// All empty arrays are one, and whoever writes to it races with everybody. Only `script/tsan` sees that.
    @Test func whoeverReadsOneWritesNothing() throws {
        let environment = MockEnvironment()
        let operation = NodesQuery(ids: [])
        try environment.cachePayload(operation, #"{"data":{"nodes":[]}}"#)
        let selector = operation.createDescriptor().fragment
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            for _ in 0..<200 {
                let read: Relay.Snapshot<NodesQuery.Data> = environment.lookup(selector: selector)
                #expect(read.data?.nodes.isEmpty == true)
                #expect(ContiguousArray<Int>().withUnsafeBufferPointer { $0.isEmpty })
            }
        }
    }
}
