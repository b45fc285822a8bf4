import Foundation
import RelayJSON
import Testing

/// kill -9 under load, again and again: what was answered is there, once; what was not is there
/// once it has been sent again.
@Suite(.bounded)
struct CrashTests {
    private static let clients = 4

    private let sandbox: Sandbox
    private let rounds: Int
    private let seed: UInt64

    init() throws {
        sandbox = try Sandbox()
        let crashes = CrashRounds(otherwise: 5)
        (rounds, seed) = (crashes.count, crashes.seed)
    }

    @Test func nothingThatWasAnsweredIsLostOrDoneTwice() async throws {
        print("crash: \(rounds) rounds, RELAY_CRASH_SEED=\(seed)")
        var random = SeededGenerator(seed: seed)
        let writers = (1...Self.clients).map { CrashWriter(name: "writer-\($0)") }
        var server = try await sandbox.serve("--log-level", "warning")
        for round in 1...rounds {
            let killedAfter = Int.random(in: 1...200, using: &random)
            try await kill(server, after: killedAfter, answersTo: writers)

            server = try await sandbox.serve("--log-level", "warning")
            let port = server.port
            try await onThread { for writer in writers { try writer.resend(port: port) } }
            let found = try await server.data(
                "{ user { todos { edges { node { text } } } } }")
            let texts =
                found["user"]?["todos"]?["edges"]?.array?
                .compactMap { $0["node"]?["text"]?.string } ?? []
            for writer in writers {
                let own = texts.filter { $0.hasPrefix(writer.name + ":") }
                #expect(writer.refusals.isEmpty, "round \(round), seed \(seed)")
                #expect(own == writer.texts, "round \(round), \(killedAfter) answers, seed \(seed)")
            }
        }
        // Two events for each mutation and one for the seed: nothing else was written, or written
        // twice.
        let count = try await sandbox.events().count
        #expect(count == 1 + 2 * writers.reduce(0) { $0 + $1.texts.count }, "seed \(seed)")
        #expect(try await server.stop() == .code(0))
    }

    /// Lets the writers write, and kills the server when they have had so many answers.
    private func kill(
        _ server: RunningServer, after count: Int, answersTo writers: [CrashWriter]
    ) async throws {
        let answers = Watched(0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            // The writers end with the server, whatever goes wrong before its end.
            defer { server.process.send(signal: SIGKILL) }
            for writer in writers {
                group.addTask {
                    try await onThread {
                        writer.write(port: server.port) { answers.update { $0 += 1 } }
                    }
                }
            }
            try await answers.wait(for: "\(count) answers") { $0 >= count ? () : nil }
            try await server.kill()
            try await group.waitForAll()
        }
    }
}

/// A client that adds todos one after the other, each with its mutation id, and knows which were
/// answered.
private final class CrashWriter: Sendable {
    let name: String
    private let state = Watched((answered: 0, sent: 0, refusals: [String]()))

    init(name: String) { self.name = name }

    /// What must be in the store, in order.
    var texts: [String] { (0..<state.value.answered).map { "\(name):\($0 + 1)" } }

    /// Answers that were no success: there must be none.
    var refusals: [String] { state.value.refusals }

    /// Writes until the server is gone.
    func write(port: Int, answered: () -> Void) {
        guard let client = try? HTTPClient(port: port) else { return }
        while (try? send(state.value.answered + 1, client)) != nil { answered() }
    }

    /// Sends what was sent and not answered once more.
    func resend(port: Int) throws {
        let (answered, sent, _) = state.value
        if sent > answered { try send(sent, HTTPClient(port: port)) }
    }

    private func send(_ number: Int, _ client: HTTPClient) throws {
        state.update { $0.sent = number }
        let request: JSONValue = [
            "query":
                "mutation Add($text: String!) { addTodo(input: {text: $text}) { todo { id } } }",
            "variables": ["text": .string("\(name):\(number)")],
            "extensions": ["relay": ["mutationId": .string("\(name):\(number)")]],
        ]
        let reply = try client.post(request.text)
        let payload = try reply.body.payload()
        guard reply.status == 200, payload.errors.isEmpty else {
            state.update { $0.refusals.append(reply.body) }
            throw Failure("Todo \(number) of \(name) was refused: \(reply)")
        }
        state.update { $0.answered = number }
    }
}
