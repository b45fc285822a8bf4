// GraphQL §2.6 and §2.9 to §2.13: arguments, values, types, directives, descriptions.

extension Parser {
    mutating func parseArguments(isConstant: Bool) throws(DocumentError) -> [Argument] {
        try optionalMany(.leftParenthesis, .rightParenthesis) {
            (parser: inout Parser) throws(DocumentError) in
            let name = try parser.parseName()
            try parser.expect(.colon)
            return Argument(name: name, value: try parser.parseValue(isConstant: isConstant))
        }
    }

    mutating func parseDirectives(isConstant: Bool) throws(DocumentError) -> [Directive] {
        guard peek(.at) else { return [] }
        var directives: [Directive] = []
        repeat {
            let start = location
            try advance()
            let name = try parseName()
            directives.append(
                Directive(
                    name: name, arguments: try parseArguments(isConstant: isConstant),
                    location: start))
        } while peek(.at)
        return directives
    }

    mutating func parseDescription() throws(DocumentError) -> StringLiteral? {
        guard peek(.string) || peek(.blockString) else { return nil }
        let description = StringLiteral(
            lexer.stringValue, isBlock: peek(.blockString), location: location)
        try advance()
        return description
    }

    // MARK: Values

    /// - Parameter isConstant: rejects variables, as type-system documents and defaults do.
    mutating func parseValue(isConstant: Bool) throws(DocumentError) -> Value {
        let start = location
        let token = token
        let kind: Value.Kind
        switch token.kind {
        case .leftBracket: return try parseList(isConstant: isConstant)
        case .leftBrace: return try parseObject(isConstant: isConstant)
        case .dollar: return try parseVariable(isConstant: isConstant)
        case .int: kind = .int(lexer.text(from: token.start, to: token.end))
        case .float: kind = .float(lexer.text(from: token.start, to: token.end))
        case .string: kind = .string(lexer.stringValue, isBlock: false)
        case .blockString: kind = .string(lexer.stringValue, isBlock: true)
        case .name:
            if peek(keyword: "true") {
                kind = .boolean(true)
            } else if peek(keyword: "false") {
                kind = .boolean(false)
            } else if peek(keyword: "null") {
                kind = .null
            } else {
                kind = .enum(lexer.text(from: token.start, to: token.end))
            }
        default: throw unexpected()
        }
        try advance()
        return Value(kind, location: start)
    }

    private mutating func parseList(isConstant: Bool) throws(DocumentError) -> Value {
        let start = location
        return try nested { (parser: inout Parser) throws(DocumentError) in
            let values = try parser.any(.leftBracket, .rightBracket) {
                (parser: inout Parser) throws(DocumentError) in
                try parser.parseValue(isConstant: isConstant)
            }
            return Value(.list(values), location: start)
        }
    }

    private mutating func parseObject(isConstant: Bool) throws(DocumentError) -> Value {
        let start = location
        return try nested { (parser: inout Parser) throws(DocumentError) in
            let fields = try parser.any(.leftBrace, .rightBrace) {
                (parser: inout Parser) throws(DocumentError) in
                let name = try parser.parseName()
                try parser.expect(.colon)
                return ObjectField(
                    name: name, value: try parser.parseValue(isConstant: isConstant))
            }
            return Value(.object(fields), location: start)
        }
    }

    private mutating func parseVariable(isConstant: Bool) throws(DocumentError) -> Value {
        let dollar = token
        let start = location
        try advance()
        if isConstant {
            guard peek(.name) else { throw unexpected(dollar) }
            throw syntaxError(
                "Unexpected variable \"$\(try parseName().value)\" in constant value.",
                at: dollar.start)
        }
        return Value(.variable(try parseName().value), location: start)
    }

    // MARK: Types

    mutating func parseTypeReference() throws(DocumentError) -> TypeReference {
        let start = location
        let type: TypeReference
        if try skip(.leftBracket) {
            let inner = try nested { (parser: inout Parser) throws(DocumentError) in
                try parser.parseTypeReference()
            }
            try expect(.rightBracket)
            type = .list(inner, location: start)
        } else {
            type = .named(try parseName())
        }
        return try skip(.bang) ? .nonNull(type) : type
    }
}
