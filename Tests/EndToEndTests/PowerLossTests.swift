import BoundedTesting
import Foundation
import Testing

/// Servers that are killed, and of whose data only that is left which was synced. `kill -9` alone cannot see a missing
/// sync: the system's cache outlives the process.
@Suite(
    .bounded,
    .enabled(
        if: PreloadedLibrary.isPossible && ProcessInfo.processInfo.environment["LD_PRELOAD"] == nil,
        "the library that forgets what was not synced needs Linux, a C compiler, and to be alone"))
struct PowerLossTests {
    private static let clients = 4

    private let sandbox: Sandbox
    private let rounds: Int
    private let seed: UInt64

    init() throws {
        sandbox = try Sandbox()
        let crashes = CrashRounds(otherwise: 2)
        (rounds, seed) = (crashes.count, crashes.seed)
    }

    private func writers(_ name: String) -> [CrashWriter] {
        (1...Self.clients).map { CrashWriter(name: "\(name)-\($0)") }
    }

    @Test func withDurabilityAlwaysNothingThatWasAnsweredIsLost() async throws {
        print("power loss: \(rounds) rounds, RELAY_CRASH_SEED=\(seed)")
        var random = SeededGenerator(seed: seed)
        let library = try await PowerLossDisk.library(in: sandbox)
        let disk = try PowerLossDisk("always", library, in: sandbox)
        let writers = writers("writer")
        var server = try await disk.serve(durability: "always")
        for round in 1...rounds {
            let killedAfter = Int.random(in: 1...200, using: &random)
            try await writers.write(to: server, killedAfter: killedAfter)
            try await disk.losePower()
            server = try await disk.serve(durability: "always")
            let port = server.port
            try await onThread { for writer in writers { try writer.resend(port: port) } }
            let texts = try await server.texts()
            for writer in writers {
                let own = texts.filter { $0.hasPrefix(writer.name + ":") }
                #expect(own == writer.texts, "round \(round), \(killedAfter) answers, seed \(seed)")
            }
        }
        let answered = writers.reduce(0) { $0 + $1.texts.count }
        print("power loss, always: \(rounds) rounds, 0 of \(answered) answered mutations lost")
        #expect(try await server.stop() == .code(0))
    }

    /// Without a sync everything is lost: a test that saw nothing of that could see no missing sync either.
    @Test func withDurabilityNoneWhatWasAnsweredIsLost() async throws {
        let library = try await PowerLossDisk.library(in: sandbox)
        for round in 1...max(1, rounds / 5) {
            let lost = try await lose("none-\(round)", durability: "none", after: 20, library)
            #expect(!lost.isEmpty, "round \(round)")
        }
    }

    /// How much, and of how long, are figures for people: the clocks are those of writers on a machine that does much else.
    /// FailureWhileRunningTests holds the log to its interval, by a clock of its own; here it is the order.
    @Test(.enabled(if: CrashRounds.isLong, "script/crash takes its time for it"))
    func withDurabilityBatchOnlyTheNewestAreLost() async throws {
        let library = try await PowerLossDisk.library(in: sandbox)
        var most = 0
        var longest = Duration.zero
        for round in 1...rounds {
            let lost = try await lose("batch-\(round)", durability: "batch", after: 400, library)
            most = max(most, lost.count)
            if let first = lost.min(), let last = lost.max() {
                longest = max(longest, last - first)
            }
        }
        print("power loss, batch: \(rounds) rounds, at most \(most) lost, of at most \(longest)")
    }

    /// - Returns: when those mutations were answered that are lost.
    private func lose(
        _ name: String, durability: String, after count: Int, _ library: PreloadedLibrary
    ) async throws -> [ContinuousClock.Instant] {
        let disk = try PowerLossDisk(name, library, in: sandbox)
        let writers = writers(name)
        let server = try await disk.serve(durability: durability)
        try await writers.write(to: server, killedAfter: count)
        try await disk.losePower()
        let again = try await disk.serve(durability: durability)
        let texts = try await again.texts()
        try await again.kill()
        for writer in writers {
            let own = texts.filter { $0.hasPrefix(writer.name + ":") }
            // One more may be there than was answered.
            #expect(own.starts(with: writer.texts.prefix(own.count)), "the newest are lost first")
        }
        let found = Set(texts)
        return writers.flatMap { writer in
            zip(writer.texts, writer.answerTimes).filter { !found.contains($0.0) }.map(\.1)
        }
    }
}
