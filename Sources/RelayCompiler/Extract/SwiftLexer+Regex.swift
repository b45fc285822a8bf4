// Operators and regular expressions, which begin with the same character.
//
// `/` is one of division's operators, and a quotation mark around regular expressions, in which `"` means nothing.
// Swift's parser decides by whether it expects an operand. What it expects is seen from the white space around the
// operator nearly always, because operators must have it on both sides or on neither (The Swift Programming Language,
// Lexical Structure, Operators):
//
// - `a / b`: white space follows. No regular expression begins with it, so this is an operator.
// - `a/b`: nothing is before it but the end of an operand: an operator. Only after a keyword like `return` it is not.
// - `(/b/)`, `x = /b/`, `!/b/`, and `/b/` at the start of a line: a prefix operator or a regular expression. It is the
//   latter if another `/` ends it in the same line, which no white space precedes and no parenthesis comes before
//   that was not opened; as in `reduce(1, /) + f(/)`. This is the rule of SE-0354.
//
// A name of an operator that is being defined is none either: `func /(left: A, right: A) -> A { left.a/right.a }`.
// In Swift 5 mode `/b/` is not a regular expression, but then it is nothing else either, except for programs that have
// defined a prefix operator `/`.

extension SwiftLexer {
    /// The operator at `position`, or the regular expression that begins in it.
    mutating func operatorToken(_ startsLine: Bool) -> SwiftToken {
        let start = position
        let run = operatorRun(from: start)
        if let slash = run.slash, mayBeginOperand(start, slash: slash) {
            if slash > start {
                // `!/b/`: the operator before the regular expression is a token of its own.
                if endOfRegex(at: slash) != nil {
                    return token(.operator, from: start, to: slash, startsLine)
                }
            } else if let end = endOfRegex(at: slash) {
                return token(.regex, from: start, to: end, startsLine)
            }
        }
        let isPeriod = run.end == start + 1 && bytes[start] == UInt8(ascii: ".")
        return token(
            isPeriod ? .punctuation(UInt8(ascii: ".")) : .operator, from: start, to: run.end,
            startsLine)
    }

    /// Where the operator's characters end, and the first `/` among them. A comment ends it; a period is one of its
    /// characters only if it begins with one.
    private func operatorRun(from start: Int) -> (end: Int, slash: Int?) {
        let hasPeriods = bytes[start] == UInt8(ascii: ".")
        var slash: Int?
        var position = start
        while position < bytes.count {
            let byte = bytes[position]
            if byte >= 0x80 {
                let scalar = scalar(at: position)
                guard scalar.isSwiftOperatorHead || scalar.isCombining else { break }
                position += scalar.length
                continue
            }
            if byte == UInt8(ascii: "/") {
                let next = self.byte(at: position + 1)
                if next == UInt8(ascii: "/") || next == UInt8(ascii: "*") { break }
                if slash == nil { slash = position }
            } else if byte == UInt8(ascii: ".") {
                if !hasPeriods { break }
            } else if !byte.isSwiftOperator {
                break
            }
            position += 1
        }
        return (position, slash)
    }

    /// Whether an operator that begins at `start` and has a `/` is where Swift expects an operand.
    private func mayBeginOperand(_ start: Int, slash: Int) -> Bool {
        switch byte(at: slash + 1) {
        case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"), 0:
            return false
        default: break
        }
        guard previous.kind == .identifier else { return !isLeftBound(start) }
        let isMember = beforePrevious.kind == .punctuation(UInt8(ascii: "."))
        if !isMember, isOneOf(["func", "operator"], previous) { return false }
        if !isLeftBound(start) { return true }
        return slash == start && !isMember && isOneOf(Self.keywordsBeforeOperands, previous)
    }

    private static let keywordsBeforeOperands: [StaticString] = [
        "await", "case", "catch", "else", "guard", "if", "in", "repeat", "return", "switch",
        "throw", "try", "where",
        "while", "yield",
    ]

    private func isOneOf(_ keywords: [StaticString], _ token: SwiftToken) -> Bool {
        keywords.contains { isText($0, of: token) }
    }

    /// Whether a token is spelled so.
    func isText(_ text: StaticString, of token: SwiftToken) -> Bool {
        guard text.utf8CodeUnitCount == token.end - token.start else { return false }
        return (token.start..<token.end).allSatisfy {
            bytes[$0] == text.utf8Start[$0 - token.start]
        }
    }

    /// Whether the end of something is directly before an operator.
    private func isLeftBound(_ start: Int) -> Bool {
        if start == 0 { return false }
        switch bytes[start - 1] {
        case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"), 0,
            0x0B, 0x0C, UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "{"),
            UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: ":"):
            return false
        case UInt8(ascii: "/"):
            // The end of a comment is white space.
            return previous.end == start
        case 0x80...:
            return previous.end == start
        default:
            // The operator before `/b/` in `!/b/`.
            return previous.kind != .operator || previous.end != start
        }
    }

    /// The end of `/…/` whose first `/` is at `start`; nil if this is not a regular expression (SE-0354).
    private func endOfRegex(at start: Int) -> Int? {
        var position = start + 1
        var groups = 0
        var classes = 0
        while position < bytes.count {
            let byte = bytes[position]
            switch byte {
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                return nil
            case UInt8(ascii: "\\"):
                if self.byte(at: position + 1).endsSwiftLine { return nil }
                position += 1
            case UInt8(ascii: "/"):
                let before = bytes[position - 1]
                let isSpace = before == UInt8(ascii: " ") || before == UInt8(ascii: "\t")
                let isEscaped = isSpace && bytes[position - 2] == UInt8(ascii: "\\")
                if position == start + 1 || isSpace && !isEscaped { return nil }
                let next = self.byte(at: position + 1)
                let isComment = next == UInt8(ascii: "/") || next == UInt8(ascii: "*")
                return isComment ? nil : position + 1
            case UInt8(ascii: "["): classes += 1
            case UInt8(ascii: "]"): classes = max(0, classes - 1)
            case UInt8(ascii: "(") where classes == 0: groups += 1
            case UInt8(ascii: ")") where classes == 0:
                if groups == 0 { return nil }
                groups -= 1
            default: break
            }
            position += 1
        }
        return nil
    }

    /// The end of `#/…/#` whose `/` is at `slash`. Over several lines if there is nothing after it in the first.
    /// Without an end it is one line, so that the rest of the file is code.
    mutating func endOfExtendedRegex(at slash: Int, poundCount: Int) -> Int {
        var position = slash + 1
        while byte(at: position) == UInt8(ascii: " ") || byte(at: position) == UInt8(ascii: "\t") {
            position += 1
        }
        let isMultiline = byte(at: position).endsSwiftLine
        if isMultiline, poundCount >= unclosedRegexPounds { return position }
        let contentEnd = position
        position = slash + 1
        while position < bytes.count {
            let byte = bytes[position]
            if byte == UInt8(ascii: "\\") {
                position += self.byte(at: position + 1).endsSwiftLine ? 1 : 2
            } else if byte == UInt8(ascii: "/") {
                let end = endOfPounds(from: position + 1)
                if end - position - 1 >= poundCount { return position + 1 + poundCount }
                position = end
            } else if byte.endsSwiftLine, !isMultiline {
                return position
            } else {
                position += 1
            }
        }
        if isMultiline { unclosedRegexPounds = min(unclosedRegexPounds, poundCount) }
        return isMultiline ? contentEnd : bytes.count
    }
}
