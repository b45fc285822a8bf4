import Synchronization

/// An open WebSocket connection, as all threads but the loop's see it.
///
/// All methods may be called on any thread. On the loop's thread they take effect before the
/// current callback returns, elsewhere soon, in order. On a connection that is gone they do nothing.
package final class WebSocketConnection: Sendable, Identifiable {
    /// Unique within its loop, never used again.
    package let id: UInt64
    /// The address of the other end, without its port.
    package let peerAddress: String
    /// What was agreed on, nil when none was asked for.
    package let subprotocol: String?
    /// Whether permessage-deflate was agreed on.
    package let isCompressed: Bool
    package let loop: IOLoop

    let session: LoopConfined<WebSocketSession?>
    private let unsentBytes = Atomic<Int>(0)

    init(
        id: UInt64, peerAddress: String, subprotocol: String?, isCompressed: Bool = false,
        loop: IOLoop
    ) {
        self.id = id
        self.peerAddress = peerAddress
        self.subprotocol = subprotocol
        self.isCompressed = isCompressed
        self.loop = loop
        self.session = LoopConfined(nil, on: loop)
    }

    /// Payload bytes handed to `send` and not yet to the operating system.
    ///
    /// Here an owner sees that a peer is slow. When the bytes exceed the limit in the options, the
    /// connection is closed with 1013.
    package var queuedBytes: Int { unsentBytes.load(ordering: .relaxed) }

    func count(unsent bytes: Int) {
        unsentBytes.wrappingAdd(bytes, ordering: .relaxed)
    }

    /// Sends `prefix` and the payload of `message` as one message.
    package func send(_ message: OutgoingMessage, prefix: [UInt8] = []) {
        count(unsent: prefix.count + message.payloadBytes)
        // Not performSoon: a closure for each delivery would be an allocation for each.
        if loop.isCurrent {
            enqueue(message, prefix: prefix)
        } else {
            loop.perform { self.enqueue(message, prefix: prefix) }
        }
    }

    /// Queues what has been counted already.
    func enqueue(_ message: OutgoingMessage, prefix: [UInt8]) {
        if let session = session.value {
            session.enqueue(message, prefix: prefix)
        } else {
            count(unsent: -(prefix.count + message.payloadBytes))
        }
    }

    package func send(text: String) {
        send(OutgoingMessage(text: text))
    }

    /// Closes the connection after what has been sent so far.
    ///
    /// - Parameter code: 1000, or 3000 to 4999, or another that RFC 6455 §7.4 lets an endpoint send.
    /// - Parameter reason: what goes beyond 123 bytes of UTF-8 is cut off.
    package func close(code: UInt16 = 1_000, reason: String = "") {
        onLoop { $0.close(code: code, reason: reason) }
    }

    /// Ends the connection without a goodbye and drops what is queued.
    package func abort() {
        onLoop { $0.abort() }
    }

    /// Stops reading from the peer, so that it feels that we are slow. What has been read already
    /// may still come.
    package func pauseReading() {
        onLoop { $0.isReadingPaused = true }
    }

    package func resumeReading() {
        onLoop { $0.isReadingPaused = false }
    }

    /// On the loop's thread: sends what waits for its turn until no more than `bytes` wait, as far as the peer takes
    /// it. For code that is about to judge by ``queuedBytes`` that the peer is slow.
    package func sendWaiting(downTo bytes: Int) { session.value?.sendWaiting(downTo: bytes) }

    /// Has the handler called, by `drained`, when nothing is left to send; soon, if that is so now.
    package func awaitDrained() {
        onLoop { $0.awaitDrained() }
    }

    private func onLoop(_ action: @escaping @Sendable (WebSocketSession) -> Void) {
        loop.performSoon {
            if let session = self.session.value { action(session) }
        }
    }
}
