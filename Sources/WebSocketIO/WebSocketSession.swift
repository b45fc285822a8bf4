import CLibwebsockets

/// The loop's side of one open WebSocket connection: what has come in part, what is to be sent.
final class WebSocketSession {
    /// How outgoing messages become frames.
    enum Framing {
        /// We are the server and nothing is compressed: our own frames, several to a write.
        case shared
        /// The library masks, or compresses: one piece to a write.
        case library(isCompressed: Bool)
    }

    /// What its owner wants of a connection.
    struct Limits {
        var maxMessageBytes: Int
        var maxQueuedBytes: Int
        /// Milliseconds of silence after which a ping is sent; as many again and the peer is dead.
        var keepAliveMilliseconds: Int64
        /// Milliseconds without the peer taking anything, then the connection is closed.
        var writeStuckMilliseconds: Int64
    }

    private unowned let endpoint: Endpoint
    private let handler: any WebSocketHandler
    private let framing: Framing
    private let limits: Limits
    private let connection: WebSocketConnection

    private var assembler: MessageAssembler
    private var queue = SendQueue()
    private var isWaitingForFlush = false
    /// Since when the socket has taken nothing although something waits; nil when all is well.
    private var blockedSince: Int64?
    private var lastHeard = monotonicMilliseconds()
    private var isDrainAwaited = false
    private var isPingDue = false
    private var hasPinged = false

    /// What we close with, once what is queued has been sent.
    private var localClose: WebSocketClose?
    /// Whether the close frame, ours or the peer's, is with the library: nothing more is sent.
    private var isEnding = false
    private var ending: WebSocketClose?
    private var hasToldOwner = false
    /// When a peer that has been given up is not waited for any more.
    private var abortTime: Int64?
    private static let patienceMilliseconds: Int64 = 30_000

    init(
        endpoint: Endpoint, connection: WebSocketConnection, handler: any WebSocketHandler,
        framing: Framing, limits: Limits
    ) {
        self.endpoint = endpoint
        self.connection = connection
        self.handler = handler
        self.framing = framing
        self.limits = limits
        assembler = MessageAssembler(maxBytes: limits.maxMessageBytes)
        connection.session.value = self
    }

    func opened() {
        handler.opened(connection)
    }

    // MARK: - Receiving

    var isReadingPaused = false {
        didSet {
            guard isReadingPaused != oldValue, let wsi = endpoint.wsi else { return }
            heardFromPeer()
            lws_rx_flow_control(wsi, isReadingPaused ? 0 : 1)
        }
    }

    /// Takes what has come of a message. Returns a callback's answer.
    func receive(_ bytes: UnsafeRawBufferPointer, from wsi: OpaquePointer) -> Int32 {
        heardFromPeer()
        if localClose != nil || isEnding { return 0 }
        let kind: OutgoingMessage.Kind = lws_frame_is_binary(wsi) != 0 ? .binary : .text
        switch assembler.append(
            bytes, remaining: lws_remaining_packet_payload(wsi),
            isFinalFrame: lws_is_final_fragment(wsi) != 0)
        {
        case .incomplete:
            return 0
        case .message(let message):
            handler.received(WebSocketMessage(kind, message), on: connection)
            return 0
        case .tooLarge:
            dropQueue()
            localClose = WebSocketClose(
                code: 1_009, reason: "Message is larger than \(limits.maxMessageBytes) bytes")
            return endNow(wsi)
        }
    }

    func heardFromPeer() {
        lastHeard = monotonicMilliseconds()
        hasPinged = false
    }

    /// The peer's close frame: status and reason, or nothing. The library answers it.
    func peerCloses(_ payload: UnsafeRawBufferPointer) {
        if !isEnding { ending = WebSocketClose(payload: payload, isFromPeer: true) }
        isEnding = true
        dropQueue()
    }

    // MARK: - Sending

    /// Payload bytes that wait here.
    var queuedBytes: Int { queue.byteCount }

    func enqueue(_ message: OutgoingMessage, prefix: [UInt8]) {
        if localClose != nil || isEnding {
            connection.count(unsent: -(prefix.count + message.payloadBytes))
            return
        }
        queue.append(message, prefix: prefix)
        if queue.byteCount > limits.maxQueuedBytes {
            giveUp(reason: "Too much is waiting to be sent")
            return
        }
        if blockedSince == nil { requestFlush() }
    }

    func close(code: UInt16, reason: String) {
        if localClose != nil || isEnding { return }
        localClose = WebSocketClose(code: code, reason: reason)
        if blockedSince == nil { requestFlush() }
    }

    func abort() {
        dropQueue()
        isEnding = true
        endpoint.abort()
    }

    /// The handler wants to know when nothing waits to be sent any more.
    func awaitDrained() {
        isDrainAwaited = true
        if blockedSince == nil { requestFlush() }
    }

    private func tellDrained() {
        guard isDrainAwaited, queue.isEmpty, blockedSince == nil, localClose == nil, !hasToldOwner
        else { return }
        isDrainAwaited = false
        handler.drained(connection)
    }

    private func requestFlush() {
        if isWaitingForFlush { return }
        isWaitingForFlush = true
        endpoint.core.needsFlush(self)
    }

    /// Sends what is queued, after the callback or batch in which it was queued.
    func flush() {
        isWaitingForFlush = false
        guard !isEnding, blockedSince == nil, let wsi = endpoint.wsi else { return }
        if case .library(isCompressed: true) = framing {
            // The compressor may hold back part of a message until the socket is writable.
            if !queue.isEmpty || localClose != nil { lws_callback_on_writable(wsi) }
            return tellDrained()
        }
        if !writeQueue(to: wsi) {
            isEnding = true
            dropQueue()
            return endpoint.abort()
        }
        tellDrained()
    }

    /// The socket takes more. Returns a callback's answer.
    func writable(_ wsi: OpaquePointer) -> Int32 {
        let wasBlocked = blockedSince != nil
        blockedSince = nil
        if isEnding { return 0 }
        if isPingDue {
            isPingDue = false
            hasPinged = true
            if !endpoint.core.frames.writePing(to: wsi) { return -1 }
        }
        if !writeQueue(to: wsi) { return -1 }
        if queue.isEmpty, blockedSince == nil {
            if localClose != nil { return endNow(wsi) }
            if wasBlocked { isDrainAwaited = true }
            tellDrained()
        }
        return 0
    }

    /// Writes until the queue is empty or the socket is full. Returns false on a broken connection.
    private func writeQueue(to wsi: OpaquePointer) -> Bool {
        while !queue.isEmpty {
            if lws_partial_buffered(wsi) != 0 {
                waitUntilWritable(wsi)
                return true
            }
            let before = queue.byteCount
            let isAlive = writeOnce(to: wsi)
            connection.count(unsent: queue.byteCount - before)
            if !isAlive { return false }
            if case .library(isCompressed: true) = framing {
                if !queue.isEmpty || localClose != nil { lws_callback_on_writable(wsi) }
                return true
            }
        }
        if lws_partial_buffered(wsi) != 0 {
            waitUntilWritable(wsi)
        } else if localClose != nil {
            lws_callback_on_writable(wsi)
        }
        return true
    }

    private func writeOnce(to wsi: OpaquePointer) -> Bool {
        let frames = endpoint.core.frames
        switch framing {
        case .shared:
            switch queue.nextFrames(into: &frames.bytes) {
            case .shared(let message):
                return message.frame.withUnsafeBytes { FrameBuffer.writeRaw($0, to: wsi) }
            case .assembled:
                return frames.bytes.withUnsafeBytes { FrameBuffer.writeRaw($0, to: wsi) }
            case nil:
                return true
            }
        case .library:
            frames.bytes.removeAll(keepingCapacity: true)
            frames.bytes.append(contentsOf: FrameBuffer.headroom)
            guard let piece = queue.nextPiece(into: &frames.bytes) else { return true }
            return frames.write(piece, to: wsi)
        }
    }

    private func waitUntilWritable(_ wsi: OpaquePointer) {
        if blockedSince == nil { blockedSince = monotonicMilliseconds() }
        lws_callback_on_writable(wsi)
    }

    // MARK: - Ending

    /// Gives the close frame to the library. Returns the callback's answer that makes it go out.
    private func endNow(_ wsi: OpaquePointer) -> Int32 {
        guard let close = localClose, !isEnding else { return -1 }
        isEnding = true
        ending = close
        dropQueue()
        var reason = close.frameReason
        if case .library(isCompressed: true) = framing, assembler.isInsideMessage {
            // The library reads no answer while its decompressor is at work, and turns on the spot until it
            // gives up: this is said without it, and not waited for.
            let code = [
                UInt8(truncatingIfNeeded: close.code >> 8), UInt8(truncatingIfNeeded: close.code),
            ]
            let frame = [0x88, UInt8(2 + reason.count)] + code + reason
            if lws_partial_buffered(wsi) == 0 {
                _ = frame.withUnsafeBytes { FrameBuffer.writeRaw($0, to: wsi) }
            }
            endpoint.abort()
            return 0
        }
        reason.withUnsafeMutableBufferPointer { reason in
            lws_close_reason(
                wsi, lws_close_status(rawValue: UInt32(close.code)), reason.baseAddress,
                reason.count)
        }
        return -1
    }

    /// Leaves a peer that is too slow, with 1013: its owner is rid of it at once, and the close frame
    /// waits for a while for the peer to read on.
    private func giveUp(reason: String) {
        dropQueue()
        let close = localClose ?? WebSocketClose(code: 1_013, reason: reason)
        localClose = close
        abortTime = monotonicMilliseconds() + Self.patienceMilliseconds
        tellOwner(close)
        requestFlush()
    }

    /// The library has closed the connection. When neither side asked for that, the library did,
    /// for a peer that broke the protocol, and holds the close frame it sent.
    func libraryCloses(_ wsi: OpaquePointer) {
        isEnding = true
        if ending != nil { return }
        let length = Int(lws_get_close_length(wsi))
        if length >= 2, let payload = lws_get_close_payload(wsi) {
            ending = WebSocketClose(
                payload: UnsafeRawBufferPointer(start: payload, count: length), isFromPeer: false)
        }
    }

    /// The library's handle is gone; the handler hears of it, once.
    func ended() {
        dropQueue()
        isEnding = true
        tellOwner(ending ?? .abnormal)
    }

    private func tellOwner(_ close: WebSocketClose) {
        if hasToldOwner { return }
        hasToldOwner = true
        connection.session.value = nil
        handler.closed(close, on: connection)
    }

    private func dropQueue() {
        connection.count(unsent: -queue.byteCount)
        queue.removeAll()
    }

    // MARK: - Watching

    func sweep(now: Int64) {
        guard !isEnding, let wsi = endpoint.wsi else { return }
        if let abortTime {
            if now >= abortTime { abort() }
            return
        }
        if let blockedSince, now - blockedSince >= limits.writeStuckMilliseconds {
            giveUp(reason: "Too slow: nothing was taken for a while")
            return
        }
        // Who does not read cannot hear a pong.
        if isReadingPaused { return }
        let silence = now - lastHeard
        if silence >= 2 * limits.keepAliveMilliseconds, hasPinged {
            abort()
        } else if silence >= limits.keepAliveMilliseconds, !hasPinged, !isPingDue {
            isPingDue = true
            lws_callback_on_writable(wsi)
        }
    }
}

extension WebSocketClose {
    /// The reason as a close frame takes it. RFC 6455 §5.5: a control frame has at most 125 bytes, two of which
    /// are the code.
    fileprivate var frameReason: [UInt8] {
        var bytes = Array(reason.utf8.prefix(123))
        while !bytes.isEmpty, String(validating: bytes, as: UTF8.self) == nil {
            bytes.removeLast()
        }
        return bytes
    }

    /// Reads a close frame's payload. RFC 6455 §7.1.5: without a code it counts as 1005.
    init(payload: UnsafeRawBufferPointer, isFromPeer: Bool) {
        guard payload.count >= 2 else {
            self.init(code: 1_005, isFromPeer: isFromPeer)
            return
        }
        self.init(
            code: UInt16(payload[0]) << 8 | UInt16(payload[1]),
            reason: String(decoding: payload[2...], as: UTF8.self), isFromPeer: isFromPeer)
    }
}
