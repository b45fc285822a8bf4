import BoundedTesting
import Testing

@testable import HTTPMessages

@Suite(.bounded)
struct HTTPRequestParserTests {
    private func parser(head: Int = 1_000, body: Int = 1_000) -> HTTPRequestParser {
        HTTPRequestParser(maxHeadBytes: head, maxBodyBytes: body)
    }

    private func append(_ text: String, to parser: inout HTTPRequestParser) {
        Array(text.utf8).withUnsafeBytes { parser.append($0) }
    }

    /// What comes of `text` when it arrives at once.
    private func outcome(_ text: String) -> HTTPRequestParser.Outcome {
        var parser = parser()
        append(text, to: &parser)
        return parser.next()
    }

    private func status(_ text: String) -> Int? {
        if case .refused(let response) = outcome(text) { response.status } else { nil }
    }

    @Test func blankLinesBeforeARequestAreNoPartOfIt() {
        var parser = parser()
        for (piece, isInside) in [("\r", false), ("\n", false), ("\r", false), ("\nG", true)] {
            append(piece, to: &parser)
            #expect(parser.next() == .incomplete)
            #expect(parser.isInsideRequest == isInside)
        }
    }

    @Test func itemsOfAQuerySayWhetherTheyAreWellFormed() throws {
        func items(_ query: String) throws -> [HTTPRequest.QueryItem] {
            guard
                case .request(let head, _) = outcome("GET /a?\(query) HTTP/1.1\r\nHost: h\r\n\r\n")
            else { throw BadRequest(text: query) }
            return head.query
        }
        let good = try items("a=%C3%A9+%26&%7B=|&b&c=%25")
        #expect(good.map(\.isWellFormed) == [true, true, true, true])
        #expect(good.map(\.value) == ["é &", "|", "", "%"])
        let bad = try items("a=%FF&b=%4&%zz=1&c=%C3%28&d=%&%E2%82=")
        #expect(bad.map(\.isWellFormed) == [false, false, false, false, false, false])
        for text in ["é &=?", "%", "a+b", "\u{0}\n", ""] {
            let item = try items("x=\(text.percentEncoded)").first
            #expect(item == .init(name: "x", value: text))
        }
    }

    @Test func requestsAreTheSameHoweverTheyArrive() {
        let text =
            "\r\nPOST /a%2Fb?q=%7B+x%20%7D&n HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\nX: \t v \r\n\r\nbody"
            + "GET http://other/p?x=1 HTTP/1.1\r\nhost:h\r\nConnection: Close\r\n\r\n"
            + "OPTIONS * HTTP/1.0\r\n\r\n"
        let bytes = Array(text.utf8)
        var whole: [HTTPRequestParser.Outcome] = []
        for size in [bytes.count, 1, 2, 3, 7, 50] {
            var parser = parser()
            var outcomes: [HTTPRequestParser.Outcome] = []
            for start in stride(from: 0, to: bytes.count, by: size) {
                bytes[start..<min(start + size, bytes.count)].withUnsafeBytes { parser.append($0) }
                while true {
                    let outcome = parser.next()
                    if outcome == .incomplete { break }
                    outcomes.append(outcome)
                }
            }
            #expect(parser.waitingBytes == 0)
            #expect(!parser.isInsideRequest)
            if whole.isEmpty { whole = outcomes }
            #expect(outcomes == whole, "in pieces of \(size)")
        }
        guard case .request(let first, let body)? = whole.first,
            case .request(let second, _) = whole[1], case .request(let third, _) = whole[2]
        else {
            Issue.record("\(whole)")
            return
        }
        #expect(first.method == "POST")
        #expect(first.path == "/a/b")
        #expect(first.query.map(\.name) == ["q", "n"])
        #expect(first.query.map(\.value) == ["{ x }", ""])
        #expect(first.headers["x"] == "v")
        #expect(first.keepsAlive)
        #expect(body == Array("body".utf8))
        #expect(second.path == "/p")
        #expect(!second.keepsAlive)
        #expect(third.path == "*")
        #expect(!third.keepsAlive)
    }

    @Test(arguments: [
        ("GET\r\n\r\n", 400), ("GET / HTTP/1.1 x\r\nHost: h\r\n\r\n", 400),
        ("GET  / HTTP/1.1\r\nHost: h\r\n\r\n", 400), ("GET / FTP/1.1\r\n\r\n", 400),
        ("GET / HTTP/2.0\r\n\r\n", 505), ("BREW / HTTP/1.1\r\nHost: h\r\n\r\n", 501),
        ("CONNECT h:1 HTTP/1.1\r\nHost: h\r\n\r\n", 501),
        ("GET x HTTP/1.1\r\nHost: h\r\n\r\n", 400), ("GET / HTTP/1.1\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: h\r\nHost: i\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: h\r\nX : y\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: h\r\nX: y\r\n z\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: h\r\n: y\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: h\r\nX: \u{1}\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: h\r\n\r\n", 411),
        (
            "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n",
            400
        ),
        ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx", 400),
        ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1, 1\r\n\r\nx", 400),
        ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: +1\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1001\r\n\r\n", 413),
        ("GET / HTTP/1.1\r\nHost: h\r\nX: " + String(repeating: "y", count: 1_000), 431),
    ])
    func refusesWhatIsNoGoodRequest(_ text: String, _ expected: Int) {
        #expect(status(text) == expected)
    }

    @Test func saysWhenAClientWaitsToSendItsBody() {
        var parser = parser()
        append(
            "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nExpect: 100-Continue\r\n\r\n",
            to: &parser)
        guard case .headBeforeBody = parser.next() else {
            Issue.record("it does not say so")
            return
        }
        #expect(parser.next() == .incomplete)
        append("hi", to: &parser)
        guard case .request(_, let body) = parser.next() else {
            Issue.record("there is no request")
            return
        }
        #expect(body == Array("hi".utf8))
    }

    @Test func whatFollowsAHandshakeStaysWhole() {
        var parser = parser()
        let head = [
            "GET / HTTP/1.1", "Host: localhost", "Upgrade: websocket", "Connection: Upgrade",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13", "", "",
        ].joined(separator: "\r\n")
        append(head + "\u{1}frame", to: &parser)
        guard case .request(let request, _) = parser.next() else {
            Issue.record("there is no request")
            return
        }
        #expect(request.asksForWebSocket)
        #expect(parser.takeRest() == Array("\u{1}frame".utf8))
        #expect(parser.waitingBytes == 0)
    }

    @Test func anyBytesAtAllAreReadOrRefused() {
        let seed = UInt64.random(in: 1 ... .max)
        var random = SeededGenerator(seed: seed)
        let template = Array(
            "POST /p?a=%20b HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nX: y\r\n\r\nabc".utf8)
        for round in 0..<20_000 {
            var bytes = template
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.remove(at: place)
                default: bytes.insert(UInt8.random(in: 0...255, using: &random), at: place)
                }
            }
            var parser = parser()
            bytes.withUnsafeBytes { parser.append($0) }
            var steps = 0
            reading: while steps < 10 {
                steps += 1
                switch parser.next() {
                case .incomplete, .refused: break reading
                case .headBeforeBody, .request: continue
                }
            }
            #expect(steps < 10, "seed \(seed), round \(round)")
        }
    }
}
