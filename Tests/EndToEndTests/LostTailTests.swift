import Foundation
import RelayJSON
import Testing

/// Cursors of events that a weaker durability has lost: sequences are given out again, and a client that asks to
/// go on behind its own must not be told that nothing was missed.
@Suite(.bounded)
struct LostTailTests {
    private let sandbox: Sandbox

    init() throws { sandbox = try Sandbox() }

    @Test(arguments: ["none", "batch"])
    func aCursorOfALostEventIsNotTakenForOneOfTheEventsThatCameInItsPlace(
        _ durability: String
    ) async throws {
        let options = ["--durability", durability, "--recent-commits", "1"]
        var server = try await sandbox.serve(options[0], options[1], options[2], options[3])
        _ = try Self.add("kept", server)
        // What the disk has when the power goes: everything up to here.
        let (data, copy) = (sandbox.path("data"), sandbox.path("disk"))
        try FileManager.default.copyItem(atPath: data, toPath: copy)
        let lost = try Self.add("lost", server)
        try await server.kill()
        try FileManager.default.removeItem(atPath: data)
        try FileManager.default.moveItem(atPath: copy, toPath: data)

        server = try await sandbox.serve(options[0], options[1], options[2], options[3])
        for text in ["other", "and more"] { _ = try Self.add(text, server) }
        let client = try RawWebSocket(port: server.port)
        try client.send(["type": "connection_init"])
        _ = try client.receive()
        try client.send([
            "id": "1", "type": "subscribe",
            "payload": [
                "query": "subscription { todoAdded { todo { text } } }",
                "extensions": ["relay": ["resume": .string(lost)]],
            ],
        ])
        let answer = try client.receive()
        #expect(answer["payload"]?["extensions"]?["relay"]?["recovered"] == false)
        #expect(try await server.stop() == .code(0))
    }

    @Test(arguments: ["none", "batch", "always"])
    func aCursorOutlivesAStopInOrder(_ durability: String) async throws {
        var server = try await sandbox.serve("--durability", durability)
        let cursor = try Self.add("before", server)
        #expect(try await server.stop() == .code(0))
        server = try await sandbox.serve("--durability", durability)
        _ = try Self.add("missed", server)
        let resumed = try await sandbox.relay(
            "request", server.url, "subscription { todoAdded { todo { text } } }", "--resume",
            cursor,
            "--count", "2")
        let payloads = try resumed.output.map { try $0.payload() }
        #expect(payloads.first?.json["extensions"]?["relay"]?["recovered"] == true)
        #expect(payloads.last?.data["todoAdded"]?["todo"]?["text"] == "missed")
        #expect(try await server.stop() == .code(0))
    }

    /// Adds a todo, and gives the cursor of the answer.
    private static func add(_ text: String, _ server: RunningServer) throws -> String {
        let reply = try HTTPClient(port: server.port).post(
            #"{"query": "mutation { addTodo(input: {text: \"\#(text)\"}) { todo { id } } }"}"#)
        guard let cursor = try reply.body.payload().json["extensions"]?["relay"]?["cursor"]?.string
        else { throw Failure("There is no cursor in \(reply)") }
        return cursor
    }
}
