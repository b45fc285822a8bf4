@_spi(Rooms) import RelayRecords
import Threads
import WebSocketIO

/// Notices when a client's token ends.
///
/// However often a token is renewed, one look at the clock waits, and one more for each token that ends before that look.
final class TokenExpiry: Sendable {
    private struct State {
        /// In microseconds since 1970; nil: the token has no end.
        var end: Int64?
        var nextLook: Int64?
    }

    /// The clock may be set, so it is looked at now and then.
    static let longestWait: Int64 = 60_000_000

    private let now: @Sendable () -> Int64
    private let later: @Sendable (Duration, @escaping @Sendable () -> Void) -> Void
    private let state = Lock(State())

    /// What has to be done then is done on the loop's thread.
    convenience init(on loop: IOLoop) {
        self.init(now: WallClock.microseconds) { loop.perform(after: $0, $1) }
    }

    /// - Parameter later: does something after a while, never at once.
    init(
        now: @escaping @Sendable () -> Int64,
        later: @escaping @Sendable (Duration, @escaping @Sendable () -> Void) -> Void
    ) {
        self.now = now
        self.later = later
    }

    /// Whether the token has ended.
    var isOver: Bool { state.withLock { $0.end }.map { $0 <= now() } ?? false }

    /// The client's token is another one.
    /// - Parameters:
    ///   - end: microseconds since 1970; nil: it has no end.
    ///   - expired: the same in all calls.
    func setEnd(_ end: Int64?, expired: @escaping @Sendable () -> Void) {
        state.withLock { $0.end = end }
        lookLater(expired)
    }

    private func lookLater(_ expired: @escaping @Sendable () -> Void) {
        let time = now()
        let look = state.withLock { state -> Int64? in
            guard let end = state.end else { return nil }
            let look = min(end, time + Self.longestWait)
            if let known = state.nextLook, known <= look { return nil }
            state.nextLook = look
            return look
        }
        guard let look else { return }
        later(.microseconds(max(look - time, 0))) { [weak self] in self?.look(at: look, expired) }
    }

    private func look(at time: Int64, _ expired: @escaping @Sendable () -> Void) {
        let isNext = state.withLock { state in
            defer { if state.nextLook == time { state.nextLook = nil } }
            return state.nextLook == time
        }
        // An earlier one has taken its place.
        guard isNext else { return }
        if isOver { expired() } else { lookLater(expired) }
    }
}
