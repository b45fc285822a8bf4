// GraphQL §3: schemas, types, directives, and extensions of the first two.

extension Parser {
    /// Parses the definition or extension whose keyword is the current token; nil if it is not a
    /// keyword of the type system. A directive definition cannot be extended.
    mutating func parseTypeSystemDefinition(
        isExtension: Bool, description: StringLiteral?, location: Int
    ) throws(DocumentError) -> Definition? {
        if peek(keyword: "schema") {
            return .schema(try parseSchemaDefinition(isExtension, description, location))
        }
        if !isExtension, peek(keyword: "directive") {
            return .directive(try parseDirectiveDefinition(description, location))
        }
        guard let kind = peekTypeKind() else { return nil }
        try advance()
        return .type(try parseTypeDefinition(kind, isExtension, description, location))
    }

    mutating func parseTypeSystemExtension() throws(DocumentError) -> Definition {
        let start = location
        try expect(keyword: "extend")
        guard
            let definition = try parseTypeSystemDefinition(
                isExtension: true, description: nil, location: start)
        else { throw unexpected() }
        return definition
    }

    // MARK: Schema

    private mutating func parseSchemaDefinition(
        _ isExtension: Bool, _ description: StringLiteral?, _ location: Int
    ) throws(DocumentError) -> SchemaDefinition {
        try expect(keyword: "schema")
        let directives = try parseDirectives(isConstant: true)
        // Only an extension may omit operation types, and it must not be empty.
        let operationTypes =
            isExtension && !peek(.leftBrace)
            ? [] : try many(.leftBrace, .rightBrace, Parser.parseOperationTypeDefinition)
        if isExtension, directives.isEmpty, operationTypes.isEmpty { throw unexpected() }
        return SchemaDefinition(
            isExtension: isExtension, description: description, directives: directives,
            operationTypes: operationTypes, location: location)
    }

    private static func parseOperationTypeDefinition(
        _ parser: inout Parser
    ) throws(DocumentError) -> OperationTypeDefinition {
        let start = parser.location
        guard let operation = parser.peekOperationType() else {
            throw parser.peek(.name)
                ? parser.unexpected()
                : parser.syntaxError("Expected Name, found \(parser.describe(parser.token)).")
        }
        try parser.advance()
        try parser.expect(.colon)
        return OperationTypeDefinition(
            operation: operation, type: try parser.parseName(), location: start)
    }

    // MARK: Types

    private enum TypeKeyword {
        case scalar, type, interface, union, `enum`, input
    }

    private func peekTypeKind() -> TypeKeyword? {
        if peek(keyword: "type") { return .type }
        if peek(keyword: "input") { return .input }
        if peek(keyword: "interface") { return .interface }
        if peek(keyword: "enum") { return .enum }
        if peek(keyword: "union") { return .union }
        if peek(keyword: "scalar") { return .scalar }
        return nil
    }

    /// What follows the keyword. An extension must add something.
    private mutating func parseTypeDefinition(
        _ keyword: TypeKeyword, _ isExtension: Bool, _ description: StringLiteral?, _ location: Int
    ) throws(DocumentError) -> TypeDefinition {
        let name = try parseName()
        let interfaces =
            keyword == .type || keyword == .interface ? try parseImplementsInterfaces() : []
        let directives = try parseDirectives(isConstant: true)
        let (body, isEmpty) = try parseBody(of: keyword, interfaces)
        if isExtension, isEmpty, directives.isEmpty { throw unexpected() }
        return TypeDefinition(
            isExtension: isExtension, description: description, name: name,
            directives: directives, body: body, location: location)
    }

    private mutating func parseBody(
        of keyword: TypeKeyword, _ interfaces: [Name]
    ) throws(DocumentError) -> (body: TypeDefinition.Body, isEmpty: Bool) {
        switch keyword {
        case .scalar:
            return (.scalar, true)
        case .type:
            let fields = try parseFieldDefinitions()
            return (
                .object(interfaces: interfaces, fields: fields),
                interfaces.isEmpty && fields.isEmpty
            )
        case .interface:
            let fields = try parseFieldDefinitions()
            return (
                .interface(interfaces: interfaces, fields: fields),
                interfaces.isEmpty && fields.isEmpty
            )
        case .union:
            let members =
                try skip(.equals)
                ? try separated(by: .pipe) { (parser: inout Parser) throws(DocumentError) in
                    try parser.parseName()
                } : []
            return (.union(members: members), members.isEmpty)
        case .enum:
            let values = try optionalMany(
                .leftBrace, .rightBrace, Parser.parseEnumValueDefinition)
            return (.enum(values: values), values.isEmpty)
        case .input:
            let fields = try optionalMany(
                .leftBrace, .rightBrace, Parser.parseInputValueDefinition)
            return (.inputObject(fields: fields), fields.isEmpty)
        }
    }

    private mutating func parseImplementsInterfaces() throws(DocumentError) -> [Name] {
        guard try skip(keyword: "implements") else { return [] }
        return try separated(by: .ampersand) { (parser: inout Parser) throws(DocumentError) in
            try parser.parseName()
        }
    }

    private mutating func parseFieldDefinitions() throws(DocumentError) -> [FieldDefinition] {
        try optionalMany(.leftBrace, .rightBrace) {
            (parser: inout Parser) throws(DocumentError) in
            let start = parser.location
            let description = try parser.parseDescription()
            let name = try parser.parseName()
            let arguments = try parser.parseArgumentDefinitions()
            try parser.expect(.colon)
            return FieldDefinition(
                description: description, name: name, arguments: arguments,
                type: try parser.parseTypeReference(),
                directives: try parser.parseDirectives(isConstant: true), location: start)
        }
    }

    private mutating func parseArgumentDefinitions() throws(DocumentError) -> [InputValueDefinition]
    {
        try optionalMany(.leftParenthesis, .rightParenthesis, Parser.parseInputValueDefinition)
    }

    private static func parseInputValueDefinition(
        _ parser: inout Parser
    ) throws(DocumentError) -> InputValueDefinition {
        let start = parser.location
        let description = try parser.parseDescription()
        let name = try parser.parseName()
        try parser.expect(.colon)
        let type = try parser.parseTypeReference()
        let defaultValue =
            try parser.skip(.equals) ? try parser.parseValue(isConstant: true) : nil
        return InputValueDefinition(
            description: description, name: name, type: type, defaultValue: defaultValue,
            directives: try parser.parseDirectives(isConstant: true), location: start)
    }

    private static func parseEnumValueDefinition(
        _ parser: inout Parser
    ) throws(DocumentError) -> EnumValueDefinition {
        let start = parser.location
        let description = try parser.parseDescription()
        // GraphQL §2.9.6: EnumValue is a Name but not true, false or null.
        if parser.peek(keyword: "true") || parser.peek(keyword: "false")
            || parser.peek(keyword: "null")
        {
            throw parser.syntaxError(
                "\(parser.describe(parser.token)) is reserved and cannot be used for an enum value."
            )
        }
        return EnumValueDefinition(
            description: description, name: try parser.parseName(),
            directives: try parser.parseDirectives(isConstant: true), location: start)
    }

    // MARK: Directives

    private mutating func parseDirectiveDefinition(
        _ description: StringLiteral?, _ location: Int
    ) throws(DocumentError) -> DirectiveDefinition {
        try expect(keyword: "directive")
        try expect(.at)
        let name = try parseName()
        let arguments = try parseArgumentDefinitions()
        let isRepeatable = try skip(keyword: "repeatable")
        try expect(keyword: "on")
        let locations = try separated(by: .pipe) { (parser: inout Parser) throws(DocumentError) in
            let token = parser.token
            let name = try parser.parseName()
            guard let location = DirectiveLocation(rawValue: name.value) else {
                throw parser.unexpected(token)
            }
            return location
        }
        return DirectiveDefinition(
            description: description, name: name, arguments: arguments,
            isRepeatable: isRepeatable, locations: locations, location: location)
    }
}
