import GraphQLExecution
import HTTPMessages
import RelayJSON
import StoreEngine
import Threads
import WebSocketIO

/// The results of one operation as server-sent events, in an HTTP response of their own (graphql-sse,
/// distinct connections).
///
/// Each event's id is its cursor, so a browser that reconnects resumes where it was.
final class EventStream: SubscriptionSink {
    private struct State {
        var stream: HTTPResponseStream?
        var pacing: StreamPacing
        var backlog: MissedBacklog
        /// Bytes that waited for the client when something was last handed to it, or when it had taken all.
        var queuedBytes = 0
        var isOver = false
        var whenDrained: [@Sendable () -> Void] = []
        var silentSince = ContinuousClock.now

        var isFull: Bool { backlog.isFull(queuedBytes: queuedBytes) }
    }

    /// On which its connection is.
    let loop: IOLoop
    private let limit: Int
    private let onEnd: @Sendable (EventStream) -> Void
    private let expiry: TokenExpiry
    private let state: Lock<State>

    /// - Parameters:
    ///   - limit: bytes that may wait for the client before the stream is slowed down or ends.
    ///   - onEnd: called once, when the client has gone or has received everything.
    init(
        on loop: IOLoop, resumeCursor: String?, limit: Int,
        onEnd: @escaping @Sendable (EventStream) -> Void
    ) {
        self.loop = loop
        self.limit = limit
        expiry = TokenExpiry(on: loop)
        self.onEnd = onEnd
        state = Lock(
            State(
                pacing: StreamPacing(resumeCursor: resumeCursor),
                backlog: MissedBacklog(limit: limit)))
    }

    /// Begins the response. False when the request has been answered already.
    func start(_ responder: HTTPResponder, headers: HTTPHeaders) -> Bool {
        var all: HTTPHeaders = [
            "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-store",
            // Proxies that collect what they pass on would make it anything but live.
            "x-accel-buffering": "no",
        ]
        all.append(headers)
        let stream = responder.startStream(
            headers: all, onClose: { [weak self] in self?.end() },
            onDrained: { [weak self] in self?.drained() })
        guard let stream else { return false }
        return state.withLock { state in
            state.stream = stream
            return !state.isOver
        }
    }

    /// Sends the one result of a query or mutation.
    func finish(_ outcome: Outcome) {
        send(outcome.response)
        complete()
    }

    /// Ends the response when the client's token does. It is no end of the stream: a client goes on with a new token.
    /// - Parameter time: microseconds since 1970.
    func endWithToken(at time: Int64) {
        expiry.setEnd(time) { [weak self] in
            guard let self, isWanted else { return }
            state.withLock { $0.stream }?.finish()
            end()
        }
    }

    // MARK: A sink

    var isWanted: Bool { state.withLock { !$0.isOver } }

    var isFull: Bool { state.withLock { $0.isFull } }

    func expect(missedBytes: Int) { state.withLock { $0.backlog.expect(missedBytes) } }

    func whenDrained(_ action: @escaping @Sendable () -> Void) {
        // Behind what has been handed to the loop and was not taken yet.
        loop.perform { [self] in
            let isReady = state.withLock { state in
                if state.isOver { return false }
                if state.isFull { state.whenDrained.append(action) }
                return !state.isFull
            }
            if isReady { action() }
        }
    }

    /// On the loop's thread.
    /// - Parameter encode: gives a response's event; the same for all streams that get it.
    func take(_ event: Delivery.Event, encode: (Response) -> [UInt8]) {
        let stream = state.withLock { $0.stream }
        // It may be what one turn of the loop has brought, and sending has not been tried.
        stream?.sendWaiting(downTo: limit)
        let waiting = stream?.queuedBytes ?? 0
        let action = state.withLock { state -> StreamPacing.Action in
            if case .missed(let response) = event {
                state.backlog.take(response.bytes.count, queuedBytes: waiting)
            }
            if state.isOver { return .nothing }
            return state.pacing.take(event, isFull: state.backlog.isSlow(queuedBytes: waiting))
        }
        switch action {
        case .send(let response): write(encode(response))
        case .hold, .nothing: break
        case .end(let error): fail([error])
        case .fail(let errors): fail(errors.map(\.json))
        case .complete: complete()
        }
        state.withLock { $0.queuedBytes = stream?.queuedBytes ?? 0 }
    }

    private func drained() {
        let (held, actions) = state.withLock { state in
            state.queuedBytes = 0
            state.backlog.drained()
            defer { state.whenDrained = [] }
            return (state.pacing.drained(), state.whenDrained)
        }
        if let held { send(held) }
        for action in actions { action() }
    }

    private func fail(_ errors: [JSONValue]) {
        let response: JSONValue = ["errors": .array(errors)]
        send(Response(bytes: response.bytes, hasErrors: true))
        complete()
    }

    // MARK: Events

    private func send(_ response: Response) { write(Self.event(response)) }

    static func event(_ response: Response) -> [UInt8] {
        var event: [UInt8] = []
        event.reserveCapacity(response.bytes.count + 128)
        if let cursor = response.cursor { event += "id: \(cursor)\n".utf8 }
        event += "event: next\ndata: ".utf8
        // JSON of ours has no line breaks.
        event += response.bytes
        event += "\n\n".utf8
        return event
    }

    private func complete() {
        write(Array("event: complete\ndata:\n\n".utf8))
        state.withLock { $0.stream }?.finish()
        end()
    }

    private func write(_ bytes: [UInt8]) {
        let stream = state.withLock { state in
            state.silentSince = .now
            return state.stream
        }
        stream?.write(bytes)
    }

    private func end() {
        let isFirst = state.withLock { state in
            defer {
                state.isOver = true
                state.whenDrained = []
            }
            return !state.isOver
        }
        if isFirst { onEnd(self) }
    }
}

extension EventStream: ProgressListener {
    /// A comment keeps the connection alive; an event without data only moves the last event's id on.
    func tell(_ notice: ProgressNotice) {
        let isDue = state.withLock {
            notice.isDue(after: $0.silentSince) && $0.pacing.isUpToDate && !$0.isOver
        }
        if isDue { write(Array(": so far\nid: \(notice.cursor)\n\n".utf8)) }
    }
}
