/// Splits Swift source into tokens, one at a time, straight from its bytes.
///
/// It knows just enough of Swift to be right about what is in a string literal and what is not: comments nest, a string
/// literal ends at a delimiter like the one it begins with, and its interpolations contain code with literals of its
/// own. Those are kept on a stack here and not on the machine's, so that no file is nested too deeply.
/// Regular expressions are in `SwiftLexer+Regex.swift`. Both branches of an `#if` are read like all other code.
///
/// A file that Swift would refuse is read somehow, to its end: every call of ``next()`` takes at least one byte, or
/// ends a literal that has been begun.
///
/// The lexer is only valid inside the `withUnsafeBufferPointer` call of the bytes that it was given, which are
/// well-formed UTF-8.
struct SwiftLexer {
    /// The code of an interpolation, which is being read.
    private struct Interpolation {
        /// The literal that continues after it.
        var literal: SwiftStringLiteral
        /// How many parentheses are open in it.
        var openParentheses = 0
    }

    let bytes: UnsafeBufferPointer<UInt8>
    /// The last string literal that has ended.
    private(set) var literal = SwiftStringLiteral(
        poundCount: 0, isMultiline: false, start: 0, contentStart: 0, contentEnd: 0, end: 0)
    var position = 0
    /// The token before the one that is being read, and the one before that.
    private(set) var previous = SwiftToken.startOfFile
    private(set) var beforePrevious = SwiftToken.startOfFile
    /// So many `#` and more have no regular expression over several lines any more.
    var unclosedRegexPounds = Int.max
    private var interpolations: [Interpolation] = []

    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
        // A script's first line is for the shell.
        if byte(at: 0) == UInt8(ascii: "#"), byte(at: 1) == UInt8(ascii: "!") {
            position = endOfLine(from: 0)
        }
    }

    /// The byte at `position`, or NUL after the end.
    @inline(__always)
    func byte(at position: Int) -> UInt8 {
        position < bytes.count ? bytes[position] : 0
    }

    mutating func next() -> SwiftToken {
        let token = nextToken()
        beforePrevious = previous
        previous = token
        return token
    }

    private mutating func nextToken() -> SwiftToken {
        var startsLine = false
        while position < bytes.count {
            let start = position
            let byte = bytes[start]
            switch byte {
            case UInt8(ascii: " "), UInt8(ascii: "\t"), 0x0B, 0x0C, 0:
                position += 1
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                if let literal = unterminatedAtLineEnd() { return literal }
                startsLine = true
                position += 1
            case UInt8(ascii: "/") where self.byte(at: start + 1) == UInt8(ascii: "/"):
                position = endOfLine(from: start)
            case UInt8(ascii: "/") where self.byte(at: start + 1) == UInt8(ascii: "*"):
                guard let comment = comment(at: start) else {
                    return token(.unterminatedComment, from: start, to: bytes.count, startsLine)
                }
                if comment.hasLineEnd {
                    if let literal = unterminatedAtLineEnd() { return literal }
                    startsLine = true
                }
                position = comment.end
            case 0x80...:
                let scalar = scalar(at: start)
                if scalar.isSwiftSpace {
                    position += scalar.length
                } else if scalar.isSwiftOperatorHead {
                    return operatorToken(startsLine)
                } else {
                    return identifier(startsLine)
                }
            default:
                return asciiToken(byte, startsLine)
            }
        }
        if let literal = unterminatedAtEnd() { return literal }
        return token(.endOfFile, from: bytes.count, to: bytes.count, startsLine)
    }

    @inline(__always)
    private mutating func asciiToken(_ byte: UInt8, _ startsLine: Bool) -> SwiftToken {
        let start = position
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "_"), UInt8(ascii: "$"):
            return identifier(startsLine)
        case UInt8(ascii: "0")...UInt8(ascii: "9"):
            position = endOfName(from: start)
            return token(.number, from: start, to: position, startsLine)
        case UInt8(ascii: "`"):
            return quotedIdentifier(startsLine)
        case UInt8(ascii: "\""):
            return string(poundCount: 0, startsLine)
        case UInt8(ascii: "#"):
            return pounds(startsLine)
        case UInt8(ascii: "("):
            if !interpolations.isEmpty {
                interpolations[interpolations.count - 1].openParentheses += 1
            }
        case UInt8(ascii: ")"):
            if let interpolation = interpolations.last {
                if interpolation.openParentheses == 0 {
                    interpolations.removeLast()
                    position = start + 1
                    return content(of: interpolation.literal, startsLine)
                }
                interpolations[interpolations.count - 1].openParentheses -= 1
            }
        case UInt8(ascii: ":") where self.byte(at: start + 1) == byte:
            return token(.moduleSelector, from: start, to: start + 2, startsLine)
        case _ where byte.isSwiftOperator:
            return operatorToken(startsLine)
        default: break
        }
        return token(.punctuation(byte), from: start, to: start + 1, startsLine)
    }

    mutating func token(
        _ kind: SwiftToken.Kind, from start: Int, to end: Int, _ startsLine: Bool
    ) -> SwiftToken {
        position = end
        return SwiftToken(kind: kind, start: start, end: end, startsLine: startsLine)
    }

    // MARK: Names

    private mutating func identifier(_ startsLine: Bool) -> SwiftToken {
        // The first character is part of it, whatever it is.
        let start = position
        let end = endOfName(from: start + (bytes[start] < 0x80 ? 1 : scalar(at: start).length))
        return token(.identifier, from: start, to: end, startsLine)
    }

    private func endOfName(from start: Int) -> Int {
        var position = start
        while position < bytes.count {
            let byte = bytes[position]
            if byte.isSwiftNameContinue {
                position += 1
            } else if byte >= 0x80 {
                let scalar = scalar(at: position)
                if scalar.isSwiftSpace || scalar.isSwiftOperatorHead { break }
                position += scalar.length
            } else {
                break
            }
        }
        return position
    }

    /// `` `class` ``, or any text without a backtick in one line (SE-0451).
    private mutating func quotedIdentifier(_ startsLine: Bool) -> SwiftToken {
        let start = position
        var end = start + 1
        while end < bytes.count, !bytes[end].endsSwiftLine {
            if bytes[end] == UInt8(ascii: "`") {
                return token(.identifier, from: start, to: end + 1, startsLine)
            }
            end += 1
        }
        return token(.punctuation(UInt8(ascii: "`")), from: start, to: start + 1, startsLine)
    }

    /// `#` begins a raw string, a regular expression, or the name of a directive or macro.
    private mutating func pounds(_ startsLine: Bool) -> SwiftToken {
        let start = position
        let end = endOfPounds(from: start)
        if byte(at: end) == UInt8(ascii: "\"") {
            position = end
            return string(poundCount: end - start, startsLine)
        }
        if byte(at: end) == UInt8(ascii: "/") {
            let regexEnd = endOfExtendedRegex(at: end, poundCount: end - start)
            return token(.regex, from: start, to: regexEnd, startsLine)
        }
        return token(.punctuation(UInt8(ascii: "#")), from: start, to: end, startsLine)
    }

    func endOfPounds(from start: Int) -> Int {
        var position = start
        while byte(at: position) == UInt8(ascii: "#") { position += 1 }
        return position
    }

    // MARK: Comments

    func endOfLine(from start: Int) -> Int {
        var position = start
        while position < bytes.count, !bytes[position].endsSwiftLine { position += 1 }
        return position
    }

    /// The end of a comment that begins at `start`, with those in it; nil if the file ends first.
    private func comment(at start: Int) -> (end: Int, hasLineEnd: Bool)? {
        var depth = 1
        var hasLineEnd = false
        var position = start + 2
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            if byte == UInt8(ascii: "*"), self.byte(at: position) == UInt8(ascii: "/") {
                position += 1
                depth -= 1
                if depth == 0 { return (position, hasLineEnd) }
            } else if byte == UInt8(ascii: "/"), self.byte(at: position) == UInt8(ascii: "*") {
                position += 1
                depth += 1
            } else if byte.endsSwiftLine {
                hasLineEnd = true
            }
        }
        return nil
    }

    // MARK: Strings

    /// A literal whose first quotation mark is at `position`, after its pounds.
    private mutating func string(poundCount: Int, _ startsLine: Bool) -> SwiftToken {
        let quote = position
        let isMultiline =
            startsWithThreeQuotes(at: quote)
            && (poundCount == 0 || !endsInItsLine(from: quote + 2, poundCount: poundCount))
        position = quote + (isMultiline ? 3 : 1)
        return content(
            of: SwiftStringLiteral(
                poundCount: poundCount, isMultiline: isMultiline, start: quote - poundCount,
                contentStart: position, contentEnd: position, end: position),
            startsLine)
    }

    private func startsWithThreeQuotes(at position: Int) -> Bool {
        byte(at: position) == UInt8(ascii: "\"") && byte(at: position + 1) == UInt8(ascii: "\"")
            && byte(at: position + 2) == UInt8(ascii: "\"")
    }

    /// Whether `#"""#`, a raw literal of one line, only looks like one of several lines.
    private func endsInItsLine(from start: Int, poundCount: Int) -> Bool {
        var position = start
        while position < bytes.count, !bytes[position].endsSwiftLine {
            if bytes[position] == UInt8(ascii: "\""), hasPounds(poundCount, at: position + 1) {
                return true
            }
            position += 1
        }
        return false
    }

    private func hasPounds(_ count: Int, at start: Int) -> Bool {
        guard count <= bytes.count - start else { return false }
        return bytes[start..<start + count].allSatisfy { $0 == UInt8(ascii: "#") }
    }

    /// Reads on in a literal: to its end, or to the next interpolation.
    private mutating func content(
        of literal: SwiftStringLiteral, _ startsLine: Bool
    ) -> SwiftToken {
        var literal = literal
        let poundCount = literal.poundCount
        while position < bytes.count {
            let byte = bytes[position]
            switch byte {
            case UInt8(ascii: "\\") where hasPounds(poundCount, at: position + 1):
                let escaped = position + 1 + poundCount
                switch self.byte(at: escaped) {
                case UInt8(ascii: "("):
                    literal.hasInterpolation = true
                    interpolations.append(Interpolation(literal: literal))
                    return token(.interpolation, from: position, to: escaped + 1, startsLine)
                case UInt8(ascii: "\\"), UInt8(ascii: "\""):
                    position = escaped + 1
                default:
                    position = escaped
                }
            case UInt8(ascii: "\""):
                let isDelimiter = !literal.isMultiline || startsWithThreeQuotes(at: position)
                let end = position + (literal.isMultiline ? 3 : 1)
                if isDelimiter, hasPounds(poundCount, at: end) {
                    literal.isTerminated = true
                    return ended(literal, at: position, end: end + poundCount, startsLine)
                }
                position += 1
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                if !literal.isMultiline {
                    return ended(literal, at: position, end: position, startsLine)
                }
                position += 1
            default:
                position += 1
            }
        }
        return ended(literal, at: bytes.count, end: bytes.count, startsLine)
    }

    private mutating func ended(
        _ literal: SwiftStringLiteral, at contentEnd: Int, end: Int, _ startsLine: Bool
    ) -> SwiftToken {
        self.literal = literal
        self.literal.contentEnd = contentEnd
        self.literal.end = end
        return token(.string, from: literal.start, to: end, startsLine)
    }

    /// A literal of one line ends with its line, even in the code of an interpolation: what is wrong then is between
    /// Swift and its programmer, and the next line is code again.
    private mutating func unterminatedAtLineEnd() -> SwiftToken? {
        guard let interpolation = interpolations.last, !interpolation.literal.isMultiline else {
            return nil
        }
        return unterminatedAtEnd()
    }

    private mutating func unterminatedAtEnd() -> SwiftToken? {
        guard let interpolation = interpolations.popLast() else { return nil }
        return ended(interpolation.literal, at: position, end: position, false)
    }
}

extension SwiftToken {
    fileprivate static let startOfFile = SwiftToken(
        kind: .punctuation(UInt8(ascii: ";")), start: 0, end: 0, startsLine: true)
}
