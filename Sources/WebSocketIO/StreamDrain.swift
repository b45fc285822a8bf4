/// The last owner of a stream: says that nothing more will be written, and throws away what still comes until the
/// peer has ended too, for a bounded time and number of bytes.
///
/// Closing a socket with unread data resets the connection, and a reset takes away what the peer has not read yet:
/// the answer, or the close frame that says why. RFC 9112 §9.6, RFC 6455 §7.1.1.
final class StreamDrain: ByteStreamOwner {
    static let maxMilliseconds: Int64 = 5_000
    static let maxBytes = 64 << 20

    private let stream: ByteStream
    private var ended: (() -> Void)?
    private var discardedBytes = 0
    private var timer: LoopTimer?

    /// Takes over a stream on which nothing waits to be written. A stream that is being drained already is left alone.
    ///
    /// - Parameter ended: called once, when the stream is closed; not when it drains already.
    static func begin(_ stream: ByteStream, ended: @escaping () -> Void) {
        if stream.owner is StreamDrain { return }
        let drain = StreamDrain(stream, ended)
        if stream.isInputOver { return drain.stop() }
        stream.owner = drain
        drain.timer = stream.core.schedule(at: monotonicMilliseconds() + Self.maxMilliseconds) {
            drain.stop()
        }
        stream.finish()
        stream.isReading = true
    }

    private init(_ stream: ByteStream, _ ended: @escaping () -> Void) {
        self.stream = stream
        self.ended = ended
    }

    func streamReceived(_ bytes: UnsafeRawBufferPointer) {
        discardedBytes += bytes.count
        if discardedBytes > Self.maxBytes { stop() }
    }

    func streamInputEnded() { stop() }
    func streamLost(_ cause: String) { stop() }

    private func stop() {
        guard let ended else { return }
        self.ended = nil
        timer?.cancel()
        stream.close()
        ended()
    }
}
