import Testing
import Threads

@testable import WebSocketIO

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

@Suite(.bounded, .timeLimit(.minutes(10)))
struct ListenerTests {
    /// A system that has no descriptor left, not even a spare one, until it is told otherwise.
    private final class Exhausted: Sendable {
        private let state = Lock((isOver: false, attempts: 0))

        var attempts: Int { state.withLock { $0.attempts } }
        func end() { state.withLock { $0.isOver = true } }

        var calls: PortListener.Calls {
            PortListener.Calls(
                accept: { [self] listening, address, length in
                    let isOver = state.withLock { state in
                        state.attempts += 1
                        return state.isOver
                    }
                    if isOver { return acceptConnection(listening, address, length) }
                    errno = EMFILE
                    return -1
                },
                openSpare: { -1 })
        }
    }

    @Test func withoutDescriptorsTheLoopDoesNotSpinAndLaterTheClientIsAccepted() async throws {
        let loop = try IOLoop.start()
        let sockets = try ListeningSockets(host: "127.0.0.1", port: 0)
        try sockets.listen()
        let descriptor = try #require(sockets.takeDescriptors().first)
        let system = Exhausted()
        let isAccepted = Lock(false)
        let listener = try await loop.runOnCore { core in
            LoopConfined(
                PortListener(core: core, descriptor: descriptor, calls: system.calls) {
                    connection, _ in
                    isAccepted.withLock { $0 = true }
                    closeDescriptor(connection)
                } as PortListener?, on: loop)
        }
        let begin = ContinuousClock.now
        let client = try RawClient(port: sockets.port)
        await eventually { system.attempts > 0 }
        // In each of these turns the loop would be told of the client again. It tries about every 100 ms.
        for _ in 0..<1_000 { try await loop.run {} }
        let attempts = system.attempts
        #expect(attempts <= Int((ContinuousClock.now - begin) / .milliseconds(20)) + 10)
        system.end()
        #expect(try await client.readToEnd() == "")
        #expect(isAccepted.withLock { $0 })
        try await loop.run { listener.value = nil }
        await loop.stop()
    }
}
