import BoundedTesting
import Foundation
import Synchronization
import Testing

/// Seeds of the whole-system simulator (docs/simulation.md).
@Suite(.bounded)
struct SimulationTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let isAskedFor = environment["RELAY_SIMULATION_SEEDS"] != nil
    private static let count = environment["RELAY_SIMULATION_SEEDS"].flatMap { UInt64($0) } ?? 12
    /// The first seed; without a wish it is always the same.
    private static let first = environment["RELAY_SIMULATION_SEED"].flatMap { UInt64($0) } ?? 1

    private static func example(_ name: String) throws -> String {
        try String(
            contentsOf: URL(filePath: #filePath).appending(path: "../../../docs/examples/\(name)")
                .standardized, encoding: .utf8)
    }

    /// Not in script/test yet: docs/simulation.md says why.
    @Test(.enabled(if: isAskedFor, "script/simulate runs it"))
    func theInvariantsHoldWhateverHappens() async throws {
        let todo = try (Self.example("todo.graphql"), Self.example("todo.seed.ndjson"))
        let seeds = Seeds(from: Self.first, count: Self.count)
        await withTaskGroup { group in
            for _ in 0..<ProcessInfo.processInfo.activeProcessorCount {
                group.addTask {
                    await onThread {
                        while let seed = seeds.next() {
                            do {
                                try Simulation(seed: seed, schema: todo.0, seed: todo.1)
                                    .run(steps: 250)
                            } catch {
                                seeds.note("seed \(seed): \(error)")
                            }
                        }
                    }
                }
            }
        }
        let failures = seeds.failures
        print("simulation: \(Self.count) seeds from \(Self.first), \(failures.count) failures")
        #expect(failures.isEmpty, "\(failures.first ?? "")")
    }
}

/// The seeds to be run, and what came of them.
private final class Seeds: Sendable {
    private let state: Mutex<(next: UInt64, end: UInt64, failures: [String])>

    init(from first: UInt64, count: UInt64) { state = Mutex((first, first + count, [])) }

    var failures: [String] { state.withLock { $0.failures } }

    func next() -> UInt64? {
        state.withLock { state in
            guard state.next < state.end else { return nil }
            defer { state.next += 1 }
            return state.next
        }
    }

    func note(_ failure: String) {
        print("simulation: \(failure)")
        state.withLock { $0.failures.append(failure) }
    }
}

/// A simulation runs for long, and runs the tasks of its server itself: not on the pool's threads.
private func onThread(_ body: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { done in
        Thread.detachNewThread {
            body()
            done.resume()
        }
    }
}
