import Console
import RelayJSON
import Threads
import WebSocketIO

/// The client side of a network benchmark: many connections to one server, all on one loop.
struct LoadClient: Sendable {
    let loop: IOLoop
    let connections: [LoadConnection]

    private static let connectingAtOnce = 64

    /// Connects so many times.
    static func connect(
        _ url: String, _ server: ServerOptions, count: Int
    ) async throws -> LoadClient {
        let address = try ServerAddress(argument: url)
        let descriptors = raiseDescriptorLimit()
        guard count + 16 <= descriptors else {
            throw CommandFailure(
                "\(count) connections are more than this process may open: \(descriptors) files.")
        }
        let loop = try IOLoop.start()
        let progress = ProgressBar("Connecting")
        defer { ProgressBar.clear() }
        do {
            let connections = try await withThrowingTaskGroup(of: LoadConnection.self) { group in
                var connections: [LoadConnection] = []
                for begun in 0..<count {
                    if begun >= connectingAtOnce, let connection = try await group.next() {
                        connections.append(connection)
                        progress.show(UInt64(connections.count), of: UInt64(count))
                    }
                    group.addTask {
                        try await LoadConnection.connect(to: address, server, on: loop)
                    }
                }
                for try await connection in group { connections.append(connection) }
                return connections
            }
            return LoadClient(loop: loop, connections: connections)
        } catch {
            await loop.stop()
            throw error
        }
    }

    func close() async {
        for connection in connections { connection.close() }
        await loop.stop()
    }
}

extension LoadConnection {
    /// The data of the one result of a query or mutation that must succeed.
    func data(_ payload: JSONObject) async throws -> JSONValue {
        let answer = Lock<CheckedContinuation<[UInt8], any Error>?>(nil)
        let bytes = try await withCheckedThrowingContinuation { continuation in
            answer.withLock { $0 = continuation }
            start(payload) { event in
                let continuation = answer.withLock { waiting in
                    defer { waiting = nil }
                    return waiting
                }
                switch event {
                case .result(let bytes): continuation?.resume(returning: bytes)
                case .ended(let failure):
                    continuation?.resume(
                        throwing: failure ?? CommandFailure("An operation had no result."))
                }
            }
        }
        let result = try JSONValue(parsing: bytes)
        if let error = result["errors"]?.array?.first {
            throw CommandFailure(
                "The server answered with an error: \(error["message"]?.string ?? error.text)")
        }
        return result["data"] ?? .null
    }
}
