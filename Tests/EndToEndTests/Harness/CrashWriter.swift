import Foundation
import RelayJSON

/// A client that adds todos one after the other, each with its mutation id, and knows which were
/// answered.
final class CrashWriter: Sendable {
    let name: String
    private let state = Watched((answered: 0, sent: 0, refusals: [String]()))
    private let times = Watched<[ContinuousClock.Instant]>([])

    init(name: String) { self.name = name }

    /// What must be in the store, in order.
    var texts: [String] { (0..<state.value.answered).map { "\(name):\($0 + 1)" } }

    /// When each was answered.
    var answerTimes: [ContinuousClock.Instant] { times.value }

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
        times.update { $0.append(.now) }
    }
}

extension [CrashWriter] {
    /// Lets all of them write, and kills the server when they have had so many answers.
    func write(to server: RunningServer, killedAfter count: Int) async throws {
        let answers = Watched(0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            // The writers end with the server, whatever goes wrong before its end.
            defer { server.process.send(signal: SIGKILL) }
            for writer in self {
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

extension RunningServer {
    /// The texts of all todos, in order.
    func texts() async throws -> [String] {
        let found = try await data("{ user { todos { edges { node { text } } } } }")
        return found["user"]?["todos"]?["edges"]?.array?
            .compactMap { $0["node"]?["text"]?.string } ?? []
    }
}
