import Synchronization
import Threads

@testable import RelayNetwork

/// A provider that answers its first calls when the test says so, and the others at once.
final class HeldTokens: Sendable {
    private let asked = Lock<[Bool]>([])
    private let cancelled = Atomic(0)
    private let held: [(wait: AsyncStream<Void>, go: AsyncStream<Void>.Continuation)]

    init(count: Int) {
        held = (0..<count).map { _ in
            let (wait, go) = AsyncStream<Void>.makeStream()
            return (wait, go)
        }
    }

    /// What it was told at each call.
    var isRefused: [Bool] { asked.withLock { $0 } }
    var askedCount: Int { isRefused.count }

    /// Calls that were cancelled, and have ended.
    var cancelledCount: Int { cancelled.load(ordering: .relaxed) }

    func release(_ number: Int) { held[number].go.finish() }

    var tokens: TokenProvider {
        TokenProvider { [self] isRefused in
            let number = asked.withLock { asked in
                asked.append(isRefused)
                return asked.count - 1
            }
            if number < held.count { for await _ in held[number].wait {} }
            if Task.isCancelled {
                cancelled.wrappingAdd(1, ordering: .relaxed)
                throw CancellationError()
            }
            return isRefused ? "fresh" : "good"
        }
    }
}
