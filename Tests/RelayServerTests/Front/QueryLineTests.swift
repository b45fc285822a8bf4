import GraphQLTransportWS
import RelayJSON
import Testing
import Threads

@testable import RelayServer

@Suite(.bounded, .timeLimit(.minutes(10))) struct QueryLineTests {
    @Test func soManyBeginAndTheOthersFollowInOrder() {
        var line = QueryLine<Int>(limit: 2)
        var begun = (0..<5).filter { line.arrive($0) }
        #expect(begun == [0, 1])
        for _ in 0..<2 { if let next = line.end() { begun.append(next) } }
        if line.arrive(5) { begun.append(5) }
        for _ in 0..<4 { if let next = line.end() { begun.append(next) } }
        #expect(begun == Array(0..<6))
        #expect((6..<9).filter { line.arrive($0) } == [6, 7])
    }

    /// What a client has completed, no other waits for.
    @Test func whatNobodyWaitsForIsNotExecuted() async throws {
        let isOpen = Monitor(false)
        let begun = Lock(0)
        defer { isOpen.update { $0 = true } }
        try await RunningServer.run({ configuration in
            configuration.schema = "type Query { slow: Int fast: Int }"
            configuration.seed = nil
            configuration.handlers.resolve("Query.slow") { _ in
                begun.withLock { $0 += 1 }
                _ = isOpen.wait { $0 ? true : nil }
                return 1
            }
            configuration.handlers.resolve("Query.fast") { _ in 1 }
        }) { server in
            let client = try await GraphQLClient(server)
            for id in 0..<64 { client.subscribe("\(id)", "{ slow }") }
            try await eventually("the first") { begun.withLock { $0 } > 0 ? true : nil }
            for id in 0..<64 { client.send(.complete(id: "\(id)")) }
            client.send(.ping(payload: nil))
            guard case .pong = try await client.next() else {
                throw TestFailure("something came before the answer to the ping")
            }
            isOpen.update { $0 = true }
            #expect(try await client.run("{ fast }")["data"]?["fast"] == 1)
            #expect(begun.withLock { $0 } <= GraphQLSocket.queriesAtOnce)
        }
    }
}
