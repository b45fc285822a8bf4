/// How a WebSocket connection ends. RFC 6455 §7.1. A pure value.
///
/// The side that closes first sends a close frame and waits for the other's; then the server ends the connection below.
/// Each method that settles how the connection ended returns that, once.
struct CloseHandshake: Equatable {
    enum Stage: Equatable {
        case open
        /// We close as soon as what is queued has been sent.
        case wanted(WebSocketClose)
        /// Our close frame has been written, and the peer's is waited for until then, in monotonic milliseconds.
        case sent(WebSocketClose, deadline: Int64)
        /// The end is decided, and this is what still has to be sent to the peer.
        case answering(WebSocketClose)
        /// Nothing is sent or read any more.
        case over
    }

    /// So long is the peer's close frame waited for.
    static let answerMilliseconds = StreamDrain.maxMilliseconds

    private(set) var stage = Stage.open

    /// Whether messages are taken, to be sent or from the peer.
    var isOpen: Bool {
        if case .open = stage { return true }
        return false
    }

    /// This side wants to close. Does nothing if a close is in progress.
    mutating func want(_ close: WebSocketClose) {
        if isOpen { stage = .wanted(close) }
    }

    /// Everything before the close frame has been written. Returns the frame to write now, if there is one.
    mutating func nextFrame(now: Int64) -> WebSocketClose? {
        switch stage {
        case .wanted(let close):
            stage = .sent(close, deadline: now + Self.answerMilliseconds)
            return close
        case .answering(let close):
            stage = .over
            return close
        case .open, .sent, .over: return nil
        }
    }

    /// The peer's close frame has come.
    mutating func peerCloses(code: UInt16, reason: String) -> WebSocketClose? {
        switch stage {
        case .open, .wanted:
            // §5.5.1: the answer usually repeats the code. A frame without one is answered by one without.
            stage = .answering(WebSocketClose(code: code))
            return WebSocketClose(code: code, reason: reason, isFromPeer: true)
        case .sent(let close, _):
            stage = .over
            return close
        case .answering, .over: return nil
        }
    }

    /// The peer broke a rule: it is told so, and then ignored (§7.1.7).
    mutating func violated(code: UInt16, reason: String) -> WebSocketClose? {
        let close = WebSocketClose(code: code, reason: reason)
        switch stage {
        case .open, .wanted:
            stage = .answering(close)
            return close
        case .sent(let sent, _):
            stage = .over
            return sent
        case .answering, .over: return nil
        }
    }

    /// The connection below is gone.
    mutating func lost() -> WebSocketClose? {
        defer { stage = .over }
        switch stage {
        case .open, .wanted: return .abnormal
        case .sent(let close, _): return close
        case .answering, .over: return nil
        }
    }

    /// Time has passed. The peer owes an answer no longer than until the deadline.
    mutating func passed(now: Int64) -> WebSocketClose? {
        guard case .sent(let close, let deadline) = stage, now >= deadline else { return nil }
        stage = .over
        return close
    }
}

extension WebSocketClose {
    /// The close frame's payload. RFC 6455 §5.5.1: nothing, or the code and the reason, in at most 125 bytes.
    var payload: [UInt8] {
        if code == 1_005 { return [] }
        var text = Array(reason.utf8.prefix(FrameHeader.maxControlBytes - 2))
        while !text.isEmpty, String(validating: text, as: UTF8.self) == nil { text.removeLast() }
        return [UInt8(truncatingIfNeeded: code >> 8), UInt8(truncatingIfNeeded: code)] + text
    }
}
