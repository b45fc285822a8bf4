import Threads
package import WebSocketIO

/// A client's WebSocket connection as a sequence of messages, for code that waits for them.
///
/// When messages come faster than they are taken, reading from the server pauses: at most
/// `capacity` messages, and what the network had already brought, wait here. One task iterates.
///
/// For example:
///
///     let channel = try await WebSocketChannel.connect(to: address, on: loop)
///     channel.connection.send(text: "hello")
///     for await message in channel { … }
///     print("closed: \(channel.close ?? .abnormal)")
package final class WebSocketChannel: AsyncSequence, Sendable {
    package let connection: WebSocketConnection
    private let inbox: Inbox

    /// Connects; throws as `WebSocketClient.connect` does.
    package static func connect(
        to address: ServerAddress,
        _ options: WebSocketClient.Options = WebSocketClient.Options(),
        capacity: Int = 64, on loop: IOLoop
    ) async throws -> WebSocketChannel {
        let inbox = Inbox(capacity: capacity)
        let connection = try await WebSocketClient.connect(
            to: address, options, on: loop, handler: inbox)
        return WebSocketChannel(connection: connection, inbox: inbox)
    }

    private init(connection: WebSocketConnection, inbox: Inbox) {
        self.connection = connection
        self.inbox = inbox
    }

    /// How the connection ended, once it has. Messages may still be waiting to be taken.
    package var close: WebSocketClose? { inbox.close }

    package func makeAsyncIterator() -> Iterator { Iterator(inbox: inbox) }

    package struct Iterator: AsyncIteratorProtocol {
        fileprivate let inbox: Inbox

        /// The next message; nil when the connection has ended and all have been taken, or when the
        /// task is cancelled.
        package mutating func next() async -> WebSocketMessage? { await inbox.next() }
    }
}

/// What has come and has not been taken.
private final class Inbox: WebSocketHandler {
    private struct State {
        var messages: [WebSocketMessage] = []
        var waiting: CheckedContinuation<WebSocketMessage?, Never>?
        var connection: WebSocketConnection?
        var isPaused = false
        var close: WebSocketClose?
    }

    private let capacity: Int
    private let state = Lock(State())

    init(capacity: Int) {
        self.capacity = max(1, capacity)
    }

    var close: WebSocketClose? { state.withLock { $0.close } }

    func next() async -> WebSocketMessage? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (answer, toResume) = state.withLock {
                    state -> (WebSocketMessage??, WebSocketConnection?) in
                    if !state.messages.isEmpty {
                        let message = state.messages.removeFirst()
                        let mayResume = state.isPaused && state.messages.count <= capacity / 2
                        if mayResume { state.isPaused = false }
                        return (message, mayResume ? state.connection : nil)
                    }
                    if state.close != nil || Task.isCancelled { return (.some(nil), nil) }
                    state.waiting = continuation
                    return (nil, nil)
                }
                toResume?.resumeReading()
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            takeWaiting()?.resume(returning: nil)
        }
    }

    private func takeWaiting() -> CheckedContinuation<WebSocketMessage?, Never>? {
        state.withLock { state in
            defer { state.waiting = nil }
            return state.waiting
        }
    }

    func opened(_ connection: WebSocketConnection) {
        state.withLock { $0.connection = connection }
    }

    func received(_ message: WebSocketMessage, on connection: WebSocketConnection) {
        let (waiting, mustPause) = state.withLock {
            state -> (CheckedContinuation<WebSocketMessage?, Never>?, Bool) in
            if let waiting = state.waiting {
                state.waiting = nil
                return (waiting, false)
            }
            state.messages.append(message)
            if state.messages.count < capacity { return (nil, false) }
            // Also when it is paused already: a resumption may be on its way.
            state.isPaused = true
            return (nil, true)
        }
        waiting?.resume(returning: message)
        if mustPause { connection.pauseReading() }
    }

    func closed(_ close: WebSocketClose, on connection: WebSocketConnection) {
        state.withLock { $0.close = close }
        takeWaiting()?.resume(returning: nil)
    }
}
