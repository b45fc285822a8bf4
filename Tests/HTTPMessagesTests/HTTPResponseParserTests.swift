import Testing

@testable import HTTPMessages

@Suite(.bounded)
struct HTTPResponseParserTests {
    private struct Answer: Equatable {
        var status = 0
        var body = ""
        var end = "incomplete"
        var mayEnd = false
        var rest = ""
    }

    private func read(_ text: String, isHead: Bool = false, cut: Int = 1) -> Answer {
        var parser = HTTPResponseParser(isHead: isHead)
        var answer = Answer()
        let bytes = Array(text.utf8)
        for start in stride(from: 0, to: bytes.count, by: cut) {
            Array(bytes[start...].prefix(cut)).withUnsafeBytes { parser.append($0) }
            take(from: &parser, into: &answer)
        }
        answer.mayEnd = parser.mayEndHere
        answer.rest = String(decoding: parser.takeRest(), as: UTF8.self)
        return answer
    }

    private func take(from parser: inout HTTPResponseParser, into answer: inout Answer) {
        while answer.end == "incomplete" {
            switch parser.next() {
            case .incomplete: return
            case .head(let head): answer.status = head.status
            case .body(let piece): answer.body += String(decoding: piece, as: UTF8.self)
            case .complete: answer.end = "complete"
            case .broken(let cause): answer.end = cause
            }
        }
    }

    /// Each of them in one piece: what has been read is not moved out of the way for each.
    @Test(arguments: [1, 65_536])
    func readsManySmallChunks(_ cut: Int) {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        let chunks = String(repeating: "1\r\na\r\n", count: 20_000)
        let answer = read(head + chunks + "0\r\n\r\nrest", cut: cut)
        #expect(answer.end == "complete")
        #expect(answer.body == String(repeating: "a", count: 20_000))
        #expect("rest".hasPrefix(answer.rest))
    }

    @Test func findsAHeadWhoseEndComesInPieces() {
        var parser = HTTPResponseParser(isHead: false)
        for piece in ["HTTP/1.1 100 Continue\r\n\r", "\nHTTP/1.1 204 No Content\r\n", "\r", "\n"] {
            #expect(parser.next() == .incomplete)
            Array(piece.utf8).withUnsafeBytes { parser.append($0) }
        }
        #expect(parser.next() == .head(.init(status: 204, headers: HTTPHeaders())))
        #expect(parser.next() == .complete)
    }

    @Test(arguments: [1, 2, 7, 1_000])
    func readsEveryFraming(_ cut: Int) {
        let whole = Answer(status: 200, body: "hello", end: "complete", mayEnd: true)
        #expect(
            read("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", cut: cut) == whole)
        #expect(
            read(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\nX-A: b\r\n\r\n",
                cut: cut) == whole)
        #expect(
            read("HTTP/1.0 200 OK\r\n\r\nhello", cut: cut)
                == Answer(status: 200, body: "hello", end: "incomplete", mayEnd: true))
        #expect(
            read("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n", cut: cut)
                == Answer(status: 204, end: "complete", mayEnd: true))
        #expect(
            read("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", isHead: true, cut: cut)
                == Answer(status: 200, end: "complete", mayEnd: true))
    }

    @Test func whatFollowsA101IsKept() {
        let answer = read(
            "HTTP/1.1 101 Switching Protocols\r\nX-Auth: 1\r\nIf: 2\r\n\r\n\u{1}\u{2}", cut: 1_000)
        #expect(answer == Answer(status: 101, end: "complete", mayEnd: true, rest: "\u{1}\u{2}"))
    }

    @Test func aBodyThatStopsInTheMiddleIsNotWhole() {
        #expect(!read("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell").mayEnd)
        #expect(!read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n").mayEnd)
        #expect(!read("HTTP/1.1 200 OK\r\nContent-Len").mayEnd)
    }

    /// A body is handed on as it comes; how much of it is too much is for others to say.
    @Test(arguments: [
        "Content-Length: 9223372036854775807\r\n\r\na",
        "Transfer-Encoding: chunked\r\n\r\n7FFFFFFFFFFFFFFF\r\na",
        "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n7FFFFFFFFFFFFFFF\r\n",
    ])
    func aLengthMayBeTheLargestNumber(_ text: String) {
        let answer = read("HTTP/1.1 200 OK\r\n" + text)
        #expect(answer.end == "incomplete" && answer.body == "a" && !answer.mayEnd)
    }

    @Test(arguments: [
        "SSH-2.0-OpenSSH\r\n\r\n", "HTTP/2 200\r\n\r\n", "HTTP/1.1 20\r\n\r\n",
        "HTTP/1.1 999 X\r\n\r\n", "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775808\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551616\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8000000000000000\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFF\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n",
        "HTTP/1.1 200 OK\r\nX: " + String(repeating: "x", count: 70_000),
    ])
    func whatIsNoAnswerIsSaidToBeNone(_ text: String) {
        let answer = read(text, cut: 100_000)
        #expect(answer.end != "incomplete" && answer.end != "complete", "\(answer)")
    }
}
