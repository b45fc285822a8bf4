import RelayJSON

extension EventCondition {
    /// Parses a condition.
    /// - Parameter now: microseconds since 1970, for times like `@now-1h`.
    /// - Throws: what is wrong, and where.
    package init(parsing text: String, now: Int64) throws(EventTextError) {
        var parser = Parser(tokens: try Tokens(text).all, end: text.count + 1, now: now)
        root = try parser.readAll()
    }
}

/// Recursive descent over the tokens of a condition.
private struct Parser {
    typealias Node = EventCondition.Node
    typealias Operand = EventCondition.Operand
    typealias Comparison = EventCondition.Comparison

    private static let depthLimit = 100
    private var tokens: ArraySlice<Token>
    private let end: Int
    private let now: Int64
    private var depth = 0

    init(tokens: [Token], end: Int, now: Int64) {
        self.tokens = tokens[...]
        self.end = end
        self.now = now
    }

    mutating func readAll() throws(EventTextError) -> Node {
        let node = try readOr()
        guard tokens.isEmpty else { throw expected("\"and\", \"or\" or the end") }
        return node
    }

    private mutating func readOr() throws(EventTextError) -> Node {
        var node = try readAnd()
        while take("or", "||") { node = .or(node, try readAnd()) }
        return node
    }

    private mutating func readAnd() throws(EventTextError) -> Node {
        var node = try readNot()
        while take("and", "&&") { node = .and(node, try readNot()) }
        return node
    }

    private mutating func readNot() throws(EventTextError) -> Node {
        depth += 1
        defer { depth -= 1 }
        guard depth < Self.depthLimit else {
            throw EventTextError("this is nested too deeply", at: position)
        }
        if take("not", "!") { return .not(try readNot()) }
        guard take("(") else { return try readComparison() }
        let node = try readOr()
        guard take(")") else { throw expected("\")\"") }
        return node
    }

    private mutating func readComparison() throws(EventTextError) -> Node {
        let beginning = position
        let left = try readOperand(wordsAreTexts: false)
        if take("matches") { return try readPattern(for: left) }
        guard let comparison = takeComparison() else { return .holds(left) }
        let start = position
        let right = try readOperand(wordsAreTexts: true)
        try checkNumber(right, besides: left, at: start)
        try checkNumber(left, besides: right, at: beginning)
        // Times are compared as times, not as text.
        return .compare(
            left.isTime ? left : try time(left, besides: right, at: start), comparison,
            right.isTime ? right : try time(right, besides: left, at: start))
    }

    private mutating func readPattern(for operand: Operand) throws(EventTextError) -> Node {
        let start = position
        guard case .text(let pattern)? = tokens.popFirst()?.kind else {
            throw EventTextError("a regular expression in quotes was expected", at: start)
        }
        do {
            return .matches(operand, try Regex(pattern))
        } catch {
            throw EventTextError("\"\(pattern)\" is not a regular expression", at: start)
        }
    }

    /// Any other value would be neither less than, greater than nor equal to a number, so that nothing would
    /// match.
    private func checkNumber(
        _ operand: Operand, besides other: Operand, at position: Int
    ) throws(EventTextError) {
        guard case .field(let field) = other, field.isNumber else { return }
        switch operand {
        case .field, .value(.int), .value(.double), .value(.null): return
        case .list(let operands):
            for operand in operands { try checkNumber(operand, besides: other, at: position) }
        case .value(let value):
            throw EventTextError(
                "\"\(field.name.rawValue)\" is compared with numbers, not with \(value.text)",
                at: position)
        }
    }

    private func time(
        _ operand: Operand, besides other: Operand, at position: Int
    ) throws(EventTextError) -> Operand {
        guard other.isTime else { return operand }
        switch operand {
        case .value(.string(let text)):
            switch try? HistoryPoint(text) {
            case .time(let microseconds): return .value(.int(microseconds))
            case .ago(let span): return .value(.int(now - span))
            default: break
            }
            throw EventTextError(
                "\"\(text)\" is not a time; write 2026-11-21T09:30:00Z or @now-1h", at: position)
        case .list(let operands):
            var times: [Operand] = []
            for operand in operands {
                times.append(try time(operand, besides: other, at: position))
            }
            return .list(times)
        case .value, .field:
            return operand
        }
    }

    private mutating func readOperand(wordsAreTexts: Bool) throws(EventTextError) -> Operand {
        guard let token = tokens.first else { throw expected("a field or a value") }
        switch token.kind {
        case .text(let text):
            tokens.removeFirst()
            return .value(.string(text))
        case .number(let number):
            tokens.removeFirst()
            return .value(number)
        case .word(let word):
            tokens.removeFirst()
            return try operand(word, at: token.position, wordsAreTexts: wordsAreTexts)
        case .symbol("["):
            tokens.removeFirst()
            return .list(try readList())
        case .symbol:
            throw expected("a field or a value")
        }
    }

    private func operand(
        _ word: String, at position: Int, wordsAreTexts: Bool
    ) throws(EventTextError) -> Operand {
        switch word {
        case "true": return .value(.bool(true))
        case "false": return .value(.bool(false))
        case "null": return .value(.null)
        default: break
        }
        do throws(EventTextError) {
            return .field(try EventField(word))
        } catch {
            if wordsAreTexts { return .value(.string(word)) }
            throw error.moved(to: position)
        }
    }

    private mutating func readList() throws(EventTextError) -> [Operand] {
        if take("]") { return [] }
        var operands: [Operand] = []
        repeat {
            if case .symbol("[")? = tokens.first?.kind { throw expected("a value") }
            operands.append(try readOperand(wordsAreTexts: true))
        } while take(",")
        guard take("]") else { throw expected("\",\" or \"]\"") }
        return operands
    }

    private mutating func takeComparison() -> Comparison? {
        if take("=") { return .equal }
        return Comparison.allCases.first { take($0.rawValue) }
    }

    /// Consumes the next token if it is one of these words or symbols.
    private mutating func take(_ names: String...) -> Bool {
        switch tokens.first?.kind {
        case .word(let name)? where names.contains(name),
            .symbol(let name)? where names.contains(name):
            tokens.removeFirst()
            return true
        default: return false
        }
    }

    private var position: Int { tokens.first?.position ?? end }

    private func expected(_ what: String) -> EventTextError {
        let found = tokens.first.map { "\($0)" } ?? "the end"
        return EventTextError("\(what) was expected, not \(found)", at: position)
    }
}

extension EventCondition.Operand {
    fileprivate var isTime: Bool {
        if case .field(let field) = self { field.name == .time } else { false }
    }
}

private struct Token: CustomStringConvertible {
    enum Kind {
        case word(String)
        case text(String)
        case number(JSONValue)
        case symbol(String)
    }

    let kind: Kind
    /// The position of its first character, from 1.
    let position: Int

    var description: String {
        switch kind {
        case .word(let text), .text(let text), .symbol(let text): "\"\(text)\""
        case .number(let number): number.text
        }
    }
}

/// The tokens of a condition.
private struct Tokens {
    private(set) var all: [Token] = []
    private let characters: [Character]
    private var place = 0

    private static let symbols = [
        "==", "!=", "<=", ">=", "&&", "||", "=", "<", ">", "!", "(", ")", "[", "]", ",",
    ]

    init(_ text: String) throws(EventTextError) {
        characters = Array(text)
        while place < characters.count {
            let character = characters[place]
            if character.isWhitespace {
                place += 1
            } else if character == "\"" || character == "'" {
                try readText(quotedBy: character)
            } else if character.isPartOfWord {
                try readWord()
            } else {
                try readSymbol()
            }
        }
    }

    /// A backslash before the quotation mark makes it part of the text; other backslashes are literal.
    private mutating func readText(quotedBy quote: Character) throws(EventTextError) {
        let start = place
        var text = ""
        place += 1
        while place < characters.count, characters[place] != quote {
            if characters[place] == "\\", place + 1 < characters.count,
                characters[place + 1] == quote
            {
                place += 1
            }
            text.append(characters[place])
            place += 1
        }
        guard place < characters.count else {
            throw EventTextError("this text has no end", at: start + 1)
        }
        place += 1
        all.append(Token(kind: .text(text), position: start + 1))
    }

    private mutating func readWord() throws(EventTextError) {
        let start = place
        while place < characters.count, characters[place].isPartOfWord { place += 1 }
        let word = String(characters[start..<place])
        let kind: Token.Kind =
            if let number = Int64(word) {
                .number(.int(number))
            } else if word.first?.isLetter != true, let number = Double(word) {
                .number(.double(number))
            } else { .word(word) }
        if case .number(.double(let number)) = kind, !number.isFinite {
            throw EventTextError(
                "\(word) is too large for a number; put text in quotes", at: start + 1)
        }
        all.append(Token(kind: kind, position: start + 1))
    }

    private mutating func readSymbol() throws(EventTextError) {
        let rest = characters[place...].prefix(2)
        guard let symbol = Self.symbols.first(where: { rest.starts(with: $0) }) else {
            throw EventTextError("\"\(characters[place])\" means nothing here", at: place + 1)
        }
        all.append(Token(kind: .symbol(symbol), position: place + 1))
        place += symbol.count
    }
}

extension Character {
    /// Names, numbers, times and mutation ids are words.
    fileprivate var isPartOfWord: Bool {
        isLetter || isNumber || self == "_" || self == "." || self == "-" || self == "+"
            || self == ":" || self == "@" || self == "$" || self == "/"
    }
}
