import Foundation
import Testing

/// A server stops when it is asked to, whatever is going on, and says 0.
struct ShutdownTests {
    private let sandbox: Sandbox

    init() throws { sandbox = try Sandbox() }

    @Test(arguments: [SIGTERM, SIGINT])
    func aSignalEndsTheServerInOrder(_ signal: Int32) async throws {
        let server = try await sandbox.serve()
        let socket = try await onThread { try RawWebSocket(port: server.port) }
        server.process.send(signal: signal)
        // A client that never answers the close does not hold it up: what runs servers loses its
        // patience after ten seconds.
        #expect(try await server.process.finish(within: .seconds(10)).exit == .code(0))
        // RFC 6455 §7.4.1: going away.
        guard case .close(code: 1001, reason: _) = try await onThread(socket.receiveMessage) else {
            Issue.record("The connection was not closed in order.")
            return
        }
        // Nothing holds the log any more.
        #expect(try await sandbox.serve().stop() == .code(0))
    }
}
