import HTTPMessages

/// The loop's side of one open WebSocket connection: what has come in part, what is to be sent, how it ends.
final class WebSocketSession: Peer, ByteStreamOwner, Flushable {
    /// What its owner wants of a connection.
    struct Limits {
        var maxMessageBytes: Int
        var maxQueuedBytes: Int
        /// Milliseconds of silence after which a ping is sent; as many again and the peer is dead.
        var keepAliveMilliseconds: Int64
        /// Milliseconds without the peer taking anything, then the connection is closed.
        var writeStuckMilliseconds: Int64
        /// How long a peer that is given up on, or that is closed, may take to receive what is in flight, and
        /// learn why.
        var farewellMilliseconds: Int64 = 30_000
    }

    let id: UInt64
    let stream: ByteStream
    private let role: FrameReader.Role
    private let handler: any WebSocketHandler
    private let connection: WebSocketConnection
    private let limits: Limits
    private let compression: Compression?
    /// Called once, when nothing of the connection is left.
    private var gone: (() -> Void)?

    private var reader: FrameReader
    /// What has been read and waits until the owner wants messages again.
    private var unread: [UInt8] = []
    private var lastHeard = monotonicMilliseconds()
    /// When it was seen that a peer that is not read from has ended its direction.
    private var peerEndSeen: Int64?

    private var queue: SendQueue
    private var isWaitingForFlush = false
    private var isDrainAwaited = false
    /// Goes out before everything else: the handshake's answer.
    private var preamble: [UInt8]
    /// Answers to pings.
    private var pongs: [UInt8] = []
    private var isPingDue = false
    private var hasPinged = false
    /// What the socket had been given with the last ping, in ``ByteStream/sentBytes``.
    private var pingEnd = 0

    private var handshake = CloseHandshake()
    private var hasToldOwner = false
    /// When a peer that does not take its close frame is not waited for any more.
    private var abortTime: Int64?
    /// The deadline for sending a close frame that waits behind what is queued.
    private var closeDeadline: Int64?
    /// More answers to pings than this do not wait for a write.
    private static let maxPongBytes = 4_096
    /// So much is written to one connection before others have their turn.
    private static let bytesPerTurn = 262_144
    /// So much is made out of compressed messages of one connection before others have their turn.
    private static let inflatedBytesPerTurn = 1 << 20

    /// - Parameter preamble: goes out first.
    /// - Parameter deflate: what was agreed on; nil for no compression.
    init(
        stream: ByteStream, role: FrameReader.Role, connection: WebSocketConnection,
        handler: any WebSocketHandler, limits: Limits, preamble: [UInt8] = [],
        deflate: DeflateAgreement? = nil, gone: @escaping () -> Void
    ) {
        id = connection.id
        self.stream = stream
        self.role = role
        self.connection = connection
        self.handler = handler
        self.limits = limits
        self.preamble = preamble
        self.gone = gone
        let pool = stream.core.deflatePool
        let compression = deflate?.compression(of: role, pool: pool)
        self.compression = compression
        queue = SendQueue(masks: role == .client, compression: compression)
        reader = FrameReader(
            role: role, maxMessageBytes: limits.maxMessageBytes,
            decompression: deflate?.decompression(of: role, pool: pool))
    }

    /// Takes over the stream.
    ///
    /// - Parameter rest: what came after the handshake.
    func begin(with rest: [UInt8]) {
        connection.session.value = self
        stream.owner = self
        requestFlush()
        handler.opened(connection)
        stream.isReading = !isReadingPaused
        if !rest.isEmpty { rest.withUnsafeBytes { streamReceived($0) } }
        if stream.isInputOver { streamInputEnded() }
    }

    // MARK: - Receiving

    var isReadingPaused = false {
        didSet {
            // While it closes, the peer's close frame is read, whatever its owner waits for.
            if !handshake.isOpen { isReadingPaused = false }
            guard isReadingPaused != oldValue else { return }
            heardFromPeer()
            if isReadingPaused {
                stream.isReading = false
            } else {
                // Not within the call that lets it read on, which may be the handler's own.
                readOnLater()
            }
        }
    }

    /// Continues with what has already been read, and then with reading, at a later turn of the loop.
    private func readOnLater() {
        stream.core.schedule(at: monotonicMilliseconds() + 1) { [weak self] in self?.readOn() }
    }

    private func readOn() {
        if isReadingPaused || hasToldOwner { return }
        let waiting = unread
        unread = []
        waiting.withUnsafeBytes { take($0) }
        if isReadingPaused || hasToldOwner || !unread.isEmpty { return }
        stream.isReading = true
        if stream.isInputOver { streamInputEnded() }
    }

    func streamReceived(_ bytes: UnsafeRawBufferPointer) {
        heardFromPeer()
        if unread.isEmpty { take(bytes) } else { unread.append(contentsOf: bytes) }
    }

    /// Takes what it may take now; the rest waits.
    private func take(_ bytes: UnsafeRawBufferPointer) {
        var input = bytes
        reader.inflationBudget = Self.inflatedBytesPerTurn
        while !input.isEmpty {
            if isReadingPaused, !hasToldOwner {
                unread.append(contentsOf: input)
                return
            }
            guard let event = reader.next(from: &input) else { break }
            handle(event)
        }
        if input.isEmpty { return }
        unread.append(contentsOf: input)
        stream.isReading = false
        readOnLater()
    }

    private func handle(_ event: FrameReader.Event) {
        switch event {
        case .message(let message):
            // What comes after our close frame is not read.
            if handshake.isOpen { handler.received(message, on: connection) }
        case .ping(let payload): answerPing(payload)
        case .pong: break
        case .close(let code, let reason):
            sendWhatIsReady()
            settle(handshake.peerCloses(code: code, reason: reason))
        case .violation(let code, let reason):
            sendWhatIsReady()
            settle(handshake.violated(code: code, reason: reason))
        }
    }

    /// Answers to what came before the end go out before it, as far as the peer takes them.
    private func sendWhatIsReady() {
        while handshake.isOpen, !stream.isClosed, !stream.isBlocked {
            flush()
            if queue.isEmpty { return }
        }
    }

    private func heardFromPeer() {
        lastHeard = monotonicMilliseconds()
        hasPinged = false
    }

    /// RFC 6455 §5.5.3: each ping is answered, or, where answers wait already, the newest.
    private func answerPing(_ payload: [UInt8]) {
        guard handshake.isOpen else { return }
        if stream.isBlocked || pongs.count > Self.maxPongBytes { pongs = [] }
        appendControl(.pong, payload, to: &pongs)
        if !stream.isBlocked { requestFlush() }
    }

    func streamInputEnded() {
        // Something of what came before waits for its turn.
        if !unread.isEmpty, !isReadingPaused { return }
        // Without its close frame the peer is gone, and nothing is sent to it.
        connectionLost()
    }

    func streamLost(_ cause: String) { connectionLost() }

    // MARK: - Sending

    /// Payload bytes that wait here.
    var queuedBytes: Int { queue.byteCount }

    func enqueue(_ message: OutgoingMessage, prefix: [UInt8]) {
        guard handshake.isOpen else {
            connection.count(unsent: -(prefix.count + message.payloadBytes))
            return
        }
        queue.append(message, prefix: prefix)
        // What waits for its turn must not look like a peer that is slow.
        sendWaiting(downTo: limits.maxQueuedBytes)
        if queue.isBeyond(limits.maxQueuedBytes) {
            giveUp(reason: "Too much is waiting to be sent")
        } else if !stream.isBlocked {
            requestFlush()
        }
    }

    func close(code: UInt16, reason: String) {
        handshake.want(WebSocketClose(code: code, reason: reason))
        if closeDeadline == nil {
            closeDeadline = monotonicMilliseconds() + limits.farewellMilliseconds
        }
        isReadingPaused = false
        if !stream.isBlocked { requestFlush() }
    }

    /// The handler wants to know when nothing is left to send.
    func awaitDrained() {
        isDrainAwaited = true
        if !stream.isBlocked { requestFlush() }
    }

    /// Writes what waits for its turn until no more than `bytes` wait, as far as the peer takes it.
    func sendWaiting(downTo bytes: Int) {
        while queue.byteCount > bytes, !stream.isClosed, !stream.isBlocked { flush() }
    }

    private func requestFlush() {
        if isWaitingForFlush { return }
        isWaitingForFlush = true
        stream.core.needsFlush(self)
    }

    /// Sends what is queued, after the callback or batch in which it was queued.
    func flush() {
        isWaitingForFlush = false
        guard !stream.isClosed, !stream.isBlocked else { return }
        writeWaiting()
    }

    func streamWritable() {
        isDrainAwaited = true
        writeWaiting()
    }

    private func writeWaiting() {
        guard writeAhead(), writeQueue() else { return connectionLost() }
        if stream.isBlocked || !queue.isEmpty { return }
        if handshake.isOpen { return tellDrained() }
        if let close = handshake.nextFrame(now: monotonicMilliseconds()) {
            var frame: [UInt8] = []
            appendControl(.close, close.payload, to: &frame)
            guard write(&frame) else { return connectionLost() }
        }
        if handshake.stage == .over, !stream.isBlocked { return drainAway() }
    }

    /// Writes what goes before messages. Returns false on a broken connection.
    private func writeAhead() -> Bool {
        if preamble.isEmpty, pongs.isEmpty, !isPingDue { return true }
        guard write(&preamble) else { return false }
        let pings = isPingDue && !stream.isBlocked
        if pings {
            isPingDue = false
            hasPinged = true
            appendControl(.ping, [], to: &pongs)
            // What it took before the ping does not say that it lives.
            stream.look(now: monotonicMilliseconds())
        }
        guard write(&pongs) else { return false }
        if pings { pingEnd = stream.sentBytes + stream.pendingBytes }
        return true
    }

    /// Returns false on a broken connection.
    private func write(_ bytes: inout [UInt8]) -> Bool {
        if bytes.isEmpty || stream.isBlocked { return true }
        defer { bytes = [] }
        return stream.write(bytes)
    }

    /// Writes until the queue is empty, the stream is blocked or others have waited long enough. Returns false on
    /// a broken connection.
    private func writeQueue() -> Bool {
        if queue.isEmpty { return true }
        let core = stream.core
        let before = queue.byteCount
        while !stream.isBlocked {
            let waiting = queue.byteCount
            guard let write = queue.next(into: &core.writeBuffer) else { break }
            // Before it is written: a stream that this closes tells its owner, who counts what is left.
            connection.count(unsent: queue.byteCount - waiting)
            let isAlive =
                switch write {
                case .shared(let message): stream.write(message.frame)
                case .assembled: stream.write(core.writeBuffer)
                }
            if !isAlive { return false }
            if queue.isEmpty { return true }
            if before - queue.byteCount >= Self.bytesPerTurn {
                requestFlush()
                return true
            }
        }
        return true
    }

    /// RFC 6455 §5.5: a control frame may come between the fragments of a message.
    private func appendControl(
        _ opcode: FrameHeader.Opcode, _ payload: [UInt8], to bytes: inout [UInt8]
    ) {
        let mask = role == .client ? FrameMask.random() : nil
        FrameHeader.append(opcode, length: payload.count, mask: mask, to: &bytes)
        let start = bytes.count
        bytes.append(contentsOf: payload)
        bytes.withUnsafeMutableBytes {
            mask?.apply(to: UnsafeMutableRawBufferPointer(rebasing: $0[start...]), at: 0)
        }
    }

    private func tellDrained() {
        guard isDrainAwaited else { return }
        isDrainAwaited = false
        handler.drained(connection)
    }

    // MARK: - Ending

    /// Tells the owner how the connection ended, if that is decided now, and sends the peer what it still has
    /// to receive.
    private func settle(_ ending: WebSocketClose?) {
        guard let ending else { return }
        tellOwner(ending)
        abortTime = monotonicMilliseconds() + limits.farewellMilliseconds
        requestFlush()
    }

    /// Leaves a peer that is too slow, with 1013: its owner is rid of it at once, and the close frame waits for a
    /// while for the peer to read on.
    private func giveUp(reason: String) {
        var close = WebSocketClose(code: 1_013, reason: reason)
        if case .wanted(let wanted) = handshake.stage { close = wanted }
        settle(handshake.violated(code: close.code, reason: close.reason))
    }

    private func connectionLost() {
        if let ending = handshake.lost() { tellOwner(ending) }
        endStream()
    }

    /// The close frames have been exchanged.
    private func drainAway() {
        abortTime = nil
        StreamDrain.begin(stream) { [self] in tellGone() }
    }

    /// Ends at once and drops what is queued.
    func abort() { connectionLost() }

    /// The server stops.
    func windDown() {
        close(code: 1_001, reason: "The server is stopping")
    }

    private func endStream() {
        stream.close()
        tellGone()
    }

    private func tellOwner(_ ending: WebSocketClose) {
        if hasToldOwner { return }
        hasToldOwner = true
        connection.count(unsent: -queue.byteCount)
        queue.removeAll()
        compression?.stop()
        reader.stop()
        unread = []
        connection.session.value = nil
        // From here on everything that arrives is discarded.
        stream.isReading = true
        handler.closed(ending, on: connection)
    }

    private func tellGone() {
        let gone = self.gone
        self.gone = nil
        gone?()
    }

    // MARK: - Watching

    func sweep(now: Int64) {
        if let abortTime {
            if now >= abortTime { abort() }
            return
        }
        if stream.isClosed { return }
        compression?.sweep()
        if let ending = handshake.passed(now: now) {
            // It has had its time, and what it has sent meanwhile was discarded.
            tellOwner(ending)
            return endStream()
        }
        let hasTaken = (stream.isBlocked || hasPinged) && stream.look(now: now)
        if stream.isStuck(now: now, milliseconds: limits.writeStuckMilliseconds), !hasToldOwner {
            return giveUp(reason: "Too slow: nothing was taken for a while")
        }
        if !handshake.isOpen {
            // The handshake's own deadline begins with the close frame.
            if case .wanted = handshake.stage, let closeDeadline, now >= closeDeadline { abort() }
            return
        }
        if isReadingPaused { return watchUnreadPeer(now: now) }
        // A ping cannot be answered before the peer has come to it.
        if hasTaken, stream.takenBytes < pingEnd { lastHeard = now }
        let silence = now - lastHeard
        if silence >= 2 * limits.keepAliveMilliseconds, hasPinged {
            abort()
        } else if silence >= limits.keepAliveMilliseconds, !hasPinged, !isPingDue {
            isPingDue = true
            if !stream.isBlocked { requestFlush() }
        }
    }

    /// A peer that is not read from is not heard. That it has gone is still noticed. One that has only ended
    /// its direction is read to its end when reading goes on, if that is soon.
    private func watchUnreadPeer(now: Int64) {
        switch stream.peerEnd {
        case .none: break
        case .gone: connectionLost()
        case .finished:
            let seen = peerEndSeen ?? now
            peerEndSeen = seen
            if now - seen >= 2 * limits.keepAliveMilliseconds { connectionLost() }
        }
    }
}
