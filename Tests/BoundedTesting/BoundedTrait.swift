package import Testing
import Threads

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Bounds how many tests run at the same time, over all suites that have the trait.
///
/// The testing library starts all tests at once. With hundreds of them on a pool of two threads each one takes as
/// long as all of them together, and a condition that is there within milliseconds is seen a minute later, or not
/// before the deadline. Bounded, a test's deadlines are about that test.
///
/// A test waits for its turn before its time limit begins. The cases of one parameterized test share its turn.
package struct BoundedTrait: TestTrait, SuiteTrait, TestScoping {
    package let isRecursive = true

    @TaskLocal private static var hasTurn = false
    private static let turns = Turns(count: max(4, 2 * sysconf(Int32(_SC_NPROCESSORS_ONLN))))

    package func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? {
        test.isSuite || testCase != nil ? nil : self
    }

    package func provideScope(
        for test: Test, testCase: Test.Case?,
        performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        // A suite in a suite has the trait twice.
        if Self.hasTurn { return try await function() }
        await Self.turns.take()
        defer { Self.turns.giveBack() }
        try await Self.$hasTurn.withValue(true) { try await function() }
    }
}

extension Trait where Self == BoundedTrait {
    /// For suites whose tests wait for something, or take long.
    package static var bounded: Self { Self() }
}

/// A semaphore that suspends, first come, first served.
private final class Turns: Sendable {
    private struct State {
        var free: Int
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Lock<State>

    init(count: Int) { state = Lock(State(free: count)) }

    func take() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                if state.free == 0 {
                    state.waiting.append(continuation)
                    return false
                }
                state.free -= 1
                return true
            }
            if isFree { continuation.resume() }
        }
    }

    func giveBack() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            if state.waiting.isEmpty {
                state.free += 1
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.resume()
    }
}
