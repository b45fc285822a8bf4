/// What speaks over a byte stream. Everything is called on the loop's thread.
protocol ByteStreamOwner: AnyObject {
    /// A connection that we make is there. Accepted ones are from the beginning.
    func streamOpened()
    /// The bytes last as long as the call.
    func streamReceived(_ bytes: UnsafeRawBufferPointer)
    /// The peer sends nothing more. It may still read.
    func streamInputEnded()
    /// The stream, which was blocked, has handed over all that was written.
    func streamWritable()
    /// The connection is gone, or was never there; nothing else is called after this.
    func streamLost(_ cause: String)
}

extension ByteStreamOwner {
    func streamOpened() {}
    func streamWritable() {}
}

/// A connection as a stream of bytes, encrypted or not: what HTTP and WebSocket are spoken over.
///
/// The stream keeps its owner alive until it is closed or lost.
class ByteStream {
    unowned let core: LoopCore
    final var owner: (any ByteStreamOwner)?
    /// Whether the owner is given what comes.
    final var isReading: Bool {
        didSet { if isReading != oldValue { readingChanged() } }
    }
    /// The peer has said that it sends nothing more.
    final var isInputOver = false
    final private(set) var isClosed = false

    /// What has been written and not handed over, from `handedOver` on.
    private final var pending: [UInt8] = []
    private final var handedOver = 0
    /// Since when the peer has taken nothing although something waits, as of the last check, in monotonic
    /// milliseconds; nil when nothing waits.
    private final var blockedSince: Int64?
    /// Bytes handed over since the beginning.
    final private(set) var handedBytes = 0
    /// Of ``sentBytes``, what the peer's side had taken at the last check.
    final private(set) var takenBytes = 0

    init(core: LoopCore, isReading: Bool) {
        self.core = core
        self.isReading = isReading
    }

    // MARK: - For the owner

    /// Whether something that was written still waits. Nothing more may be written then.
    final var isBlocked: Bool { blockedSince != nil }

    final var pendingBytes: Int { pending.count - handedOver }

    /// Writes all of `bytes`. What the connection does not take now is kept, and `streamWritable` called when it
    /// has been taken. Returns false when the connection is broken.
    final func write(_ bytes: [UInt8]) -> Bool {
        precondition(!isBlocked, "something still waits to be written")
        guard let written = hand(bytes, from: 0) else { return false }
        if written < bytes.count {
            // Shares the bytes; a fan-out's frame is kept once, however many are slow to take it.
            pending = bytes
            handedOver = written
        }
        if written < bytes.count || isFull {
            blockedSince = monotonicMilliseconds()
            awaitWritable()
        }
        return true
    }

    /// Checks, about once a second and only where it matters, how much the peer's side has taken, and returns
    /// whether that is more than at the last check.
    ///
    /// That a socket takes more says little about it: Linux buffers megabytes, and calls a socket writable when a third
    /// of them is free, for which a slow reader may need a minute.
    @discardableResult
    final func look(now: Int64) -> Bool {
        let taken = sentBytes - (unacknowledgedBytes ?? 0)
        guard taken > takenBytes else { return false }
        takenBytes = taken
        if isBlocked { blockedSince = now }
        return true
    }

    /// Whether something has waited this long, and the peer has taken nothing meanwhile.
    final func isStuck(now: Int64, milliseconds: Int64) -> Bool {
        blockedSince.map { now - $0 >= milliseconds } ?? false
    }

    /// Says that nothing more will be written. The peer may continue to send.
    func finish() {}

    /// How the peer has ended, if it has. The system knows also while nothing is read, and of what was sent before
    /// and has not been read yet.
    final var peerEnd: PeerEnd {
        let seen = descriptor.map { PeerEnd(of: $0) } ?? .none
        return seen == .none && isInputOver ? .finished : seen
    }

    /// Ends the connection at once. The owner gets no more calls.
    final func close() {
        if isClosed { return }
        isClosed = true
        owner = nil
        pending = []
        handedOver = 0
        closeConnection()
    }

    // MARK: - For the kinds of streams

    /// Hands over what is possible now; returns nil when the connection is broken.
    func writeSome(_ bytes: UnsafeRawBufferPointer) -> Int? { nil }
    /// Whether the connection takes nothing at the moment, though it took what it was given.
    var isFull: Bool { false }
    /// Arranges for `continueWriting`.
    func awaitWritable() {}
    func readingChanged() {}
    func closeConnection() {}
    /// Bytes that the socket has been given since the beginning. Encrypted, they are more than were handed over, and for
    /// small records many times as many.
    var sentBytes: Int { handedBytes }
    /// Of these, what the peer's side has not acknowledged; nil where it is not known.
    var unacknowledgedBytes: Int? { descriptor.flatMap(unacknowledged) }
    /// The socket, as long as there is one.
    var descriptor: Int32? { nil }

    /// The connection takes more.
    final func continueWriting() {
        guard isBlocked, !isClosed else { return }
        guard let written = hand(pending, from: handedOver) else {
            return lose("the connection broke off")
        }
        if written > handedOver { blockedSince = monotonicMilliseconds() }
        handedOver = written
        if handedOver < pending.count || isFull {
            awaitWritable()
            return
        }
        pending = []
        handedOver = 0
        blockedSince = nil
        owner?.streamWritable()
    }

    /// The connection is gone.
    final func lose(_ cause: String) {
        let owner = self.owner
        close()
        owner?.streamLost(cause)
    }

    /// Returns how far `bytes` have been handed over.
    private final func hand(_ bytes: [UInt8], from start: Int) -> Int? {
        bytes.withUnsafeBytes { bytes in
            var at = start
            while at < bytes.count, !isFull {
                let rest = UnsafeRawBufferPointer(rebasing: bytes[at...])
                guard let count = writeSome(rest) else { return nil }
                if count == 0 { break }
                at += count
                handedBytes += count
            }
            return at
        }
    }
}
