import EventStore
import Foundation
import GraphQLTransportWS
import HTTPMessages
import Logging
import PostgreSQL
import PostgreSQLTesting
import RelayJSON
@_spi(Rooms) import RelayRecords
import SharedJournal
import Testing
import Threads
import WebSocketIO
import WebSocketTesting

@testable import RelayServer

/// Servers in this process that share a journal, each with a directory and a port of its own.
final class ServedCluster: Sendable {
    typealias Change = @Sendable (Int, inout Server.Configuration) -> Void

    private let url: String
    private let directory: URL
    private let change: Change
    private let servers = Lock<[Int: RunningServer]>([:])
    private let loop: IOLoop

    init(_ url: String, change: @escaping Change) throws {
        self.url = url
        self.change = change
        directory = FileManager.default.temporaryDirectory
            .appending(path: "relay-served-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        loop = try IOLoop.start()
    }

    func path(_ number: Int) -> String { directory.appending(path: "n\(number)").path() }

    /// Starts one; again on its files if it was stopped.
    func start(_ number: Int) async throws {
        var configuration = Server.Configuration(
            schema: try Example.text("todo.graphql"), schemaName: "todo.graphql",
            storage: try .journal(url, copy: path(number), node: "n\(number)"))
        configuration.seed = Array(try Example.text("todo.seed.ndjson").utf8)
        configuration.port = 0
        change(number, &configuration)
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let server = try await Server.start(configuration, logger: logger)
        servers.withLock { $0[number] = RunningServer(server: server, loop: loop) }
    }

    func server(_ number: Int) throws -> RunningServer {
        try #require(servers.withLock { $0[number] })
    }

    func stop(_ number: Int) async {
        let server = servers.withLock { $0.removeValue(forKey: number) }
        await server?.server.stop()
    }

    func stop() async {
        for number in servers.withLock({ Array($0.keys) }) { await stop(number) }
        await loop.stop()
        try? FileManager.default.removeItem(at: directory)
    }

    /// Waits until one of them leads.
    @discardableResult
    func leader() async throws -> Int {
        try await eventually("a leader") {
            let connection = try connect()
            defer { connection.close() }
            guard let lease = try connection.lease(), lease.remaining > .zero else { return nil }
            return servers.withLock { servers in
                servers.keys.first { "n\($0)" == lease.node }
            }
        }
    }

    /// What the servers say of themselves.
    func nodes() throws -> [SharedJournalStatus.Node] {
        let connection = try connect()
        defer { connection.close() }
        return try connection.status().nodes
    }

    /// What the servers show each other.
    func key() throws -> ClusterKey {
        let connection = try connect()
        defer { connection.close() }
        return ClusterKey(try connection.completeHistory().clusterKey)
    }

    private func connect() throws -> JournalConnection {
        try JournalConnection(JournalAddress(parsing: url), abandonment: Abandonment())
    }

    /// By the copy of a server.
    func schemaInTheLog(of number: Int) throws -> String {
        let history = try History(path(number))
        return try history.snapshot(at: history.last).schema
    }
}

extension HTTPResponse {
    /// The cursor of an answer.
    var cursor: String? { json?["extensions"]?["relay"]?["cursor"]?.string }
}

extension RunningServer {
    /// The first results of a stream; once it has begun, something is done.
    func events(
        _ payload: JSONObject, count: Int, doing action: () async throws -> Void
    ) async throws -> [JSONValue] {
        let channel = try await connect()
        defer { channel.connection.close() }
        func send(_ message: ClientMessage) {
            channel.connection.send(OutgoingMessage(.text, message.bytes))
        }
        send(.connectionInit(payload: nil))
        var results: [JSONValue] = []
        for await message in channel {
            switch try ServerMessage(message.bytes) {
            case .connectionAck:
                send(.subscribe(id: "1", payload: payload))
                // Its answer says that what came before it was taken.
                send(.ping(payload: nil))
            case .pong: try await action()
            case .next(_, let result):
                // The first message of a resumed stream may have no result.
                if result["data"] != .null { results.append(.object(result)) }
                if results.count == count { return results }
            case .error(_, let errors): return errors
            default: continue
            }
        }
        throw ClosedEarly()
    }
}
