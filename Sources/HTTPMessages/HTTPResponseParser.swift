/// Reads one answer out of the bytes of a connection that we made. RFC 9112. A pure value.
package struct HTTPResponseParser {
    package struct Head: Equatable {
        package var status: Int
        package var headers: HTTPHeaders
    }

    package enum Outcome: Equatable {
        /// More bytes are needed.
        case incomplete
        case head(Head)
        case body([UInt8])
        /// The answer is whole. What follows it, if anything, stays in `takeRest`.
        case complete
        /// What has arrived is not a readable response.
        case broken(String)
    }

    private enum Stage {
        case head
        case length(Int)
        case chunkSize
        case chunk(Int)
        case chunkEnd
        case trailer
        case untilClose
        case complete
    }

    private static let maxHeadBytes = 65_536
    private static let maxChunkLineBytes = 4_096

    private let isHead: Bool
    private var buffer: [UInt8] = []
    /// What of the buffer has been read.
    private var readBytes = 0
    /// As far as the end of a head has been looked for.
    private var searchedBytes = 0
    private var stage = Stage.head

    /// - Parameter isHead: the request was a HEAD, whose answer has no body.
    package init(isHead: Bool) {
        self.isHead = isHead
    }

    /// What has been read is discarded here, once for everything that arrived together.
    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        buffer.removeFirst(readBytes)
        searchedBytes = max(0, searchedBytes - readBytes)
        readBytes = 0
        buffer.append(contentsOf: bytes)
    }

    package mutating func takeRest() -> [UInt8] {
        defer {
            buffer = []
            readBytes = 0
            searchedBytes = 0
        }
        return Array(unread)
    }

    private var unread: ArraySlice<UInt8> { buffer[readBytes...] }

    /// The connection has ended. Returns whether the answer is whole.
    package var mayEndHere: Bool {
        switch stage {
        case .untilClose, .complete: true
        default: false
        }
    }

    package mutating func next() -> Outcome {
        while true {
            switch stage {
            case .head: return readHead()
            case .length(let remaining):
                return takeBody(upTo: remaining) { $0 == 0 ? .complete : .length($0) }
            case .untilClose: return takeBody(upTo: .max) { _ in .untilClose }
            case .chunkSize:
                guard let line = takeLine(upTo: Self.maxChunkLineBytes) else {
                    return unread.count > Self.maxChunkLineBytes
                        ? .broken("a chunk's size is too long") : .incomplete
                }
                guard let size = Self.chunkSize(line) else {
                    return .broken("a chunk's size is no number")
                }
                stage = size == 0 ? .trailer : .chunk(size)
            case .chunk(let remaining):
                return takeBody(upTo: remaining) { $0 == 0 ? .chunkEnd : .chunk($0) }
            case .chunkEnd:
                guard let line = takeLine(upTo: 2) else {
                    return unread.count > 2
                        ? .broken("a chunk is longer than it says") : .incomplete
                }
                guard line.isEmpty else { return .broken("a chunk is longer than it says") }
                stage = .chunkSize
            case .trailer:
                guard let line = takeLine(upTo: Self.maxHeadBytes) else {
                    return unread.count > Self.maxHeadBytes
                        ? .broken("the fields behind the body are too large") : .incomplete
                }
                if line.isEmpty { stage = .complete }
            case .complete: return .complete
            }
        }
    }

    /// RFC 9112 §7.1; extensions are passed over.
    private static func chunkSize(_ line: ArraySlice<UInt8>) -> Int? {
        let digits = line.prefix { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: " ") }
        let text = String(decoding: digits, as: UTF8.self)
        guard !text.isEmpty, text.allSatisfy(\.isHexDigit) else { return nil }
        return Int(text, radix: 16)
    }

    private mutating func takeBody(upTo limit: Int, _ next: (Int) -> Stage) -> Outcome {
        if unread.isEmpty { return .incomplete }
        let count = min(limit, unread.count)
        let body = Array(unread.prefix(count))
        readBytes += count
        stage = next(limit - count)
        return .body(body)
    }

    /// The next line, without its end; nil when it has not come.
    private mutating func takeLine(upTo maxBytes: Int) -> ArraySlice<UInt8>? {
        guard let end = unread.prefix(maxBytes).firstIndex(of: UInt8(ascii: "\n")) else {
            return nil
        }
        let line = buffer[readBytes..<end]
        readBytes = end + 1
        return line.last == UInt8(ascii: "\r") ? line.dropLast() : line
    }

    // MARK: - Heads

    private mutating func readHead() -> Outcome {
        while true {
            let seen = unread.prefix(Self.maxHeadBytes)
            // The end may have come in pieces.
            let start = min(max(readBytes, searchedBytes - 3), seen.endIndex)
            guard let end = seen[start...].firstRange(of: Array("\r\n\r\n".utf8)) else {
                searchedBytes = seen.endIndex
                return unread.count > Self.maxHeadBytes
                    ? .broken("the header fields are too large") : .incomplete
            }
            let lines = seen[..<end.lowerBound].split(
                separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            readBytes = end.upperBound
            guard let head = Self.parse(lines) else { return .broken("its head is no HTTP") }
            // RFC 9110 §15.2: others of this kind are only a word on the way.
            if head.status < 200, head.status != 101 { continue }
            guard let framing = framing(of: head) else {
                return .broken("its length is not clear")
            }
            stage = framing
            return .head(head)
        }
    }

    private static func parse(_ lines: [ArraySlice<UInt8>]) -> Head? {
        let texts = lines.map { line in
            Substring(
                decoding: line.last == UInt8(ascii: "\r") ? line.dropLast() : line, as: UTF8.self)
        }
        guard let status = texts.first.flatMap(status) else { return nil }
        var headers = HTTPHeaders()
        for line in texts.dropFirst() {
            guard let colon = line.firstIndex(of: ":"), colon > line.startIndex else { return nil }
            headers.append(
                String(line[..<colon]), String(line[line.index(after: colon)...].trimmingBlanks))
        }
        return Head(status: status, headers: headers)
    }

    private static func status(_ line: Substring) -> Int? {
        let parts = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count >= 2, parts[0] == "HTTP/1.1" || parts[0] == "HTTP/1.0",
            parts[1].count == 3, let status = Int(parts[1]), (100...599).contains(status)
        else { return nil }
        return status
    }

    /// RFC 9112 §6.3. Nil when it is not known where the body ends.
    private func framing(of head: Head) -> Stage? {
        if isHead || head.status == 101 || head.status == 204 || head.status == 304 {
            return .complete
        }
        if head.headers["transfer-encoding"] != nil {
            let codings = head.headers.list(in: "transfer-encoding")
            return codings.count == 1 && head.headers.lists("chunked", in: "transfer-encoding")
                ? .chunkSize : nil
        }
        let lengths = Set(head.headers.list(in: "content-length"))
        guard let length = lengths.first else { return .untilClose }
        guard lengths.count == 1, length.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let number = Int(length)
        else { return nil }
        return number == 0 ? .complete : .length(number)
    }
}

/// A request that we make, as it travels, without its body.
package struct ClientRequestHead {
    var method: String
    var path: String
    var headers: HTTPHeaders

    package init(method: String, path: String, headers: HTTPHeaders) {
        self.method = method
        self.path = path
        self.headers = headers
    }

    package var encoded: [UInt8] {
        // What cannot be part of a path could be mistaken for the end of the line.
        let path = self.path.utf8.map { $0 <= 0x20 || $0 == 0x7F ? UInt8(ascii: "+") : $0 }
        var bytes = Array("\(method) ".utf8) + path + Array(" HTTP/1.1\r\n".utf8)
        headers.encode(into: &bytes)
        bytes.append(contentsOf: "\r\n".utf8)
        return bytes
    }
}
