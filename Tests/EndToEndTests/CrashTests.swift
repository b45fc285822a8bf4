import BoundedTesting
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
            try await writers.write(to: server, killedAfter: killedAfter)

            server = try await sandbox.serve("--log-level", "warning")
            let port = server.port
            try await onThread { for writer in writers { try writer.resend(port: port) } }
            let texts = try await server.texts()
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
}
