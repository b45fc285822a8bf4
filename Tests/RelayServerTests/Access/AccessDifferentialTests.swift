import BoundedTesting
import Foundation
import Testing

/// A server with rules, beside an open one that has only what a viewer may see: random rules, stores, people, queries
/// and mutations.
///
/// RELAY_ACCESS_ROUNDS says how many schemas, RELAY_ACCESS_SEED is the seed of the first.
@Suite(.bounded, .timeLimit(.minutes(60)))
struct AccessDifferentialTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let rounds = environment["RELAY_ACCESS_ROUNDS"].flatMap(Int.init) ?? 12
    private static let seed =
        environment["RELAY_ACCESS_SEED"].flatMap(UInt64.init)
        ?? .random(in: 0...999_999_999)

    @Test func whatAViewerSeesIsWhatIsThere() async throws {
        var figures = AccessRound.Figures()
        print("access: seed \(Self.seed), \(Self.rounds) rounds")
        for number in 0..<UInt64(Self.rounds) {
            var round = try await AccessRound(seed: Self.seed &+ number)
            do {
                try await round.run()
            } catch let difference as AccessRound.Difference {
                Issue.record("RELAY_ACCESS_SEED=\(Self.seed &+ number): \(difference.text)")
                return
            }
            figures += round.figures
        }
        // Enough of everything happened, so that nothing was compared with nothing.
        print("access: \(figures)")
        guard Self.rounds >= 50 else { return }
        for (name, count) in figures.counts {
            #expect(count > Self.rounds / 10, "\(name): seed \(Self.seed)")
        }
    }
}
