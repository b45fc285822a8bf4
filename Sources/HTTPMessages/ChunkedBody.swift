/// Reads a body that comes in chunks. RFC 9112 §7.1. A pure value.
///
///     chunked-body = *( chunk-size [ chunk-ext ] CRLF chunk-data CRLF ) 1*"0" [ chunk-ext ] CRLF *( field CRLF ) CRLF
///
/// Extensions and trailers mean nothing to us; they are checked and left out.
struct ChunkedBody {
    /// What the chunks so far hold.
    private(set) var content: [UInt8] = []
    private let maxBytes: Int
    /// What extensions and trailers may still take up, leading zeros of a size included.
    private var extraBytesLeft: Int
    private var state = State.size

    private enum State {
        case size
        /// Inside a chunk's data; so many bytes of it are still to come.
        case data(Int)
        /// After a chunk's data, before its CRLF.
        case dataEnd
        case trailers
        case complete
    }

    /// - Parameters:
    ///   - maxBytes: a larger body is refused with 413.
    ///   - maxExtraBytes: so are more extensions and trailers than that, all of them together.
    init(maxBytes: Int, maxExtraBytes: Int) {
        self.maxBytes = maxBytes
        extraBytesLeft = maxExtraBytes
    }

    var isComplete: Bool { if case .complete = state { true } else { false } }

    /// Reads on.
    /// - Returns: how many of the bytes it is done with; after the end it takes none.
    mutating func read(_ input: ArraySlice<UInt8>) throws(BadRequest) -> Int {
        var rest = input
        while try step(&rest) {}
        return input.count - rest.count
    }

    /// - Returns: whether there was enough to continue.
    private mutating func step(_ rest: inout ArraySlice<UInt8>) throws(BadRequest) -> Bool {
        switch state {
        case .size:
            // A size that can be counted has 16 digits at most.
            guard let line = try takeLine(&rest, maxBytes: extraBytesLeft + 16) else {
                return false
            }
            try beginChunk(line)
        case .data(let missing):
            guard !rest.isEmpty else { return false }
            let piece = rest.prefix(missing)
            content.append(contentsOf: piece)
            rest = rest.dropFirst(piece.count)
            state = piece.count == missing ? .dataEnd : .data(missing - piece.count)
        case .dataEnd:
            guard rest.count >= 2 else { return false }
            guard rest.starts(with: [.carriageReturn, .lineFeed]) else {
                throw BadRequest(text: "A chunk is longer than it says.")
            }
            rest = rest.dropFirst(2)
            state = .size
        case .trailers:
            guard let line = try takeLine(&rest, maxBytes: extraBytesLeft) else { return false }
            if line.isEmpty {
                state = .complete
            } else {
                extraBytesLeft -= line.count
                _ = try HTTPRequestHead.field(line)
            }
        case .complete: return false
        }
        return true
    }

    private mutating func beginChunk(_ line: ArraySlice<UInt8>) throws(BadRequest) {
        let digits = line.prefix { $0.hexValue != nil }
        guard !digits.isEmpty, Self.areExtensions(line[digits.endIndex...]) else {
            throw BadRequest(text: "A chunk does not begin with its size.")
        }
        let significant = digits.drop { $0 == UInt8(ascii: "0") }
        extraBytesLeft -= line.count - significant.count
        guard extraBytesLeft >= 0 else { throw Self.tooMuchExtra }
        // §7.1: a size may be larger than any number here.
        guard
            let size = Int(String(decoding: significant, as: UTF8.self), radix: 16)
                ?? (significant.isEmpty ? 0 : nil), size <= maxBytes - content.count
        else {
            throw BadRequest(status: 413, text: "The body is larger than \(maxBytes) bytes.")
        }
        state = size == 0 ? .trailers : .data(size)
    }

    private static var tooMuchExtra: BadRequest {
        BadRequest(
            status: 413, text: "The extensions or trailers of a body in chunks are too long.")
    }

    /// A line without its CRLF; nil when its end has not come.
    private func takeLine(
        _ rest: inout ArraySlice<UInt8>, maxBytes: Int
    ) throws(BadRequest) -> ArraySlice<UInt8>? {
        let seen = rest.prefix(maxBytes + 2)
        guard let end = seen.firstIndex(of: .lineFeed) else {
            if rest.count < maxBytes + 2 { return nil }
            throw Self.tooMuchExtra
        }
        guard end > rest.startIndex, rest[end - 1] == .carriageReturn else {
            throw BadRequest(text: "A line of a body in chunks does not end with CRLF.")
        }
        defer { rest = rest[(end + 1)...] }
        return rest[..<(end - 1)]
    }

    /// §7.1.1: `*( BWS ";" BWS token [ BWS "=" BWS ( token / quoted-string ) ] )`, to the letter. A lax
    /// reader would end the chunk of anything else at another place.
    private static func areExtensions(_ bytes: ArraySlice<UInt8>) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            guard take(";", from: &rest), takeToken(&rest) else { return false }
            if take("=", from: &rest) {
                guard takeToken(&rest) || takeQuotedString(&rest) else { return false }
            }
        }
        return true
    }

    /// A separator with the blanks that may be around it; nothing is taken if it is not there.
    private static func take(_ separator: Unicode.Scalar, from rest: inout ArraySlice<UInt8>)
        -> Bool
    {
        let behind = rest.drop(while: \.isBlankOrTab)
        guard behind.first == UInt8(ascii: separator) else { return false }
        rest = behind.dropFirst().drop(while: \.isBlankOrTab)
        return true
    }

    private static func takeToken(_ rest: inout ArraySlice<UInt8>) -> Bool {
        let token = rest.prefix(while: \.isTokenByte)
        rest = rest[token.endIndex...]
        return !token.isEmpty
    }

    /// RFC 9110 §5.6.4.
    private static func takeQuotedString(_ rest: inout ArraySlice<UInt8>) -> Bool {
        guard rest.first == UInt8(ascii: "\"") else { return false }
        rest = rest.dropFirst()
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\"") { return true }
            guard byte.isFieldValueByte else { return false }
            if byte == UInt8(ascii: "\\") {
                guard let quoted = rest.popFirst(), quoted.isFieldValueByte else { return false }
            }
        }
        return false
    }
}
