import BoundedTesting
import HTTPMessages
import Testing

@testable import WebSocketIO

@Suite(.bounded)
struct TimerQueueTests {
    @Test func givesTimersInTheOrderOfTheirDeadlines() {
        let seed = UInt64.random(in: 1 ... .max)
        var random = SeededGenerator(seed: seed)
        var queue = TimerQueue()
        var fired: [Int64] = []
        var expected: [Int64] = []
        for _ in 0..<1_000 {
            let deadline = Int64.random(in: 0..<500, using: &random)
            let timer = LoopTimer(deadline: deadline) { fired.append(deadline) }
            queue.insert(timer)
            if Int.random(in: 0..<10, using: &random) == 0 {
                timer.cancel()
            } else {
                expected.append(deadline)
            }
        }
        for now in stride(from: Int64(0), through: 500, by: 50) {
            while let timer = queue.popDue(at: now) {
                #expect(timer.deadline <= now)
                timer.fire()
            }
        }
        #expect(queue.earliest == nil)
        #expect(fired == expected.sorted(), "seed \(seed)")
    }
}

@Suite(.bounded)
struct ServerAddressTests {
    @Test(arguments: [
        ("ws://h/graphql", ServerAddress(host: "h", port: 80, path: "/graphql")),
        ("wss://h", ServerAddress(isSecure: true, host: "h", port: 443)),
        ("HTTP://127.0.0.1:8080?x=1", ServerAddress(host: "127.0.0.1", port: 8_080, path: "/?x=1")),
        ("https://[::1]:9/a#b", ServerAddress(isSecure: true, host: "::1", port: 9, path: "/a")),
    ])
    func readsURLs(_ url: String, _ address: ServerAddress) {
        #expect(ServerAddress(url: url) == address)
    }

    @Test(arguments: [
        "h:80", "ftp://h", "ws://", "ws://:80", "ws://h:", "ws://h:0", "ws://h:65536", "ws://h:x",
        "ws://[::1", "ws://[::1]80", "",
    ])
    func refusesWhatIsNoURLOfAServer(_ url: String) {
        #expect(ServerAddress(url: url) == nil)
    }

    @Test func namesItselfInTheHostField() {
        #expect(ServerAddress(host: "h", port: 80).hostField == "h")
        #expect(ServerAddress(isSecure: true, host: "h", port: 80).hostField == "h:80")
        #expect(ServerAddress(host: "::1", port: 8_080).hostField == "[::1]:8080")
    }
}

@Suite(.bounded)
struct HTTPHeadersTests {
    /// As a proxy before us reads them, which knows of bytes only.
    @Test func listsAreReadByBytes() {
        let headers: HTTPHeaders = [
            "upgrade": "websoc\u{212A}et", "connection": "x,\u{301}close , Keep-Alive",
        ]
        #expect(!headers.lists("websocket", in: "upgrade"))
        #expect(headers.list(in: "connection") == ["x", "\u{301}close", "Keep-Alive"])
        #expect(headers.lists("keep-alive", in: "connection"))
        #expect(!headers.lists("close", in: "connection"))
    }

    @Test func namesCompareWithoutCaseAndListsAreSplit() {
        var headers: HTTPHeaders = ["Connection": "keep-alive, Upgrade"]
        headers.append("connection", " x ,, y")
        #expect(headers["CONNECTION"] == "keep-alive, Upgrade")
        #expect(headers.list(in: "Connection") == ["keep-alive", "Upgrade", "x", "y"])
        #expect(headers.lists("upgrade", in: "connection"))
        #expect(!headers.lists("close", in: "connection"))
        #expect(headers["absent"] == nil)
    }
}
