/// How much of a document is read before it is rejected.
package struct ParseLimits: Sendable {
    /// Tokens in the document.
    package var maximumTokens: Int
    /// Selection sets, lists and objects inside one another. The parser and everything after it
    /// recurse this deep, so the number also bounds the stack.
    package var maximumDepth: Int

    package init(maximumTokens: Int = .max, maximumDepth: Int = 200) {
        self.maximumTokens = maximumTokens
        self.maximumDepth = maximumDepth
    }
}

extension Document {
    /// Parses an executable or type-system document, or a mixture (GraphQL §2.2).
    ///
    /// - Throws: the first syntax error, with the text and the location that graphql-js gives; or
    ///   an error with the code `LIMIT_EXCEEDED`.
    package init(
        parsing source: Source, limits: ParseLimits = ParseLimits()
    ) throws(DocumentError) {
        let (definitions, tokenCount) = try Parser.parse(source, limits) {
            (parser: inout Parser) throws(DocumentError) in
            (try parser.parseDefinitions(), parser.tokenCount)
        }
        self.init(source: source, definitions: definitions, tokenCount: tokenCount)
    }

    package init(
        parsing text: String, limits: ParseLimits = ParseLimits()
    ) throws(DocumentError) {
        try self.init(parsing: Source(text), limits: limits)
    }
}

extension Value {
    /// Parses a standalone constant value, such as a default value in introspection.
    package init(parsing text: String) throws(DocumentError) {
        self = try Parser.parse(Source(text), ParseLimits()) {
            (parser: inout Parser) throws(DocumentError) in
            try parser.parseValue(isConstant: true)
        }
    }
}

extension TypeReference {
    /// Parses a standalone type reference, such as `[Todo!]!`.
    package init(parsing text: String) throws(DocumentError) {
        self = try Parser.parse(Source(text), ParseLimits()) {
            (parser: inout Parser) throws(DocumentError) in
            try parser.parseTypeReference()
        }
    }
}

/// A recursive-descent parser with one token of look-ahead. This file has what all grammar rules
/// build on; the rules are in the extensions.
struct Parser {
    private(set) var lexer: Lexer
    private let limits: ParseLimits
    private let base: Int
    private(set) var tokenCount = 0
    private var depth = 0

    private init(lexer: Lexer, limits: ParseLimits) {
        self.lexer = lexer
        self.limits = limits
        self.base = lexer.source.base
    }

    /// Runs `rule` over the whole source: nothing may follow what it parses.
    static func parse<Node>(
        _ source: Source, _ limits: ParseLimits,
        _ rule: (inout Parser) throws(DocumentError) -> Node
    ) throws(DocumentError) -> Node {
        let result = source.bytes.withUnsafeBufferPointer { bytes -> Result<Node, DocumentError> in
            do throws(DocumentError) {
                var parser = Parser(lexer: Lexer(source: source, bytes: bytes), limits: limits)
                try parser.advance()
                let node = try rule(&parser)
                try parser.expect(.endOfFile)
                return .success(node)
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    // MARK: The current token

    @inline(__always)
    var token: Token { lexer.token }

    /// Where a node starts whose first token is the current one.
    @inline(__always)
    var location: Int { base + lexer.token.start }

    @inline(__always)
    func peek(_ kind: TokenKind) -> Bool { lexer.token.kind == kind }

    mutating func advance() throws(DocumentError) {
        try lexer.advance()
        guard lexer.token.kind != .endOfFile else { return }
        tokenCount += 1
        if tokenCount > limits.maximumTokens {
            throw limitError("Document contains more than \(limits.maximumTokens) tokens.")
        }
    }

    mutating func expect(_ kind: TokenKind) throws(DocumentError) {
        guard peek(kind) else {
            throw syntaxError("Expected \(kind.description), found \(describe(token)).")
        }
        if kind != .endOfFile { try advance() }
    }

    /// Skips the next token if it is of this kind.
    mutating func skip(_ kind: TokenKind) throws(DocumentError) -> Bool {
        guard peek(kind) else { return false }
        try advance()
        return true
    }

    // MARK: Keywords and names

    /// Whether the current token is this name. Keywords are names; only their place makes them keywords.
    @inline(__always)
    func peek(keyword: StaticString) -> Bool {
        guard token.kind == .name, token.end - token.start == keyword.utf8CodeUnitCount else {
            return false
        }
        for offset in 0..<keyword.utf8CodeUnitCount
        where lexer.bytes[token.start + offset] != keyword.utf8Start[offset] {
            return false
        }
        return true
    }

    mutating func skip(keyword: StaticString) throws(DocumentError) -> Bool {
        guard peek(keyword: keyword) else { return false }
        try advance()
        return true
    }

    mutating func expect(keyword: StaticString) throws(DocumentError) {
        guard try skip(keyword: keyword) else {
            throw syntaxError("Expected \"\(keyword)\", found \(describe(token)).")
        }
    }

    mutating func parseName() throws(DocumentError) -> Name {
        guard peek(.name) else {
            throw syntaxError("Expected Name, found \(describe(token)).")
        }
        let name = Name(lexer.text(from: token.start, to: token.end), location: location)
        try advance()
        return name
    }

    // MARK: Repetition

    /// `open item* close`.
    @inline(__always)
    mutating func any<Node>(
        _ open: TokenKind, _ close: TokenKind,
        _ item: (inout Parser) throws(DocumentError) -> Node
    ) throws(DocumentError) -> [Node] {
        try expect(open)
        var nodes: [Node] = []
        while !peek(close) { nodes.append(try item(&self)) }
        try advance()
        return nodes
    }

    /// `open item+ close`, with room for as many as there usually are.
    @inline(__always)
    mutating func many<Node>(
        _ open: TokenKind, _ close: TokenKind, reserving capacity: Int = 2,
        _ item: (inout Parser) throws(DocumentError) -> Node
    ) throws(DocumentError) -> [Node] {
        try expect(open)
        var nodes: [Node] = []
        nodes.reserveCapacity(capacity)
        repeat { nodes.append(try item(&self)) } while !peek(close)
        try advance()
        return nodes
    }

    /// Like `many`, or nothing at all.
    @inline(__always)
    mutating func optionalMany<Node>(
        _ open: TokenKind, _ close: TokenKind,
        _ item: (inout Parser) throws(DocumentError) -> Node
    ) throws(DocumentError) -> [Node] {
        peek(open) ? try many(open, close, item) : []
    }

    /// `separator? item (separator item)*`.
    mutating func separated<Node>(
        by separator: TokenKind, _ item: (inout Parser) throws(DocumentError) -> Node
    ) throws(DocumentError) -> [Node] {
        _ = try skip(separator)
        var nodes = [try item(&self)]
        while try skip(separator) { nodes.append(try item(&self)) }
        return nodes
    }

    /// Runs a rule that can contain itself, one level deeper.
    @inline(__always)
    mutating func nested<Node>(
        _ rule: (inout Parser) throws(DocumentError) -> Node
    ) throws(DocumentError) -> Node {
        depth += 1
        if depth > limits.maximumDepth {
            throw limitError("Document nests deeper than \(limits.maximumDepth) levels.")
        }
        let node = try rule(&self)
        depth -= 1
        return node
    }

    // MARK: Errors

    func syntaxError(_ message: String, at offset: Int? = nil) -> DocumentError {
        lexer.syntaxError(message, at: offset ?? token.start)
    }

    /// The current token is not allowed here.
    func unexpected() -> DocumentError { unexpected(token) }

    func unexpected(_ token: Token) -> DocumentError {
        syntaxError("Unexpected \(describe(token)).", at: token.start)
    }

    private func limitError(_ reason: String) -> DocumentError {
        DocumentError(
            "Syntax Error: \(reason) Parsing aborted.",
            locations: [lexer.source.location(at: location)], code: DocumentError.limitExceeded)
    }

    /// The token as shown in messages: its kind, and its value if it has one.
    func describe(_ token: Token) -> String {
        switch token.kind {
        case .name, .int, .float:
            "\(token.kind.description) \"\(lexer.text(from: token.start, to: token.end))\""
        case .string, .blockString: "\(token.kind.description) \"\(lexer.stringValue)\""
        default: token.kind.description
        }
    }
}
