import Logging
import Threads

/// Says in the log which connections have ended, and why.
///
/// An operator may want to do something about those that were too slow. There may be thousands at once, so
/// only the first of a second have a line each; the others are counted in one.
final class EndedClients: Sendable {
    private let logger: Logger
    private let later: @Sendable (Duration, @escaping @Sendable () -> Void) -> Void
    private let limit = Lock(LineLimit())

    /// - Parameter later: calls back, once, when a time has passed.
    init(
        _ logger: Logger,
        later: @escaping @Sendable (Duration, @escaping @Sendable () -> Void) -> Void
    ) {
        self.logger = logger
        self.later = later
    }

    /// They come and go.
    func byThemselves(_ peerAddress: String, _ reason: String) {
        logger.debug("A connection has ended: \(reason).", metadata: ["peer": "\(peerAddress)"])
    }

    /// The server has ended the connection.
    func tooSlow(_ peerAddress: String, _ reason: String, at now: ContinuousClock.Instant = .now) {
        switch limit.withLock({ $0.take(at: now) }) {
        case .write:
            logger.notice(
                "A connection has ended: \(reason).", metadata: ["peer": "\(peerAddress)"])
        case .countLater(let wait):
            later(wait) { [weak self] in self?.writeCount() }
        case .leaveOut:
            break
        }
    }

    private func writeCount() {
        let count = limit.withLock { $0.takeCount() }
        let ended =
            count == 1 ? "connection has ended for being" : "connections have ended for being"
        logger.notice("And \(count) more \(ended) too slow.")
    }
}

/// Which lines of a kind are written, when there may be any number: the first of a second, and then how many more there
/// were. Time is an input.
struct LineLimit {
    enum Action: Equatable {
        case write
        /// Leave it out, and write ``LineLimit/takeCount()`` after this time.
        case countLater(Duration)
        case leaveOut
    }

    static let linesPerSecond = 10
    private static let second = Duration.seconds(1)

    private var start: ContinuousClock.Instant?
    private var writtenCount = 0
    private var leftOutCount = 0

    /// What to do with a line.
    mutating func take(at now: ContinuousClock.Instant) -> Action {
        if leftOutCount > 0 {
            leftOutCount += 1
            return .leaveOut
        }
        let began: ContinuousClock.Instant
        if let start, now - start < Self.second {
            began = start
        } else {
            began = now
            start = now
            writtenCount = 0
        }
        if writtenCount < Self.linesPerSecond {
            writtenCount += 1
            return .write
        }
        leftOutCount = 1
        return .countLater(Self.second - (now - began))
    }

    /// How many lines were left out. The next ones are written again.
    mutating func takeCount() -> Int {
        start = nil
        defer { leftOutCount = 0 }
        return leftOutCount
    }
}
