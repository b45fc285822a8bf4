import Foundation
import OpenCombine
import Threads

@testable import Relay

/// Time stands still until the test says otherwise.
final class Clock: Scheduling {
    private struct Due: Sendable {
        let number: Int
        let seconds: TimeInterval
        let body: @Sendable () -> Void
    }

    private let state = Lock((waiting: [Due](), count: 0))

    /// The delays of what waits.
    var waiting: [TimeInterval] { state.withLock { $0.waiting.map(\.seconds) } }

    func schedule(
        after seconds: TimeInterval, _ body: @escaping @Sendable () -> Void
    ) -> AnyCancellable {
        let number = state.withLock { state in
            state.count += 1
            state.waiting.append(Due(number: state.count, seconds: seconds, body: body))
            return state.count
        }
        return AnyCancellable { [self] in
            state.withLock { $0.waiting.removeAll { $0.number == number } }
        }
    }

    /// What waits for a minute, or so long, is due now.
    func advance(by seconds: TimeInterval = 60) {
        let due = state.withLock { state in
            defer { state.waiting.removeAll { $0.seconds <= seconds } }
            return state.waiting.filter { $0.seconds <= seconds }
        }
        for due in due { due.body() }
    }
}
