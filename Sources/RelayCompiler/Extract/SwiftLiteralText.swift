import GraphQLLanguage

/// The value of a string literal, and where in the file each of its bytes comes from.
///
/// Written after The Swift Programming Language, Lexical Structure, String Literals: the lines of a `"""` literal lose
/// the indentation of its closing delimiter, `\` at the end of a line joins it to the next, lines end with LF whatever
/// the file has, and an escape sequence needs as many `#` as the delimiters have. Whatever Swift refuses is a
/// ``Problem`` here.
struct SwiftLiteralText {
    /// What is wrong, by offsets in the file.
    struct Problem: Equatable {
        let message: String
        let offset: Int
        var note: Note?

        struct Note: Equatable {
            let message: String
            let offset: Int
        }
    }

    private(set) var bytes: [UInt8] = []
    private(set) var runs: [SourceOrigin.Run] = []
    /// In the order of the file.
    private(set) var problems: [Problem] = []

    private let literal: SwiftStringLiteral
    private let file: UnsafeBufferPointer<UInt8>

    /// - Parameter literal: terminated, and without an interpolation.
    init(_ literal: SwiftStringLiteral, in file: UnsafeBufferPointer<UInt8>) {
        self.literal = literal
        self.file = file
        bytes.reserveCapacity(literal.contentEnd - literal.contentStart)
        if literal.isMultiline {
            readLines()
        } else {
            read(literal.contentStart, to: literal.contentEnd)
        }
        // The document's end is that of the literal.
        copies(from: literal.contentEnd)
    }

    // MARK: Lines

    private mutating func readLines() {
        guard file[literal.contentStart].endsSwiftLine else {
            let message = "The text of a multi-line string literal must begin on a new line."
            problems.append(Problem(message: message, offset: literal.contentStart))
            return
        }
        let indentation = closingIndentation
        guard file[indentation.lowerBound - 1].endsSwiftLine else {
            let message =
                "The closing delimiter of a multi-line string literal must begin on a new line."
            problems.append(Problem(message: message, offset: literal.contentEnd))
            return
        }
        // The line ends after the opening delimiter and before the closing one are not part of the value.
        var position = endOfLineEnd(at: literal.contentStart)
        var wasIndented = true
        while position < indentation.lowerBound {
            var end = position
            while !file[end].endsSwiftLine { end += 1 }
            let next = endOfLineEnd(at: end)
            let isIndented = end == position || hasIndentation(indentation, at: position)
            if isIndented {
                let start = end == position ? end : position + indentation.count
                let isJoined = read(start, to: end)
                let isLast = next == indentation.lowerBound
                if isJoined, isLast {
                    let message = "The last line of a string literal cannot end with a backslash."
                    problems.append(Problem(message: message, offset: end - 1))
                }
                if !isJoined, !isLast { append(UInt8(ascii: "\n"), from: end) }
            } else if wasIndented {
                // Of several such lines in a row the first is enough.
                problems.append(insufficientIndentation(indentation, at: position))
            }
            wasIndented = isIndented
            position = next
        }
    }

    /// The white space before the closing delimiter.
    private var closingIndentation: Range<Int> {
        var start = literal.contentEnd
        while start > literal.contentStart, file[start - 1].isIndentation { start -= 1 }
        return start..<literal.contentEnd
    }

    private func endOfLineEnd(at position: Int) -> Int {
        let isPair =
            file[position] == UInt8(ascii: "\r") && position + 1 < literal.contentEnd
            && file[position + 1] == UInt8(ascii: "\n")
        return position + (isPair ? 2 : 1)
    }

    private func hasIndentation(_ indentation: Range<Int>, at start: Int) -> Bool {
        commonIndentation(indentation, at: start) == indentation.count
    }

    private func commonIndentation(_ indentation: Range<Int>, at start: Int) -> Int {
        zip(indentation, start..<literal.contentEnd).prefix { file[$0] == file[$1] }.count
    }

    private func insufficientIndentation(_ indentation: Range<Int>, at start: Int) -> Problem {
        let common = commonIndentation(indentation, at: start)
        let found = file[start + common]
        let expected = Self.name(of: file[indentation.lowerBound + common])
        let message =
            found.isIndentation
            ? "Unexpected \(Self.name(of: found)) in the indentation of a line in a multi-line "
                + "string literal: the closing delimiter has a \(expected) here."
            : "Insufficient indentation of a line in a multi-line string literal: it must begin "
                + "with the white space that is before the closing delimiter."
        return Problem(
            message: message, offset: start + common,
            note: Problem.Note(
                message: "This delimiter says how far lines are indented.",
                offset: literal.contentEnd))
    }

    private static func name(of byte: UInt8) -> String {
        byte == UInt8(ascii: "\t") ? "tab" : "space"
    }

    // MARK: Characters

    /// Reads a part of the content in which no line ends.
    /// - Returns: whether it ends with a backslash, which joins the next line to it.
    @discardableResult
    private mutating func read(_ start: Int, to end: Int) -> Bool {
        var position = start
        while position < end {
            guard isEscape(at: position, before: end) else {
                append(file[position], from: position)
                position += 1
                continue
            }
            let name = position + 1 + literal.poundCount
            if name == end || file[name].isIndentation {
                let isJoined = file[name..<end].allSatisfy(\.isIndentation)
                if isJoined, literal.isMultiline { return true }
            }
            position = readEscape(at: position, name: name, before: end)
        }
        return false
    }

    private func isEscape(at position: Int, before end: Int) -> Bool {
        guard file[position] == UInt8(ascii: "\\"), literal.poundCount < end - position else {
            return false
        }
        return file[position + 1..<position + 1 + literal.poundCount].allSatisfy {
            $0 == UInt8(ascii: "#")
        }
    }

    /// - Returns: where the text goes on.
    private mutating func readEscape(at start: Int, name: Int, before end: Int) -> Int {
        let value: UInt8
        switch name < end ? file[name] : 0 {
        case UInt8(ascii: "0"): value = 0
        case UInt8(ascii: "n"): value = UInt8(ascii: "\n")
        case UInt8(ascii: "r"): value = UInt8(ascii: "\r")
        case UInt8(ascii: "t"): value = UInt8(ascii: "\t")
        case UInt8(ascii: "\""): value = UInt8(ascii: "\"")
        case UInt8(ascii: "'"): value = UInt8(ascii: "'")
        case UInt8(ascii: "\\"): value = UInt8(ascii: "\\")
        case UInt8(ascii: "u"): return readUnicodeEscape(at: start, name: name, before: end)
        default:
            let message = "Invalid escape sequence in a string literal."
            problems.append(Problem(message: message, offset: start))
            return name
        }
        escape(start)
        bytes.append(value)
        return name + 1
    }

    /// `\u{1F600}`: one to eight hexadecimal digits.
    private mutating func readUnicodeEscape(at start: Int, name: Int, before end: Int) -> Int {
        var position = name + 1
        guard position < end, file[position] == UInt8(ascii: "{") else {
            let message = #"Expected hexadecimal digits in braces after "\u"."#
            problems.append(Problem(message: message, offset: start))
            return position
        }
        position += 1
        let digits = file[position..<end].prefix { $0.hexadecimalValue != nil }
        position += digits.count
        guard 1...8 ~= digits.count, position < end, file[position] == UInt8(ascii: "}") else {
            let message = #"Expected 1 to 8 hexadecimal digits and then "}" after "\u{"."#
            problems.append(Problem(message: message, offset: start))
            return position
        }
        let value = digits.reduce(UInt32(0)) { $0 << 4 | UInt32($1.hexadecimalValue ?? 0) }
        guard let scalar = Unicode.Scalar(value) else {
            let message = "Invalid Unicode scalar in a string literal."
            problems.append(Problem(message: message, offset: start))
            return position + 1
        }
        escape(start)
        bytes.append(contentsOf: Array(String(Character(scalar)).utf8))
        return position + 1
    }

    // MARK: Where they come from

    private mutating func append(_ byte: UInt8, from offset: Int) {
        copies(from: offset)
        bytes.append(byte)
    }

    /// What is appended next is the file's text from `offset` on.
    private mutating func copies(from offset: Int) {
        if let run = runs.last, run.isCopy, offset - run.file == bytes.count - run.text { return }
        runs.append(SourceOrigin.Run(text: bytes.count, file: offset, isCopy: true))
    }

    /// What is appended next is the value of an escape sequence at `offset`.
    private mutating func escape(_ offset: Int) {
        runs.append(SourceOrigin.Run(text: bytes.count, file: offset, isCopy: false))
    }
}

extension UInt8 {
    fileprivate var isIndentation: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }

    fileprivate var hexadecimalValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
