import Foundation
import Testing
import Threads

/// The rounds of a test against a model: each has a seed of its own, and as many run at once as there are processors.
///
/// `RELAY_MODEL_ROUNDS` says how many (default: 150). Their seeds are others each time, unless `RELAY_MODEL_SERIES` has a
/// number: the same number gives the same seeds. A failure prints its seed, and is the last; `RELAY_MODEL_SEED` repeats
/// it.
package final class ModelRounds: Sendable {
    private struct State {
        var seeds = SeededGenerator(seed: ModelRounds.series ?? .random(in: 0 ... .max))
        var count = 0
        var hasFailed = false
    }

    private static let variables = ProcessInfo.processInfo.environment
    private static let limit = variables["RELAY_MODEL_ROUNDS"].flatMap(Int.init) ?? 150
    private static let series = variables["RELAY_MODEL_SERIES"].flatMap(UInt64.init)
    private static let seed = variables["RELAY_MODEL_SEED"].flatMap(UInt64.init)

    private let state = Lock(State())

    private init() {}

    /// - Parameter round: what happens with a seed.
    package static func run(_ round: @escaping @Sendable (UInt64) async throws -> Void) async {
        let rounds = ModelRounds()
        await withTaskGroup { tasks in
            for _ in 0..<ProcessInfo.processInfo.activeProcessorCount {
                tasks.addTask { await rounds.work(round) }
            }
        }
    }

    private func work(_ round: @Sendable (UInt64) async throws -> Void) async {
        while let (number, seed) = next() {
            do {
                try await round(seed)
            } catch {
                state.withLock { $0.hasFailed = true }
                Issue.record("round \(number), RELAY_MODEL_SEED=\(seed): \(error)")
            }
        }
    }

    private func next() -> (number: Int, seed: UInt64)? {
        state.withLock { state in
            guard state.count < Self.limit, !state.hasFailed else { return nil }
            defer { state.count += 1 }
            return (state.count, Self.seed ?? state.seeds.next())
        }
    }
}
