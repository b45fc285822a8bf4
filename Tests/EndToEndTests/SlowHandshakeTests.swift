import Foundation
import RelayJSON
import Testing

/// What clients cost that connect and then take their time.
@Suite(.bounded)
struct SlowHandshakeTests {
    private static let count = 200
    /// Far more than either kind needs, far less than a buffer for a message.
    private static let bytesEach = 65_536

    private let sandbox: Sandbox

    init() throws { sandbox = try Sandbox() }

    @Test func clientsThatNeverComeToThePointCostLittleAndAreSentAway() async throws {
        let server = try await sandbox.serve("--handshake-timeout", "3")
        let (port, pid) = (server.port, server.process.pid)
        try await onThread {
            // What is made once, for the first of all.
            _ = try (Self.halfAHead(port), RawWebSocket(port: port))
            let before = try residentBytes(of: pid)
            let halves = try (0..<Self.count).map { _ in try Self.halfAHead(port) }
            let silent = try (0..<Self.count).map { _ in try RawWebSocket(port: port) }
            let after = try residentBytes(of: pid)
            #expect(after - before < 2 * Self.count * Self.bytesEach)

            for client in halves { #expect(throws: Failure.self) { try client.receive(count: 1) } }
            let ends = try silent.map { try $0.receiveMessage() }
            let timeout = RawWebSocket.Message.close(
                code: 4_408, reason: "Connection initialisation timeout")
            #expect(ends.allSatisfy { $0 == timeout })
        }
        #expect(try await server.data("{ user { totalCount } }")["user"]?["totalCount"] == 2)
    }

    /// A connection whose request stops in the middle of a field of 8 KiB.
    private static func halfAHead(_ port: Int) throws -> RawConnection {
        let connection = try RawConnection(port: port)
        let field = String(repeating: "x", count: 8_192)
        try connection.send(Array("GET /graphql HTTP/1.1\r\nHost: x\r\nCookie: \(field)".utf8))
        return connection
    }
}
