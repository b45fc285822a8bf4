package import HTTPMessages
import Synchronization

/// Answers one request, once, from any thread, now or later.
///
/// A responder that is dropped without having answered answers 500, so no client waits for ever.
/// When the client has gone meanwhile, answers go nowhere.
package final class HTTPResponder: Sendable {
    private let exchange: LoopConfined<HTTPExchange>
    private let loop: IOLoop
    private let hasAnswered = Atomic<Bool>(false)

    init(_ exchange: HTTPExchange, loop: IOLoop) {
        self.exchange = LoopConfined(exchange, on: loop)
        self.loop = loop
    }

    deinit {
        if hasAnswered.load(ordering: .relaxed) { return }
        let exchange = self.exchange
        loop.performSoon {
            exchange.value.respond(
                HTTPResponse(status: 500, text: "The request was dropped without an answer."))
        }
    }

    /// Sends the whole answer. Only the first answer counts.
    package func respond(_ response: HTTPResponse) {
        guard takesAnswer() else { return }
        loop.performSoon { [exchange] in exchange.value.respond(response) }
    }

    /// Hears of it when nobody waits for the answer any more. From now on a client that ends its direction of the
    /// connection has gone: nothing else tells, as long as there is nothing to send.
    ///
    /// - Parameter onLeft: called on the loop's thread, at most once, and not after the answer.
    package func whenLeft(_ onLeft: @escaping @Sendable () -> Void) {
        loop.performSoon { [exchange] in exchange.value.expectClient(onLeft) }
    }

    /// Sends the head of an answer whose body follows in pieces, such as server-sent events.
    ///
    /// - Parameter onClose: called on the loop's thread, once, when the client has gone or the
    ///   server stops before `finish`.
    /// - Parameter onDrained: called on the loop's thread each time everything has been handed to the
    ///   operating system.
    /// Returns nil when the request has been answered already.
    package func startStream(
        status: Int = 200, headers: HTTPHeaders, onClose: @escaping @Sendable () -> Void,
        onDrained: @escaping @Sendable () -> Void = {}
    ) -> HTTPResponseStream? {
        guard takesAnswer() else { return nil }
        let stream = HTTPResponseStream(exchange, loop: loop)
        loop.performSoon { [exchange] in
            exchange.value.startStream(
                status: status, headers: headers, onClose: onClose, onDrained: onDrained)
        }
        return stream
    }

    private func takesAnswer() -> Bool {
        !hasAnswered.exchange(true, ordering: .relaxed)
    }
}

/// The body of an answer, sent piece by piece, from any thread.
package final class HTTPResponseStream: Sendable {
    private let exchange: LoopConfined<HTTPExchange>
    private let loop: IOLoop

    init(_ exchange: LoopConfined<HTTPExchange>, loop: IOLoop) {
        self.exchange = exchange
        self.loop = loop
    }

    /// Sends a piece. When more than the server's `maxQueuedBytes` is waiting, the connection ends.
    package func write(_ piece: [UInt8]) {
        loop.performSoon { [exchange] in exchange.value.stream(piece) }
    }

    /// Bytes that wait to be handed to the operating system. On the loop's thread only.
    package var queuedBytes: Int { exchange.value.queuedBytes }

    /// On the loop's thread: sends what waits for its turn until no more than `bytes` wait, as far as the client takes
    /// it. For code that is about to judge by ``queuedBytes`` that the client is slow.
    package func sendWaiting(downTo bytes: Int) { exchange.value.sendWaiting(downTo: bytes) }

    /// Ends the body after what has been written.
    package func finish() {
        loop.performSoon { [exchange] in exchange.value.finishStream() }
    }
}
