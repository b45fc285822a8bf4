import Foundation
import RelayJSON

/// A server that a test has started, and that is listening.
struct RunningServer: Sendable {
    let process: ChildProcess
    /// `ws://127.0.0.1:PORT/graphql`
    let url: String
    let port: Int

    /// Waits until it says where it listens.
    init(_ process: ChildProcess) async throws {
        self.process = process
        let announcement = try await process.nextLine("the announcement of the server")
        guard let match = announcement.wholeMatch(of: /listening on (ws:\/\/.*:(\d+)\/graphql)/),
            let port = Int(match.2)
        else { throw Failure("This is no announcement: \(announcement)") }
        url = String(match.1)
        self.port = port
    }

    /// Asks it to stop, and waits until it has.
    func stop() async throws -> ChildProcess.Exit {
        process.send(signal: SIGTERM)
        return try await process.finish().exit
    }

    /// Ends it without a chance to do anything about it.
    func kill() async throws {
        process.send(signal: SIGKILL)
        _ = try await process.finish()
    }
}

extension RunningServer {
    /// The data of a query or mutation that must succeed, asked for over HTTP.
    func data(_ document: String) async throws -> JSONValue {
        let request: JSONValue = ["query": .string(document)]
        let reply = try await onThread { [port] in try HTTPClient(port: port).post(request.text) }
        let payload = try reply.body.payload()
        guard reply.status == 200, payload.errors.isEmpty else {
            throw Failure("\(document) failed: \(reply)")
        }
        return payload.data
    }
}

/// What a server says at one of its paths.
struct Page: Hashable, Sendable {
    let status: Int
    let body: String
}

extension RunningServer {
    func get(_ path: String) async throws -> Page {
        let reply = try await onThread { [port] in try HTTPClient(port: port).get(path) }
        return Page(status: reply.status, body: reply.body)
    }

    /// A figure of `/metrics`, as it is written there.
    func metric(_ name: String) async throws -> String? {
        try await get("/metrics").body.split(separator: "\n")
            .first { $0.hasPrefix(name + " ") }.map { String($0.dropFirst(name.count + 1)) }
    }
}

/// One GraphQL result, as it stands on a line or in a body.
struct Payload: Sendable {
    let json: JSONValue

    var data: JSONValue { json["data"] ?? .null }
    var errors: [JSONValue] { json["errors"]?.array ?? [] }
    /// The code of the first error.
    var code: String? { errors.first?["extensions"]?["code"]?.string }
    var message: String? { errors.first?["message"]?.string }
}

extension String {
    func payload() throws -> Payload { Payload(json: try JSONValue(parsing: self)) }
}
