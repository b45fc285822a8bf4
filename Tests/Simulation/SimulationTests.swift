import BoundedTesting
import Foundation
import Testing
import Threads

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

    /// Hostile clients are viewers, who may see and do everything.
    private static func schema() throws -> String {
        try example("todo.graphql") + "\nextend schema @access(default: OPEN)\n"
    }

    private static func example(_ name: String) throws -> String {
        try String(
            contentsOf: URL(filePath: #filePath).appending(path: "../../../docs/examples/\(name)")
                .standardized, encoding: .utf8)
    }

    /// Not in script/test, which has no optimized build: docs/simulation.md.
    @Test(.enabled(if: isAskedFor, "script/simulate runs it"))
    func theInvariantsHoldWhateverHappens() async throws {
        let todo = try (Self.schema(), Self.example("todo.seed.ndjson"))
        let seeds = try Seeds(
            from: Self.first, count: Self.count, endsWhenFound: Self.endsWhenFound,
            progress: Self.environment["RELAY_SIMULATION_PROGRESS"])
        let threads = Self.endsWhenFound ? 1 : ProcessInfo.processInfo.activeProcessorCount
        await withTaskGroup { group in
            for _ in 0..<threads {
                group.addTask {
                    await onThread {
                        while let seed = seeds.next() {
                            do {
                                let simulation = try Simulation(
                                    seed: seed, schema: todo.0, seed: todo.1)
                                try simulation.run(steps: 250)
                                seeds.note(fingerprint: simulation.fingerprint)
                            } catch {
                                seeds.note("seed \(seed): \(error)")
                            }
                            seeds.end(seed)
                        }
                    }
                }
            }
        }
        let failures = seeds.failures
        let fingerprint = String(seeds.fingerprint, radix: 16)
        say(
            "\(Self.count) seeds from \(Self.first), \(failures.count) failures; "
                + "fingerprint \(fingerprint), at most \(peakMegabytes) MB")
        #expect(failures.isEmpty, "\(failures.first ?? "")")
    }

    /// Or a seed says nothing about what it has found. Only where Swift has one order for the same set
    /// (script/simulate).
    @Test(.enabled(if: isAskedFor, "script/simulate runs it"))
    func theSameSeedIsTheSameHistory() async throws {
        let todo = try (Self.schema(), Self.example("todo.seed.ndjson"))
        let fingerprints = Lock<[UInt64]>([])
        await onThread {
            for _ in 1...2 {
                guard
                    let simulation = try? Simulation(
                        seed: Self.first, schema: todo.0, seed: todo.1)
                else { return }
                // What it finds is the other test's business.
                try? simulation.run(steps: 250)
                fingerprints.withLock { $0.append(simulation.fingerprint) }
            }
        }
        let found = fingerprints.withLock { $0 }
        #expect(found.count == 2 && found[0] == found[1], "\(found)")
    }

    /// Or a thousand runs do not fit into memory.
    @Test func aRunLeavesNothingBehind() async throws {
        let todo = try (Self.schema(), Self.example("todo.seed.ndjson"))
        let kept = Lock<[String]>([])
        await onThread {
            for seed: UInt64 in 1...3 {
                var made: [Simulation.Made] = []
                if let simulation = try? Simulation(seed: seed, schema: todo.0, seed: todo.1) {
                    // What it finds is the other test's business.
                    try? simulation.run(steps: 100)
                    made = simulation.made
                }
                let names = made.compactMap { $0.object.map { "\(seed): \(type(of: $0))" } }
                kept.withLock { $0 += made.isEmpty ? ["\(seed): nothing was made"] : names }
            }
        }
        #expect(kept.withLock { $0 } == [])
    }
}

/// The seeds to be run, and what came of them.
private final class Seeds: Sendable {
    private let state: Lock<(next: UInt64, end: UInt64, failures: [String], fingerprint: UInt64)>

    private let endsWhenFound: Bool
    /// Which seeds have begun and ended, for whoever finds that the process has ended.
    private let progress: FileHandle?

    /// - Parameter progress: a file's path.
    init(from first: UInt64, count: UInt64, endsWhenFound: Bool, progress: String?) throws {
        state = Lock((first, first + count, [], 0))
        self.endsWhenFound = endsWhenFound
        self.progress = try progress.map {
            _ = FileManager.default.createFile(atPath: $0, contents: nil)
            return try FileHandle(forWritingTo: URL(filePath: $0))
        }
    }

    /// Of all runs, in whatever order.
    var fingerprint: UInt64 { state.withLock { $0.fingerprint } }

    var failures: [String] { state.withLock { $0.failures } }

    func next() -> UInt64? {
        let seed = state.withLock { state -> UInt64? in
            if endsWhenFound, !state.failures.isEmpty { return nil }
            guard state.next < state.end else { return nil }
            defer { state.next += 1 }
            return state.next
        }
        if let seed { progress?.write(Data("begins \(seed)\n".utf8)) }
        if endsWhenFound, let seed { say("begins seed \(seed)") }
        return seed
    }

    func note(fingerprint: UInt64) { state.withLock { $0.fingerprint &+= fingerprint } }

    func end(_ seed: UInt64) { progress?.write(Data("ends \(seed)\n".utf8)) }

    func note(_ failure: String) {
        say(failure)
        state.withLock { $0.failures.append(failure) }
    }
}

/// Says something that is not held back in a buffer, which goes with the process.
private func say(_ text: String) {
    FileHandle.standardError.write(Data("simulation: \(text)\n".utf8))
}

/// The most memory that this process has had.
private var peakMegabytes: Int {
    var usage = rusage()
    #if canImport(Darwin)
        getrusage(RUSAGE_SELF, &usage)
        return Int(usage.ru_maxrss) >> 20
    #else
        getrusage(Int32(RUSAGE_SELF.rawValue), &usage)
        return Int(usage.ru_maxrss) >> 10
    #endif
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
