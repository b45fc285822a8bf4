import BoundedTesting
import Foundation
import LoopbackPorts
import RelayJSON
import Testing
import Threads

/// What docs/websocket.md promises, while connections are cut at random and the server is killed under load.
///
/// RELAY_PROMISE_SEED repeats a run.
@Suite(.bounded)
struct PromiseTests {
    private static let rounds = 3
    private static let todosARound = 120

    private let sandbox: Sandbox
    private let seed: UInt64

    init() throws {
        sandbox = try Sandbox()
        let environment = ProcessInfo.processInfo.environment
        seed = environment["RELAY_PROMISE_SEED"].flatMap { UInt64($0) } ?? .random(in: 0 ... .max)
    }

    @Test func whoIsCutOffAgainAndAgainSeesTheWholeHistoryOnceAndInOrder() async throws {
        print("promises: RELAY_PROMISE_SEED=\(seed)")
        var random = SeededGenerator(seed: seed)
        // Few commits are kept in memory, so that most of what is missed is read from the log.
        // The next server has the port of the last, where nobody else answers in between.
        let reserved = try ReservedPort()
        func serve() async throws -> RunningServer {
            try await sandbox.serve(
                "--recent-commits", "16", "--log-level", "warning", "--port",
                ReservedPort.letsServersIn ? "\(reserved.number)" : "0")
        }
        var server = try await serve()
        /// Where the server is; nil while it is dead.
        let serving = Watched<Int?>(server.port)
        let writer = PromiseWriter(serving)
        let start = try await onThread { [port = server.port] in try writer.start(port) }
        let readers = (0..<3).map { _ in PromiseReader(serving, start, random: &random) }
        let count = Self.rounds * Self.todosARound
        try await withThrowingTaskGroup(of: Void.self) { group in
            // Whatever goes wrong, they come to their end.
            defer {
                writer.stop()
                for reader in readers { reader.stop() }
            }
            for reader in readers { group.addTask { try await reader.run() } }
            group.addTask { try await writer.write(upTo: count) }
            for round in 1..<Self.rounds {
                let killedAt =
                    round * Self.todosARound
                    - Int.random(in: 20..<Self.todosARound, using: &random)
                try await writer.written.wait(for: "\(killedAt) todos") {
                    $0 >= killedAt ? () : nil
                }
                serving.update { $0 = nil }
                try await server.kill()
                server = try await serve()
                let port = server.port
                serving.update { $0 = port }
            }
            try await writer.written.wait(for: "\(count) todos") { $0 >= count ? () : nil }
            let expected = (1...count).map { "\($0)" }
            for (number, reader) in readers.enumerated() {
                let told = try await reader.told.wait(for: "the end of the history") {
                    $0.last == expected.last ? $0 : nil
                }
                #expect(told == expected, "reader \(number), seed \(seed)")
                #expect(reader.complaints.value.isEmpty, "reader \(number), seed \(seed)")
            }
            for reader in readers { reader.stop() }
            // Readers that wait for something are waiting for the server's end.
            serving.update { $0 = nil }
            #expect(try await server.stop() == .code(0))
            group.cancelAll()
        }
    }
}

/// Adds todos one after the other, each once, whatever happens to the server.
private final class PromiseWriter: Sendable {
    let written = Watched(0)
    private let serving: Watched<Int?>
    private let isStopped = Watched(false)

    init(_ serving: Watched<Int?>) { self.serving = serving }

    func stop() { isStopped.update { $0 = true } }

    /// The cursor from which readers begin.
    func start(_ port: Int) throws -> String {
        let reply = try HTTPClient(port: port).post(#"{"query": "{ user { id } }"}"#)
        let payload = try reply.body.payload()
        guard let cursor = payload.json["extensions"]?["relay"]?["cursor"]?.string else {
            throw Failure("No cursor: \(reply)")
        }
        return cursor
    }

    func write(upTo count: Int) async throws {
        while written.value < count, !isStopped.value {
            let port = try await serving.wait(for: "a server") { $0 }
            try? await onThread {
                let client = try HTTPClient(port: port)
                while self.written.value < count, !self.isStopped.value {
                    let number = self.written.value + 1
                    let request: JSONValue = [
                        "query":
                            "mutation Add($text: String!) { addTodo(input: {text: $text}) { todo { id } } }",
                        "variables": ["text": .string("\(number)")],
                        "extensions": ["relay": ["mutationId": .string("writer:\(number)")]],
                    ]
                    let reply = try client.post(request.text)
                    guard try reply.body.payload().errors.isEmpty else {
                        throw Failure("Refused: \(reply)")
                    }
                    self.written.update { $0 = number }
                }
            }
        }
    }
}

/// Subscribes, takes a few results, hangs up, and goes on behind its last cursor.
private final class PromiseReader: Sendable {
    let told = Watched<[String]>([])
    /// What no server may send.
    let complaints = Watched<[String]>([])
    private let serving: Watched<Int?>
    private let cursor: Watched<String>
    private let random: Lock<SeededGenerator>
    private let isStopped = Watched(false)

    init(_ serving: Watched<Int?>, _ start: String, random: inout SeededGenerator) {
        self.serving = serving
        cursor = Watched(start)
        self.random = Lock(SeededGenerator(seed: random.next()))
    }

    func stop() { isStopped.update { $0 = true } }

    func run() async throws {
        while !isStopped.value {
            guard let port = try? await serving.wait(for: "a server", until: { $0 }) else { return }
            try? await onThread { try self.session(port) }
        }
    }

    /// One connection, to its more or less early end.
    private func session(_ port: Int) throws {
        let socket = try RawWebSocket(port: port)
        try socket.send(["type": "connection_init"])
        _ = try socket.receive()
        try socket.send([
            "id": "1", "type": "subscribe",
            "payload": [
                "query": "subscription { todoAdded { todo { text } } }",
                "extensions": ["relay": ["resume": .string(cursor.value)]],
            ],
        ])
        let head = try nextResult(socket)
        if head["data"] != .null || head["extensions"]?["relay"]?["recovered"] != true {
            complaints.update { $0.append("not recovered: \(head)") }
        }
        let length = random.withLock { Int.random(in: 1...40, using: &$0) }
        for _ in 0..<length where !isStopped.value {
            let result = try nextResult(socket)
            guard let text = result["data"]?["todoAdded"]?["todo"]?["text"]?.string,
                let place = result["extensions"]?["relay"]?["cursor"]?.string
            else {
                complaints.update { $0.append("no result: \(result)") }
                return
            }
            if place <= cursor.value {
                complaints.update { $0.append("\(place) after a later cursor") }
            }
            cursor.update { $0 = place }
            told.update { $0.append(text) }
        }
    }

    private func nextResult(_ socket: RawWebSocket) throws -> JSONValue {
        while !isStopped.value {
            let message = try socket.receive()
            if message["type"] == "next" { return message["payload"] ?? .null }
            if message["type"] == "error" { throw Failure("\(message)") }
        }
        throw Failure("The reader was stopped.")
    }
}
