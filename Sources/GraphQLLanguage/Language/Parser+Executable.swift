// GraphQL §2.2 to §2.8: definitions, operations, selection sets, fragments.

extension Parser {
    mutating func parseDefinitions() throws(DocumentError) -> [Definition] {
        var definitions: [Definition] = []
        repeat { definitions.append(try parseDefinition()) } while !peek(.endOfFile)
        return definitions
    }

    private mutating func parseDefinition() throws(DocumentError) -> Definition {
        let offset = token.start
        let start = location
        if peek(.leftBrace) { return .operation(try parseShorthandQuery()) }
        let description = try parseDescription()
        if description != nil, peek(.leftBrace) {
            throw syntaxError(
                "Unexpected description, descriptions are not supported on shorthand queries.",
                at: offset)
        }
        guard peek(.name) else { throw unexpected() }
        if peek(keyword: "fragment") {
            return .fragment(try parseFragmentDefinition(description, start))
        }
        if let operation = peekOperationType() {
            return .operation(try parseOperationDefinition(operation, description, start))
        }
        if let definition = try parseTypeSystemDefinition(
            isExtension: false, description: description, location: start)
        {
            return definition
        }
        if description != nil {
            throw syntaxError(
                "Unexpected description, only GraphQL definitions support descriptions.",
                at: offset)
        }
        guard peek(keyword: "extend") else { throw unexpected() }
        return try parseTypeSystemExtension()
    }

    // MARK: Operations

    func peekOperationType() -> OperationType? {
        if peek(keyword: "query") { return .query }
        if peek(keyword: "mutation") { return .mutation }
        if peek(keyword: "subscription") { return .subscription }
        return nil
    }

    private mutating func parseShorthandQuery() throws(DocumentError) -> OperationDefinition {
        let start = location
        return OperationDefinition(
            description: nil, operation: .query, name: nil, variables: [], directives: [],
            selectionSet: try parseSelectionSet(), location: start)
    }

    private mutating func parseOperationDefinition(
        _ operation: OperationType, _ description: StringLiteral?, _ start: Int
    ) throws(DocumentError) -> OperationDefinition {
        try advance()
        let name = peek(.name) ? try parseName() : nil
        let variables = try optionalMany(.leftParenthesis, .rightParenthesis) {
            (parser: inout Parser) throws(DocumentError) in
            try parser.parseVariableDefinition()
        }
        return OperationDefinition(
            description: description, operation: operation, name: name, variables: variables,
            directives: try parseDirectives(isConstant: false),
            selectionSet: try parseSelectionSet(), location: start)
    }

    private mutating func parseVariableDefinition() throws(DocumentError) -> VariableDefinition {
        let start = location
        let description = try parseDescription()
        try expect(.dollar)
        let name = try parseName()
        try expect(.colon)
        let type = try parseTypeReference()
        let defaultValue = try skip(.equals) ? try parseValue(isConstant: true) : nil
        return VariableDefinition(
            description: description, name: name, type: type, defaultValue: defaultValue,
            directives: try parseDirectives(isConstant: true), location: start)
    }

    // MARK: Selections

    mutating func parseSelectionSet() throws(DocumentError) -> SelectionSet {
        let start = location
        return try nested { (parser: inout Parser) throws(DocumentError) in
            let selections = try parser.many(.leftBrace, .rightBrace, reserving: 4) {
                (parser: inout Parser) throws(DocumentError) in
                try parser.parseSelection()
            }
            return SelectionSet(selections: selections, location: start)
        }
    }

    private mutating func parseSelection() throws(DocumentError) -> Selection {
        peek(.spread) ? try parseSpread() : .field(try parseField())
    }

    private mutating func parseField() throws(DocumentError) -> Field {
        var name = try parseName()
        var alias: Name?
        if try skip(.colon) {
            alias = name
            name = try parseName()
        }
        return Field(
            alias: alias, name: name, arguments: try parseArguments(isConstant: false),
            directives: try parseDirectives(isConstant: false),
            selectionSet: peek(.leftBrace) ? try parseSelectionSet() : nil)
    }

    /// What starts with `...`: a fragment's name, or an inline fragment.
    private mutating func parseSpread() throws(DocumentError) -> Selection {
        let start = location
        try advance()
        let hasTypeCondition = try skip(keyword: "on")
        if !hasTypeCondition, peek(.name) {
            return .fragmentSpread(
                FragmentSpread(
                    name: try parseName(), directives: try parseDirectives(isConstant: false),
                    location: start))
        }
        return .inlineFragment(
            InlineFragment(
                typeCondition: hasTypeCondition ? try parseName() : nil,
                directives: try parseDirectives(isConstant: false),
                selectionSet: try parseSelectionSet(), location: start))
    }

    // MARK: Fragments

    private mutating func parseFragmentDefinition(
        _ description: StringLiteral?, _ start: Int
    ) throws(DocumentError) -> FragmentDefinition {
        try advance()
        if peek(keyword: "on") { throw unexpected() }  // GraphQL §2.8: FragmentName is not `on`
        let name = try parseName()
        try expect(keyword: "on")
        return FragmentDefinition(
            description: description, name: name, typeCondition: try parseName(),
            directives: try parseDirectives(isConstant: false),
            selectionSet: try parseSelectionSet(), location: start)
    }
}
