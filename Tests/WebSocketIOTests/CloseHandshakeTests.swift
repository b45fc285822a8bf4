import Testing

@testable import WebSocketIO

/// RFC 6455 §7.1, without a connection.
@Suite(.bounded)
struct CloseHandshakeTests {
    private let going = WebSocketClose(code: 4_000, reason: "going")

    @Test func ourCloseGoesOutOnceAndWaitsForTheAnswer() {
        var handshake = CloseHandshake()
        #expect(handshake.nextFrame(now: 0) == nil)
        handshake.want(going)
        handshake.want(WebSocketClose(code: 1_000))
        #expect(!handshake.isOpen)
        #expect(handshake.nextFrame(now: 5) == going)
        #expect(handshake.nextFrame(now: 6) == nil)
        #expect(handshake.peerCloses(code: 4_000, reason: "") == going)
        #expect(handshake.stage == .over)
        #expect(handshake.lost() == nil)
    }

    @Test func anAnswerThatDoesNotComeIsNotWaitedForForEver() {
        var handshake = CloseHandshake()
        handshake.want(going)
        _ = handshake.nextFrame(now: 100)
        #expect(handshake.passed(now: 100 + CloseHandshake.answerMilliseconds - 1) == nil)
        #expect(handshake.passed(now: 100 + CloseHandshake.answerMilliseconds) == going)
        #expect(handshake.passed(now: .max) == nil)
    }

    @Test func thePeersCloseIsAnsweredWithItsCode() {
        var handshake = CloseHandshake()
        #expect(
            handshake.peerCloses(code: 1_001, reason: "bye")
                == WebSocketClose(code: 1_001, reason: "bye", isFromPeer: true))
        #expect(handshake.nextFrame(now: 0) == WebSocketClose(code: 1_001))
        #expect(handshake.stage == .over)
        #expect(handshake.peerCloses(code: 1_000, reason: "") == nil)
    }

    /// Both at once: what the peer said came first, as ours has not been written.
    @Test func thePeerMayCloseWhileOursWaits() {
        var handshake = CloseHandshake()
        handshake.want(going)
        #expect(handshake.peerCloses(code: 1_000, reason: "")?.isFromPeer == true)
        #expect(handshake.nextFrame(now: 0) == WebSocketClose(code: 1_000))
    }

    @Test func aViolationIsToldAndEndsEverything() {
        var handshake = CloseHandshake()
        let fault = WebSocketClose(code: 1_002, reason: "wrong")
        #expect(handshake.violated(code: 1_002, reason: "wrong") == fault)
        #expect(handshake.violated(code: 1_007, reason: "again") == nil)
        #expect(handshake.nextFrame(now: 0) == fault)
        #expect(handshake.lost() == nil)
    }

    @Test func aConnectionThatBreaksIs1006() {
        var handshake = CloseHandshake()
        #expect(handshake.lost() == .abnormal)
        #expect(handshake.lost() == nil)
        // Whether the close frame arrived nobody knows; it was sent.
        var closing = CloseHandshake()
        closing.want(going)
        _ = closing.nextFrame(now: 0)
        #expect(closing.lost() == going)
    }

    /// §5.5.1: with the code at most 125 bytes, and cut at a character. §7.1.5: 1005 is no code to send.
    @Test func aPayloadFitsAControlFrame() {
        #expect(WebSocketClose(code: 1_005).payload == [])
        #expect(WebSocketClose(code: 1_000, reason: "ä").payload == [0x03, 0xE8, 0xC3, 0xA4])
        let long = WebSocketClose(code: 4_000, reason: "x" + String(repeating: "ä", count: 100))
        #expect(
            long.payload == [0x0F, 0xA0] + Array(("x" + String(repeating: "ä", count: 61)).utf8))
    }
}
