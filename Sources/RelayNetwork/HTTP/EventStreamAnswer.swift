import HTTPMessages
import RelayLink
import Threads
import WebSocketIO

/// One HTTP response that should be an event stream, read on the loop's thread.
final class EventStreamAnswer: HTTPAnswerHandler {
    enum End: Sendable {
        /// The server reported the end.
        case completed
        /// It was given up: there is no room for more, or it can and must be resumed.
        case interrupted
        case cancelled
        /// The server has answered with something else.
        case answered(HTTPResponse)
        case lost(any Error)
    }

    enum Verdict {
        case goOn, interrupt, complete, tooLarge
    }

    private struct State {
        var events = ServerSentEvents()
        /// A response that is not an event stream, with its body.
        var other: HTTPResponse?
        var end: End?
        var waiting: CheckedContinuation<End, Never>?
        var answer: HTTPAnswer?
    }

    /// More of an error message than is useful.
    private static let largestBodyBytes = 1 << 20

    private let state = Lock(State())
    private let onBegin: @Sendable () -> Void
    private let take: @Sendable (ServerSentEvents.Item) -> Verdict

    /// - Parameters:
    ///   - onBegin: called when the event stream starts.
    ///   - take: called with each item, in order.
    init(
        onBegin: @escaping @Sendable () -> Void,
        take: @escaping @Sendable (ServerSentEvents.Item) -> Verdict
    ) {
        self.onBegin = onBegin
        self.take = take
    }

    /// Sends the request, and waits for the end. Cancelling the task abandons the response.
    func end(_ send: (EventStreamAnswer) -> HTTPAnswer) async -> End {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { $0.waiting = continuation }
                let answer = send(self)
                let isOver = state.withLock { state in
                    state.answer = answer
                    return state.end != nil
                }
                if isOver {
                    answer.cancel()
                    finish(.cancelled)
                }
            }
        } onCancel: {
            finish(.cancelled)
        }
    }

    /// Only the first end counts.
    private func finish(_ end: End) {
        let (end, waiting, answer) = state.withLock { state in
            let first = state.end ?? end
            state.end = first
            defer { state.waiting = nil }
            return (first, state.waiting, state.answer)
        }
        answer?.cancel()
        waiting?.resume(returning: end)
    }

    // MARK: On the loop's thread

    func began(_ head: HTTPResponse) {
        guard head.status == 200, head.mediaType == "text/event-stream" else {
            return state.withLock { $0.other = head }
        }
        onBegin()
    }

    func received(_ piece: UnsafeRawBufferPointer) {
        let items = state.withLock { state -> [ServerSentEvents.Item] in
            // Closing the connection takes a turn of the loop, and the same read may deliver more pieces: their
            // contents are sent again over the next connection.
            guard state.end == nil else { return [] }
            guard state.other == nil else {
                let room = Self.largestBodyBytes - (state.other?.body.count ?? 0)
                state.other?.body.append(contentsOf: piece.prefix(room))
                return []
            }
            return state.events.receive(piece)
        }
        for item in items {
            switch take(item) {
            case .goOn: continue
            case .interrupt: return finish(.interrupted)
            case .complete: return finish(.completed)
            case .tooLarge:
                return finish(
                    .lost(
                        IOError(
                            code: .tooLarge,
                            message: "The server sent an event that is larger than 64 MiB.")))
            }
        }
    }

    func ended(_ error: IOError?) {
        if let error { return finish(.lost(error)) }
        if let other = state.withLock({ $0.other }) { return finish(.answered(other)) }
        finish(
            .lost(
                IOError(
                    code: .connectionLost, message: "The server ended the stream of events early."))
        )
    }
}
