import Dispatch
@_spi(Rooms) import RelayRecords
import Testing
import Threads

/// What a completion said, for the thread that waits for it.
final class Outcome: Sendable {
    private let result = Lock<Result<UInt64, JournalError>?>(nil)
    private let isSet = DispatchSemaphore(value: 0)

    func set(_ new: Result<UInt64, JournalError>) {
        result.withLock { $0 = new }
        isSet.signal()
    }

    /// Waits for the completion, which fails the test when it does not come.
    func wait() throws -> Result<UInt64, JournalError> {
        try #require(isSet.wait(timeout: .testDeadline) == .success)
        return try #require(result.withLock { $0 })
    }
}

extension DispatchTime {
    /// When a wait that begins now has lasted too long.
    static var testDeadline: DispatchTime { .now() + .milliseconds(.testDeadlineMilliseconds) }
}
