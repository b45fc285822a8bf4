@_spi(Rooms) import RelayRecords
import WebSocketIO

/// Waits for the end of tokens.
enum Expiry {
    /// The clock may be set, so it is looked at now and then.
    private static let longestWait: Int64 = 60_000_000

    /// - Parameters:
    ///   - time: microseconds since 1970, as of the wall clock.
    ///   - isNeeded: whether to go on waiting; asked on the loop's thread.
    ///   - expired: called on the loop's thread.
    static func wait(
        until time: Int64, on loop: IOLoop, isNeeded: @escaping @Sendable () -> Bool,
        expired: @escaping @Sendable () -> Void
    ) {
        let left = time.subtractingReportingOverflow(WallClock.microseconds())
        guard !left.overflow, left.partialValue > 0 else {
            loop.perform { if isNeeded() { expired() } }
            return
        }
        loop.perform(after: .microseconds(min(left.partialValue, longestWait))) {
            guard isNeeded() else { return }
            wait(until: time, on: loop, isNeeded: isNeeded, expired: expired)
        }
    }
}
