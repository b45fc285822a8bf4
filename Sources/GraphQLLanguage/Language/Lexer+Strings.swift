extension Lexer {
    /// A string's value and the offset after its closing quotes.
    typealias StringScan = (value: String, end: Int)

    // MARK: Strings in one pair of quotes

    /// GraphQL §2.9.4. Without an escape the value is one slice of the document.
    func scanString(at start: Int) throws(DocumentError) -> StringScan {
        var position = start + 1
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""): return (text(from: start + 1, to: position), position + 1)
            case UInt8(ascii: "\\"): return try scanEscapedString(from: start + 1, to: position)
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                throw syntaxError("Unterminated string.", at: position)
            default: position += 1
            }
        }
        throw syntaxError("Unterminated string.", at: position)
    }

    /// Continues a string at its first backslash, `position`, copying its unescaped value.
    private func scanEscapedString(
        from start: Int, to firstEscape: Int
    ) throws(DocumentError) -> StringScan {
        var value = Array(bytes[start..<firstEscape])
        var position = firstEscape
        while position < bytes.count {
            let byte = bytes[position]
            switch byte {
            case UInt8(ascii: "\""): return (String(decoding: value, as: UTF8.self), position + 1)
            case UInt8(ascii: "\\"): position = try scanEscape(at: position, into: &value)
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                throw syntaxError("Unterminated string.", at: position)
            default:
                value.append(byte)
                position += 1
            }
        }
        throw syntaxError("Unterminated string.", at: position)
    }

    /// Appends the value of the escape at `position`; returns the offset after it.
    private func scanEscape(
        at position: Int, into value: inout [UInt8]
    ) throws(DocumentError) -> Int {
        switch byte(at: position + 1) {
        case UInt8(ascii: "\""): value.append(UInt8(ascii: "\""))
        case UInt8(ascii: "\\"): value.append(UInt8(ascii: "\\"))
        case UInt8(ascii: "/"): value.append(UInt8(ascii: "/"))
        case UInt8(ascii: "b"): value.append(0x08)
        case UInt8(ascii: "f"): value.append(0x0C)
        case UInt8(ascii: "n"): value.append(UInt8(ascii: "\n"))
        case UInt8(ascii: "r"): value.append(UInt8(ascii: "\r"))
        case UInt8(ascii: "t"): value.append(UInt8(ascii: "\t"))
        case UInt8(ascii: "u"):
            let (scalar, end) =
                byte(at: position + 2) == UInt8(ascii: "{")
                ? try scanBracedUnicodeEscape(at: position)
                : try scanFourDigitUnicodeEscape(at: position)
            value.append(contentsOf: Array(String(Character(scalar)).utf8))
            return end
        default:
            throw escapeError("Invalid character escape sequence", at: position, length: 2)
        }
        return position + 2
    }

    /// `\u{1F600}`: any number of hexadecimal digits that name a Unicode scalar value.
    private func scanBracedUnicodeEscape(
        at start: Int
    ) throws(DocumentError) -> (UnicodeScalar, Int) {
        var code: UInt32 = 0
        var position = start + 3
        // No scalar value needs more than eight digits: `\u{0010FFFF}`.
        while position < start + 12, position < bytes.count {
            let byte = bytes[position]
            position += 1
            if byte == UInt8(ascii: "}") {
                guard position > start + 4, let scalar = UnicodeScalar(code) else { break }
                return (scalar, position)
            }
            guard let digit = byte.hexadecimalDigit else { break }
            code = code << 4 | digit
        }
        throw escapeError(
            "Invalid Unicode escape sequence", at: start, length: position - start)
    }

    /// `\u00E9`, or a surrogate pair `\uD83D\uDE00` as in JSON.
    private func scanFourDigitUnicodeEscape(
        at start: Int
    ) throws(DocumentError) -> (UnicodeScalar, Int) {
        if let code = fourHexadecimalDigits(at: start + 2) {
            if let scalar = UnicodeScalar(code) { return (scalar, start + 6) }
            if 0xD800...0xDBFF ~= code, byte(at: start + 6) == UInt8(ascii: "\\"),
                byte(at: start + 7) == UInt8(ascii: "u"),
                let low = fourHexadecimalDigits(at: start + 8), 0xDC00...0xDFFF ~= low,
                let scalar = UnicodeScalar(0x10000 + (code - 0xD800) << 10 + (low - 0xDC00))
            {
                return (scalar, start + 12)
            }
        }
        throw escapeError("Invalid Unicode escape sequence", at: start, length: 6)
    }

    private func fourHexadecimalDigits(at position: Int) -> UInt32? {
        var code: UInt32 = 0
        for offset in 0..<4 {
            guard let digit = byte(at: position + offset).hexadecimalDigit else { return nil }
            code = code << 4 | digit
        }
        return code
    }

    /// Shows the characters of the escape, up to the end of the document.
    private func escapeError(
        _ message: String, at position: Int, length: Int
    ) -> DocumentError {
        let rest = text(from: position, to: bytes.count).unicodeScalars
        return syntaxError("\(message): \"\(String(rest.prefix(length)))\".", at: position)
    }

    // MARK: Block strings

    /// GraphQL §2.9.4, `"""`: raw lines, without common indentation and blank edges.
    func scanBlockString(at start: Int) throws(DocumentError) -> StringScan {
        var raw: [UInt8] = []
        var position = start + 3
        var chunkStart = position
        while position < bytes.count {
            let byte = bytes[position]
            if byte == UInt8(ascii: "\""), isTripleQuote(at: position) {
                raw.append(contentsOf: bytes[chunkStart..<position])
                return (blockStringValue(raw: raw), position + 3)
            }
            if byte == UInt8(ascii: "\\"), isTripleQuote(at: position + 1) {
                raw.append(contentsOf: bytes[chunkStart..<position])
                chunkStart = position + 1  // the quotes stay, the backslash goes
                position += 4
            } else {
                position += 1
            }
        }
        throw syntaxError("Unterminated string.", at: position)
    }

    private func isTripleQuote(at position: Int) -> Bool {
        byte(at: position) == UInt8(ascii: "\"") && byte(at: position + 1) == UInt8(ascii: "\"")
            && byte(at: position + 2) == UInt8(ascii: "\"")
    }
}

extension UInt8 {
    fileprivate var hexadecimalDigit: UInt32? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(self - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(self - UInt8(ascii: "a") + 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(self - UInt8(ascii: "A") + 10)
        default: nil
        }
    }
}
