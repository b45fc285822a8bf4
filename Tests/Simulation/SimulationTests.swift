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
    /// For mutants (script/simulate-mutants): one seed after the other, until one fails. Each is named before it
    /// begins, as a fault may end the process.
    private static let endsWhenFound = environment["RELAY_SIMULATION_UNTIL_FOUND"] != nil

    private static func example(_ name: String) throws -> String {
        try String(
            contentsOf: URL(filePath: #filePath).appending(path: "../../../docs/examples/\(name)")
                .standardized, encoding: .utf8)
    }

    /// Not in script/test yet: docs/simulation.md says why.
    @Test(.enabled(if: isAskedFor, "script/simulate runs it"))
    func theInvariantsHoldWhateverHappens() async throws {
        let todo = try (Self.example("todo.graphql"), Self.example("todo.seed.ndjson"))
        let seeds = Seeds(from: Self.first, count: Self.count, endsWhenFound: Self.endsWhenFound)
        let threads = Self.endsWhenFound ? 1 : ProcessInfo.processInfo.activeProcessorCount
        await withTaskGroup { group in
            for _ in 0..<threads {
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

    private let endsWhenFound: Bool

    init(from first: UInt64, count: UInt64, endsWhenFound: Bool) {
        state = Mutex((first, first + count, []))
        self.endsWhenFound = endsWhenFound
    }

    var failures: [String] { state.withLock { $0.failures } }

    func next() -> UInt64? {
        let seed = state.withLock { state -> UInt64? in
            if endsWhenFound, !state.failures.isEmpty { return nil }
            guard state.next < state.end else { return nil }
            defer { state.next += 1 }
            return state.next
        }
        if endsWhenFound, let seed {
            // Not held back in a buffer that goes with the process.
            FileHandle.standardError.write(Data("simulation: begins seed \(seed)\n".utf8))
        }
        return seed
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
