import Foundation
import RelayJSON
import Testing

/// A server stops when it is asked to, whatever is going on, and says 0.
@Suite(.bounded)
struct ShutdownTests {
    private let sandbox: Sandbox

    init() throws { sandbox = try Sandbox() }

    @Test(arguments: [SIGTERM, SIGINT])
    func aSignalClosesConnectionsInOrderAndEndsTheServer(_ signal: Int32) async throws {
        let server = try await sandbox.serve()
        let message = try await onThread {
            let socket = try RawWebSocket(port: server.port)
            server.process.send(signal: signal)
            return try socket.receiveMessage()
        }
        // RFC 6455 §7.4.1: 1001 is going away.
        guard case .close(code: 1001, reason: _) = message else {
            Issue.record("The connection was not closed in order: \(message)")
            return
        }
        #expect(try await server.process.finish().exit == .code(0))
        // Nothing holds the log any more.
        #expect(try await sandbox.serve().stop() == .code(0))
    }

    /// It stands where the newest commits begin, so that the next start has them in memory again.
    @Test func anOrderlyStopWritesACheckpointAndAResumeFindsWhatWasMissed() async throws {
        let server = try await sandbox.serve()
        for number in 0..<5 {
            _ = try await server.data(
                "mutation { addTodo(input: {text: \"\(number)\"}) { todo { id } } }")
        }
        #expect(try await server.stop() == .code(0))
        let checkpoints = try FileManager.default.contentsOfDirectory(
            atPath: sandbox.path("data/checkpoints"))
        #expect(checkpoints == ["00000000000000000001.checkpoint"])
        let verified = try await sandbox.start(
            ["log", "verify", sandbox.path("data"), "--deep"]
        ).finish()
        #expect(verified.exit == .code(0), "\(verified)")
        let again = try await sandbox.serve()
        #expect(try await again.data("{ user { totalCount } }") == ["user": ["totalCount": 7]])
        #expect(try await again.stop() == .code(0))
    }

    @Test func aClientThatDoesNotAnswerTheCloseHoldsNothingUp() async throws {
        let server = try await sandbox.serve()
        let socket = try await onThread { try RawWebSocket(port: server.port) }
        server.process.send(signal: SIGTERM)
        #expect(try await server.process.finish().exit == .code(0))
        withExtendedLifetime(socket) {}
    }
}
