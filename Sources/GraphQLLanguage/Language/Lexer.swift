/// Splits a document into tokens, one at a time, straight from its bytes (GraphQL §2.1).
///
/// The lexer holds one token and produces the next on demand; there is no token array. It is only
/// valid inside the `withUnsafeBufferPointer` call of the `Source` whose bytes it was given.
struct Lexer {
    let source: Source
    let bytes: UnsafeBufferPointer<UInt8>
    private(set) var token = Token(kind: .startOfFile, start: 0, end: 0)
    /// The value of the current token if that is a string or a block string.
    private(set) var stringValue = ""

    /// The byte at `position`, or NUL at and after the end.
    @inline(__always)
    func byte(at position: Int) -> UInt8 {
        position < bytes.count ? bytes[position] : 0
    }

    /// The bytes of a range as text. The range must end where a token ends.
    ///
    /// `String(decoding:as:)` takes twice as long for names of ordinary length.
    @inline(__always)
    func text(from start: Int, to end: Int) -> String {
        String(unsafeUninitializedCapacity: end - start) { buffer in
            buffer.initialize(fromContentsOf: bytes[start..<end])
        }
    }

    func syntaxError(_ message: String, at position: Int) -> DocumentError {
        DocumentError(
            "Syntax Error: " + message, locations: [source.location(at: source.base + position)])
    }

    /// Replaces `token` by the next one; comments, commas and white space are skipped.
    mutating func advance() throws(DocumentError) {
        var position = token.end
        while position < bytes.count {
            let byte = bytes[position]
            switch byte {
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: ","), UInt8(ascii: "\n"),
                UInt8(ascii: "\r"):
                position += 1
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "_"):
                let start = position
                position += 1
                while position < bytes.count, bytes[position].isNameContinue { position += 1 }
                token = Token(kind: .name, start: start, end: position)
                return
            case UInt8(ascii: "!"): return setPunctuator(.bang, at: position)
            case UInt8(ascii: "$"): return setPunctuator(.dollar, at: position)
            case UInt8(ascii: "&"): return setPunctuator(.ampersand, at: position)
            case UInt8(ascii: "("): return setPunctuator(.leftParenthesis, at: position)
            case UInt8(ascii: ")"): return setPunctuator(.rightParenthesis, at: position)
            case UInt8(ascii: ":"): return setPunctuator(.colon, at: position)
            case UInt8(ascii: "="): return setPunctuator(.equals, at: position)
            case UInt8(ascii: "@"): return setPunctuator(.at, at: position)
            case UInt8(ascii: "["): return setPunctuator(.leftBracket, at: position)
            case UInt8(ascii: "]"): return setPunctuator(.rightBracket, at: position)
            case UInt8(ascii: "{"): return setPunctuator(.leftBrace, at: position)
            case UInt8(ascii: "|"): return setPunctuator(.pipe, at: position)
            case UInt8(ascii: "}"): return setPunctuator(.rightBrace, at: position)
            case UInt8(ascii: "."):
                guard self.byte(at: position + 1) == byte, self.byte(at: position + 2) == byte
                else { throw unexpectedCharacter(at: position) }
                token = Token(kind: .spread, start: position, end: position + 3)
                return
            case UInt8(ascii: "#"):
                position = endOfComment(from: position)
            case UInt8(ascii: "\""):
                let isBlock =
                    self.byte(at: position + 1) == byte && self.byte(at: position + 2) == byte
                let literal =
                    isBlock ? try scanBlockString(at: position) : try scanString(at: position)
                stringValue = literal.value
                token = Token(
                    kind: isBlock ? .blockString : .string, start: position, end: literal.end)
                return
            case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
                token = try scanNumber(at: position)
                return
            case 0xEF where isByteOrderMark(at: position):
                position += 3
            default:
                throw unexpectedCharacter(at: position)
            }
        }
        token = Token(kind: .endOfFile, start: bytes.count, end: bytes.count)
    }

    @inline(__always)
    private mutating func setPunctuator(_ kind: TokenKind, at position: Int) {
        token = Token(kind: kind, start: position, end: position + 1)
    }

    private func endOfComment(from start: Int) -> Int {
        var position = start
        while position < bytes.count, bytes[position] != UInt8(ascii: "\n"),
            bytes[position] != UInt8(ascii: "\r")
        {
            position += 1
        }
        return position
    }

    /// GraphQL §2.1.1 allows U+FEFF between any two tokens.
    private func isByteOrderMark(at position: Int) -> Bool {
        byte(at: position + 1) == 0xBB && byte(at: position + 2) == 0xBF
    }

    // MARK: Numbers

    /// GraphQL §2.9.1 and §2.9.2: an IntValue or FloatValue, not followed by `.` or a name.
    private func scanNumber(at start: Int) throws(DocumentError) -> Token {
        var position = start
        var kind = TokenKind.int
        if byte(at: position) == UInt8(ascii: "-") { position += 1 }
        if byte(at: position) == UInt8(ascii: "0") {
            position += 1
            if byte(at: position).isDigit {
                throw syntaxError(
                    "Invalid number, unexpected digit after 0: \(printCharacter(at: position)).",
                    at: position)
            }
        } else {
            position = try endOfDigits(from: position)
        }
        if byte(at: position) == UInt8(ascii: ".") {
            kind = .float
            position = try endOfDigits(from: position + 1)
        }
        if byte(at: position) | 0x20 == UInt8(ascii: "e") {
            kind = .float
            position += 1
            let sign = byte(at: position)
            if sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { position += 1 }
            position = try endOfDigits(from: position)
        }
        if byte(at: position) == UInt8(ascii: ".") || byte(at: position).isNameStart {
            throw digitExpected(at: position)
        }
        return Token(kind: kind, start: start, end: position)
    }

    /// Where the digits starting at `position` end; there must be at least one.
    private func endOfDigits(from start: Int) throws(DocumentError) -> Int {
        var position = start
        while byte(at: position).isDigit { position += 1 }
        if position == start { throw digitExpected(at: start) }
        return position
    }

    private func digitExpected(at position: Int) -> DocumentError {
        syntaxError(
            "Invalid number, expected digit but got: \(printCharacter(at: position)).",
            at: position)
    }

    // MARK: Characters in messages

    private func unexpectedCharacter(at position: Int) -> DocumentError {
        if byte(at: position) == UInt8(ascii: "'") {
            return syntaxError(
                "Unexpected single quote character ('), did you mean to use a double quote (\")?",
                at: position)
        }
        return syntaxError("Unexpected character: \(printCharacter(at: position)).", at: position)
    }

    /// The character at `position` as messages show it: quoted when printable ASCII, otherwise as
    /// `U+XXXX`; `<EOF>` at the end.
    func printCharacter(at position: Int) -> String {
        guard position < bytes.count else { return "<EOF>" }
        switch bytes[position] {
        case UInt8(ascii: "\""): return "'\"'"
        case 0x20...0x7E: return "\"\(Character(UnicodeScalar(bytes[position])))\""
        default:
            var decoder = UTF8()
            var iterator = bytes[position...].makeIterator()
            guard case .scalarValue(let scalar) = decoder.decode(&iterator) else {
                return "U+FFFD"
            }
            let hex = String(scalar.value, radix: 16, uppercase: true)
            return "U+" + String(repeating: "0", count: max(0, 4 - hex.count)) + hex
        }
    }
}

extension UInt8 {
    /// GraphQL §2.1.9, NameStart.
    @inline(__always)
    var isNameStart: Bool {
        (self | 0x20) &- UInt8(ascii: "a") < 26 || self == UInt8(ascii: "_")
    }

    /// GraphQL §2.1.9, NameContinue: a set of bits, one for each ASCII character.
    @inline(__always)
    var isNameContinue: Bool {
        let members: UInt64 = self < 64 ? 0x03FF_0000_0000_0000 : 0x07FF_FFFE_87FF_FFFE
        return self < 128 && members >> UInt64(self & 63) & 1 != 0
    }

    @inline(__always)
    var isDigit: Bool { self &- UInt8(ascii: "0") < 10 }
}

extension Document {
    /// Whether there are comments in its text, which are no part of the document.
    package var hasComments: Bool {
        source.bytes.withUnsafeBufferPointer { bytes in
            var lexer = Lexer(source: source, bytes: bytes)
            while lexer.token.kind != .endOfFile {
                let end = lexer.token.end
                guard (try? lexer.advance()) != nil else { return false }
                if bytes[end..<lexer.token.start].contains(UInt8(ascii: "#")) { return true }
            }
            return false
        }
    }
}
