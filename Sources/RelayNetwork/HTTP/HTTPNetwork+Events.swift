import HTTPMessages
import RelayArtifacts
import RelayJSON
import RelayLink
import Threads
import WebSocketIO

// Subscriptions as server-sent events.

extension HTTPNetwork {
    /// Starts a subscription.
    func events(of operation: OperationRequest) -> Responses {
        let (room, drained) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let channel = ResponseChannel(capacity: options.responseCapacity) { drained.yield() }
        let task = Task {
            do throws(TransportError) {
                try await self.follow(operation, channel, room)
                channel.finish(nil)
            } catch {
                channel.finish(error)
            }
        }
        return Responses(channel) { task.cancel() }
    }

    /// Connects, and reconnects until the server ends the subscription or it is cancelled.
    private func follow(
        _ operation: OperationRequest, _ channel: ResponseChannel, _ room: AsyncStream<Void>
    ) async throws(TransportError) {
        let body = JSONValue.object(operation.payload()).bytes
        let progress = EventProgress(options.streamRetry, asksForTokens: options.tokens != nil)
        var token = RequestToken(from: tokenCalls)
        defer { token.leave(isCancelled: Task.isCancelled) }
        while !Task.isCancelled {
            if let error = await token.fetch(within: options.timeout) {
                switch progress.hadNoToken(error) {
                case .wait(let failures): try await pause(failures, operation.name)
                case .deliver, .fail, .authorize: throw error
                }
                continue
            }
            switch await connect(body, token.value, channel, progress) {
            case .completed, .cancelled: return
            case .interrupted:
                guard progress.canResume else { throw TransportError.overflow(operation.name) }
                if progress.takeIsFull() {
                    await wait(for: room)
                } else if progress.failureCount > 0 {
                    try await pause(progress.failureCount, operation.name)
                }
            case .answered(let answer):
                switch progress.answered(answer, from: address) {
                case .deliver(let response):
                    _ = channel.push(response)
                    return
                case .fail(let error): throw error
                case .authorize: token.isRefused()
                case .wait(let failures): try await pause(failures, operation.name)
                }
            case .lost(let error):
                switch progress.failed(error) {
                case .fail(let error): throw error
                case .wait(let failures): try await pause(failures, operation.name)
                case .deliver, .authorize: break
                }
            }
        }
    }

    private func wait(for room: AsyncStream<Void>) async {
        for await _ in room { return }
    }

    private func pause(_ failures: Int, _ name: String) async throws(TransportError) {
        try await pause(
            options.streamRetry.delay(afterFailures: failures, random: inputs.random()), name)
    }

    /// One connection, from start to end.
    private func connect(
        _ body: [UInt8], _ token: String?, _ channel: ResponseChannel, _ progress: EventProgress
    ) async -> EventStreamAnswer.End {
        var headers = headers(accept: "text/event-stream", token)
        if let id = progress.lastEventID { headers.append("last-event-id", id) }
        var http = HTTPClient.Options(authorityFile: options.authorityFile)
        http.timeout = options.streamTimeout
        let answer = EventStreamAnswer(
            onBegin: { if let gap = progress.connected() { _ = channel.push(gap) } },
            take: { item in
                switch progress.receive(item) {
                case .nothing: return .goOn
                case .completed: return .complete
                case .interrupted: return .interrupt
                case .tooLarge: return .tooLarge
                case .deliver(let response):
                    guard channel.push(response) else { return .goOn }
                    progress.noteFull()
                    return .interrupt
                }
            })
        let (address, loop) = (address, loop)
        return await answer.end { [headers, http] handler in
            HTTPClient.stream(
                "POST", to: address, headers: headers, body: body, http, on: loop,
                handler: handler)
        }
    }
}

/// The progress of one subscription, shared by its task and the loop's thread.
private final class EventProgress: Sendable {
    private struct State {
        var subscription: EventSubscription
        var attempts: HTTPAttempts
        var isFull = false
    }

    private let state: Lock<State>

    init(_ retry: RetryPolicy, asksForTokens: Bool) {
        state = Lock(
            State(
                subscription: EventSubscription(retry),
                attempts: HTTPAttempts(retry, isRepeatable: true, asksForTokens: asksForTokens)))
    }

    var lastEventID: String? { state.withLock { $0.subscription.lastEventID } }
    var canResume: Bool { state.withLock { $0.subscription.canResume } }
    var failureCount: Int { state.withLock { $0.subscription.failureCount } }

    func connected() -> [UInt8]? { state.withLock { $0.subscription.connected() } }

    func receive(_ item: ServerSentEvents.Item) -> EventSubscription.Step {
        state.withLock { state in
            // Not on the response's head: a server may accept us and then go away, again and again.
            state.attempts.began()
            return state.subscription.receive(item)
        }
    }

    func answered(_ answer: HTTPResponse, from address: ServerAddress) -> HTTPAttempts.Step {
        state.withLock { $0.attempts.answered(answer, from: address) }
    }

    func hadNoToken(_ error: TransportError) -> HTTPAttempts.Step {
        state.withLock { $0.attempts.hadNoToken(error) }
    }

    func failed(_ error: any Error) -> HTTPAttempts.Step {
        state.withLock { $0.attempts.failed(error) }
    }

    /// There is no room for more.
    func noteFull() { state.withLock { $0.isFull = true } }

    func takeIsFull() -> Bool {
        state.withLock { state in
            defer { state.isFull = false }
            return state.isFull
        }
    }
}
