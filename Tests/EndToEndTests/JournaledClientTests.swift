import BoundedTesting
import Foundation
import RelayJSON
import Testing

/// A client with its store on disk, and its server, both killed in the middle of their work.
@Suite(.bounded)
struct JournaledClientTests {
    private let sandbox: Sandbox
    private let rounds: Int
    private let seed: UInt64

    init() throws {
        sandbox = try Sandbox()
        let crashes = CrashRounds(otherwise: 4)
        (rounds, seed) = (crashes.count, crashes.seed)
    }

    private func client(_ server: RunningServer) throws -> ChildProcess {
        try sandbox.start(
            ["ws://127.0.0.1:\(server.port)/graphql", sandbox.path("client")],
            program: try Sandbox.program(named: "JournaledClient"))
    }

    /// What a client says that it shows, but for the todos that were there from the beginning.
    private func shown(_ line: String) -> [String] {
        line.split(separator: " ").dropFirst().map(String.init).filter { $0.contains(":") }
    }

    private func served(_ server: RunningServer) async throws -> [String] {
        let found = try await server.data("{ user { todos { edges { node { text } } } } }")
        return (found["user"]?["todos"]?["edges"]?.array ?? [])
            .compactMap { $0["node"]?["text"]?.string }.filter { $0.contains(":") }
    }

    /// Reads lines until one begins with `word`.
    private func line(_ word: String, of client: ChildProcess) async throws -> String {
        while true {
            let line = try await client.nextLine(word)
            if line.hasPrefix(word) { return line }
            #expect(!line.hasPrefix("failed") && !line.hasPrefix("refused"), "\(line)")
        }
    }

    @Test func promise47AKilledClientShowsItsLastStateAndLosesAndRepeatsNothing() async throws {
        print("journaled client: \(rounds) rounds, RELAY_CRASH_SEED=\(seed)")
        var random = SeededGenerator(seed: seed)
        var server = try await sandbox.serve("--log-level", "warning")
        var kept: [String] = []
        for round in 1...rounds {
            let client = try client(server)
            let before = self.shown(try await line("shows", of: client))
            // At once, before the network has said anything: all that was kept, in order.
            #expect(before == kept, "round \(round), seed \(seed)")
            if round == 1 {
                try client.write(line: "fetch")
                _ = try await line("fetched", of: client)
            }

            let texts = (0..<30).map { "\(round):\($0)" }
            for text in texts[..<10] { try client.write(line: "add \(text)") }
            try client.write(line: "sync")
            _ = try await line("kept", of: client)
            for text in texts[10...] { try client.write(line: "add \(text)") }
            // On a slow machine the first ten were answered before they were kept.
            for _ in 0..<Int.random(in: 0...20, using: &random) {
                _ = try await line("added", of: client)
            }
            // The server first, so that the client has mutations that may have been carried out or not.
            if round % 2 == 0 {
                try await server.kill()
                client.send(signal: SIGKILL)
                _ = try await client.finish()
                server = try await sandbox.serve("--log-level", "warning")
            } else {
                client.send(signal: SIGKILL)
                _ = try await client.finish()
            }

            // Write-ahead: whatever the server was asked for, the client knows of.
            let asked = try await served(server).filter { $0.hasPrefix("\(round):") }
            let again = try self.client(server)
            let found = self.shown(try await line("shows", of: again))
            #expect(found.contains(texts[..<10]), "round \(round), seed \(seed)")
            #expect(Set(asked).isSubset(of: found), "round \(round), seed \(seed)")
            // Mutations that were under way are sent again, in order; then the server shows them too.
            try again.write(line: "add \(round):last")
            _ = try await line("added \(round):last", of: again)
            let all = try await served(server)
            let own = all.filter { $0.hasPrefix("\(round):") }
            #expect(own == Array(texts.prefix(own.count - 1)) + ["\(round):last"], "seed \(seed)")
            #expect(Set(all).count == all.count, "seed \(seed)")
            #expect(Set(found).isSubset(of: all), "round \(round), seed \(seed)")
            try again.write(line: "sync")
            _ = try await line("kept", of: again)
            try again.write(line: "say")
            kept = self.shown(try await line("shows", of: again))
            #expect(kept == all, "round \(round), seed \(seed)")
            again.send(signal: SIGKILL)
            _ = try await again.finish()
        }
        #expect(try await server.stop() == .code(0))
    }
}
