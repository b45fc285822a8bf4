import BoundedTesting
import Foundation
import Relay
@_spi(Rooms) import RelayStore
import Testing

/// The whole runtime against an independent model (``TodoModel``): queries, mutations that are answered, fail, are
/// late, come to nothing or are never answered, in any order, subscriptions with bursts of all of these, updaters that
/// throw, local updates, collections, invalidation and followers, connections, responses in parts, results that are kept,
/// errors of elements, from one task or several. Exact values,
/// exact notifications, every result equal to its response.
///
/// ``ModelRounds`` says how many rounds, and how one is repeated.
@Suite(.bounded, .timeLimit(.minutes(30)))
struct RuntimeModelTests {
    @Test func theRuntimeAgreesWithItsModel() async {
        await ModelRounds.run { seed in try await round(seed) }
    }

    private func round(_ seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let bufferSize = Int.random(in: 0...3, using: &random)
        let laneCount = Bool.random(using: &random) ? 1 : Int.random(in: 2...4, using: &random)
        let environment = Environment(
            network: LaneNetwork(), store: Self.store(bufferSize: bufferSize))
        let seeds = (0..<laneCount).map { _ in random.next() }
        let lanes = try await withThrowingTaskGroup(of: RuntimeLane.self) { tasks in
            for (number, seed) in seeds.enumerated() {
                tasks.addTask {
                    let lane = try RuntimeLane(
                        environment, name: "L\(number)", isAlone: laneCount == 1, seed: seed)
                    try await lane.begin()
                    for _ in 0..<30 { try await lane.step() }
                    try await lane.settle()
                    return lane
                }
            }
            return try await tasks.reduce(into: [RuntimeLane]()) { $0.append($1) }
        }
        for lane in lanes { try await lane.end() }
        try await leavesNothing(environment, bufferSize: bufferSize)
    }

    /// A store whose every collection gives the numbers of ids and storage keys again.
    private static func store(bufferSize: Int) -> Store {
        var options = StoreOptions()
        options.now = WallClock.microseconds
        options.releaseBufferSize = bufferSize
        options.leastSymbolCount = 0
        return Store(options: options)
    }

    /// When everything has ended, nothing is left but the root and what the release buffer keeps.
    private func leavesNothing(_ environment: Environment, bufferSize: Int) async throws {
        let deadline = ContinuousClock.now + .testDeadline
        var left: [DataID] = []
        repeat {
            // A collection that the store began itself may be under way.
            environment.store.collectGarbage()
            left = try environment.store.source.recordIDs.filter { $0 != .rootID }
            if Set(left.map(operation)).count <= bufferSize { return }
            await Task.yield()
        } while ContinuousClock.now < deadline
        throw RuntimeLane.Mismatch(
            description: "\(left) are left, where \(bufferSize) operations are kept")
    }

    /// Names the operation that a record is of: the elements of a lane's list are of one, and so is a connection.
    private func operation(_ id: DataID) -> String {
        let parts = id.rawValue.replacing("client:", with: "").split { $0 == "-" || $0 == ":" }
        for name in ["element", "user", "edge"] where parts.contains(Substring(name)) {
            return "\(parts[0])-\(name == "edge" ? "user" : name)"
        }
        return id.rawValue
    }
}
