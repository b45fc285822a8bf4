import Testing

@testable import HTTPMessages

/// Bytes that a client may send, and what our reader has to make of them.
///
/// The cases are those that other servers test themselves with (llhttp's tests of requests) or have failed
/// (http-garden's list of trophies), written down anew with what RFC 9110 and RFC 9112 say of them.
struct HTTPCase: Sendable, CustomTestStringConvertible {
    /// The section that decides.
    let rule: String
    /// Each character is a byte: U+0000 to U+00FF.
    let input: String
    /// A request as `METHOD path` and its body in brackets; a refusal as its status, always the last;
    /// `…` when more bytes are wanted.
    let outcome: [String]

    init(_ rule: String, _ input: String, _ outcome: String...) {
        self.rule = rule
        self.input = input
        self.outcome = outcome
    }

    var testDescription: String { "\(rule): \(input.prefix(120).debugDescription)" }
    var bytes: [UInt8] { input.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } }
}

/// A request with these fields, each line ended, and what follows the empty line.
func request(
    _ line: String = "POST /x HTTP/1.1", fields: String..., body: String = ""
) -> String {
    (["\(line)", "Host: h"] + fields).joined(separator: "\r\n") + "\r\n\r\n" + body
}

func chunked(_ body: String, coding: String = "Transfer-Encoding: chunked") -> String {
    request(fields: coding, body: body)
}

enum HTTPCorpus {
    static let maxHeadBytes = 1_024
    static let maxBodyBytes = 256

    /// What the reader makes of bytes that come in these pieces.
    static func outcome(of pieces: [ArraySlice<UInt8>]) -> [String] {
        var parser = HTTPRequestParser(maxHeadBytes: maxHeadBytes, maxBodyBytes: maxBodyBytes)
        var outcomes: [String] = []
        for piece in pieces {
            piece.withUnsafeBytes { parser.append($0) }
            reading: while true {
                switch parser.next() {
                case .incomplete: break reading
                // Whether a client waits depends on the pieces, and is no part of what it sent.
                case .headBeforeBody: continue
                case .request(let head, let body):
                    let text = String(decoding: body, as: UTF8.self)
                    outcomes.append(
                        "\(head.method) \(head.path)" + (text.isEmpty ? "" : " [\(text)]"))
                case .refused(let response): return outcomes + ["\(response.status)"]
                }
            }
        }
        return parser.isInsideRequest ? outcomes + ["…"] : outcomes
    }
}

struct HTTPCorpusTests {
    @Test(arguments: requestLineCases + fieldCases + lengthCases + chunkCases + smugglingCases)
    func eachCaseIsReadAsTheRFCSays(_ one: HTTPCase) {
        #expect(HTTPCorpus.outcome(of: [one.bytes[...]]) == one.outcome)
    }

    /// Also those with a limit in the middle of a piece: what is refused must not depend on how it came.
    @Test(arguments: requestLineCases + fieldCases + lengthCases + chunkCases + smugglingCases)
    func eachSplitGivesTheSame(_ one: HTTPCase) {
        let bytes = one.bytes
        for split in bytes.indices {
            let outcome = HTTPCorpus.outcome(of: [bytes[..<split], bytes[split...]])
            if outcome != one.outcome { Issue.record("split at \(split): \(outcome)") }
        }
        let single = HTTPCorpus.outcome(of: bytes.indices.map { bytes[$0...$0] })
        #expect(single == one.outcome)
    }
}
