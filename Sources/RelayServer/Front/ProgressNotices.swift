import GraphQLTransportWS
import RelayJSON
import Threads
import WebSocketIO

/// A client with streams that needs to know in quiet periods that nothing was missed.
protocol ProgressListener: AnyObject, Sendable {
    /// Sends the notice if nothing else was sent for long enough. On the loop's thread.
    func tell(_ notice: ProgressNotice)
}

/// That everything up to a cursor has been delivered.
struct ProgressNotice {
    let cursor: String
    /// As a message of graphql-transport-ws.
    let ping: OutgoingMessage
    private let now: ContinuousClock.Instant
    private let silence: Duration

    init(_ cursor: String, now: ContinuousClock.Instant, silence: Duration) {
        self.cursor = cursor
        self.now = now
        self.silence = silence
        let payload = ServerMessage.ping(payload: ["relay": ["cursor": .string(cursor)]])
        ping = OutgoingMessage(.text, payload.bytes)
    }

    func isDue(after lastSent: ContinuousClock.Instant) -> Bool { now - lastSent >= silence }
}

/// Notifies all connected clients, after some silence, how far everything has been delivered.
final class ProgressNotices: Sendable {
    private let listeners = Lock<[ObjectIdentifier: any ProgressListener]>([:])
    private let silence: Duration
    private let cursor: @Sendable () -> String

    /// - Parameter cursor: up to it everything has been handed to the loop.
    init(after silence: Duration, cursor: @escaping @Sendable () -> String) {
        self.silence = silence
        self.cursor = cursor
    }

    func add(_ listener: any ProgressListener) {
        listeners.withLock { $0[ObjectIdentifier(listener)] = listener }
    }

    func remove(_ listener: any ProgressListener) {
        listeners.withLock { $0[ObjectIdentifier(listener)] = nil }
    }

    /// Looks again and again, as long as this and the loop exist.
    func start(on loop: IOLoop) {
        let period = max(min(silence / 8, .seconds(1)), .milliseconds(1))
        loop.perform(after: period) { [weak self] in
            guard let self else { return }
            let cursor = cursor()
            // After the deliveries up to there, which wait in the same queue.
            loop.perform {
                self.tell(cursor)
                self.start(on: loop)
            }
        }
    }

    private func tell(_ cursor: String) {
        let notice = ProgressNotice(cursor, now: .now, silence: silence)
        for listener in listeners.withLock({ Array($0.values) }) { listener.tell(notice) }
    }
}
