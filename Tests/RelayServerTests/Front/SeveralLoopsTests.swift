import GraphQLTransportWS
import RelayJSON
import Testing
import Threads
import WebSocketIO
import WebSocketTesting

@testable import RelayServer
@testable import StoreEngine

/// `--loops`: connections on several threads, told of the same commits.
@Suite(.bounded, .timeLimit(.minutes(10)))
struct SeveralLoopsTests {
    @Test func whoeverListensOnAnyLoopIsToldEachCommitOnceAndInOrder() async throws {
        try await RunningServer.run({ $0.loops = 3 }) { server in
            var clients: [GraphQLClient] = []
            for _ in 0..<7 {
                let client = try await GraphQLClient(server)
                client.subscribe("1", "subscription { todoAdded { todo { text } } }")
                client.subscribe("2", "subscription { user { totalCount } }")
                // The live result that it begins with says that both are there.
                _ = try await client.result()
                clients.append(client)
            }
            let texts = (0..<20).map { "todo \($0)" }
            let writer = try await GraphQLClient(server)
            for text in texts { try await writer.addTodo(text) }
            for client in clients {
                var seen: [String] = []
                var counts: [Int64] = []
                while seen.count < texts.count || counts.last != 22 {
                    let data = try await client.result()["data"]
                    if let text = data?["todoAdded"]?["todo"]?["text"]?.string { seen.append(text) }
                    if let count = data?["user"]?["totalCount"]?.int { counts.append(count) }
                }
                #expect(seen == texts)
                #expect(counts == counts.sorted() && Set(counts).count == counts.count)
            }
        }
    }

    @Test(arguments: [1, 2])
    func aTimerRunsInTheMiddleOfAFanOut(_ loopCount: Int) async throws {
        let loops = try await NetworkLoops.start(loopCount)
        let loop = loops.loops[0]
        let seen = Lock(0)
        let seenAtTimer = Lock<Int?>(nil)
        let count = 10 * NetworkLoops.partLimit
        let streams = (0..<count).map { index in
            EventStream(on: loop, resumeCursor: nil, limit: 1 << 20) { _ in
                seen.withLock { $0 += 1 }
                // Some of its parts take as long as a loop gives to what has been posted before it looks at the time.
                if index.isMultiple(of: NetworkLoops.partLimit) {
                    let end = ContinuousClock.now + .milliseconds(5)
                    while .now < end {}
                }
            }
        }
        try await loop.run {
            loop.perform(after: .zero) { seenAtTimer.withLock { $0 = seen.withLock { $0 } } }
            loops.deliver(streams.map { Delivery(sink: $0, event: .completed) })
        }
        await loops.settle()
        #expect(seen.withLock { $0 } == count)
        #expect(try #require(seenAtTimer.withLock { $0 }) < count)
        await loops.stop()
    }

    @Test func theMetricsNameEachLoop() async throws {
        try await RunningServer.run({ $0.loops = 2 }) { server in
            let first = try await server.connect()
            let second = try await server.connect()
            let metrics = try await server.metrics()
            // The third connection is the one that asks.
            #expect(metrics["relay_connections"] == "3")
            #expect(metrics["relay_loop_connections{loop=\"0\"}"] == "2")
            #expect(metrics["relay_loop_connections{loop=\"1\"}"] == "1")
            #expect(metrics["relay_loop_queue_bytes{loop=\"1\"}"] == "0")
            first.connection.close()
            second.connection.close()
        }
    }

    @Test func aFrameIsMadeOnceForAllLoops() {
        let shared = Response(refused: [])
        let single = Response(refused: [])
        var plan = SharedFrames.Plan(loops: 3)
        for loop in [0, 2, 0, 2] { plan.add(shared, loop: loop) }
        plan.add(single, loop: 1)
        let frames = SharedFrames(plan)
        let frame = frames.frame(of: shared)
        #expect(frames.frame(of: shared) === frame)
        // Both loops have it: it is not kept for anybody else.
        #expect(frames.frame(of: shared) !== frame)
        #expect(frames.frame(of: single) !== frames.frame(of: single))
    }

    @Test func theDefaultIsAsManyAsProcessorsAndNotMoreThanFour() {
        #expect(1...4 ~= Server.Configuration(schema: "", storage: .memory).loops)
    }
}
