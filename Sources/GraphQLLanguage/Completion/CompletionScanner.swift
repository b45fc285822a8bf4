/// Reads the tokens before a place, and keeps what they say of it. Mistakes are passed over as far as they can be.
struct CompletionScanner {
    typealias Suggestion = DocumentCompletion.Suggestion

    /// What the innermost bracket that is open holds.
    private enum Frame {
        case selections(of: NamedType?)
        case variables
        case arguments([SchemaInputValue])
        /// The fields of an input object.
        case fields(of: NamedType?)
        /// The elements of a list.
        case elements(WrappedType?)
    }

    /// What a word at the place is.
    private enum Word {
        /// Whatever the innermost bracket holds.
        case plain
        /// After `...`
        case spread
        /// After `on`
        case typeCondition
        /// After `@`
        case directive
        /// After `$`
        case variable
        /// After the `:` of an argument or input field.
        case value(WrappedType?)
        /// After the `:` of a variable.
        case variableType
        /// After a definition's keyword: a name that nobody can know.
        case newName
        /// After that name: nothing, but for the `on` of a fragment.
        case head(isFragment: Bool)
    }

    private let schema: Schema
    private let source: Source
    private var frames: [Frame] = []
    private var word = Word.plain
    /// The type of what a `{` opens.
    private var subject: NamedType?
    /// What a `(` opens.
    private var arguments: [SchemaInputValue]?
    /// Where a directive would stand.
    private var location: DirectiveLocation?
    /// Where one would stand in the head of the definition.
    private var headLocation: DirectiveLocation?
    /// The argument or input field whose value comes after a colon.
    private var input: SchemaInputValue?
    /// The names of arguments or fields that the innermost bracket has already.
    private var given: [Set<String>] = []
    /// The variables of the operation, with their types as written.
    private var variables: [(name: String, type: String)] = []
    /// Whether the definition that is read is a fragment.
    private var isFragment = false
    /// How deep brackets may be.
    private static let depthLimit = 200

    init(_ schema: Schema, _ source: Source) {
        self.schema = schema
        self.source = source
    }

    /// - Returns: false if the place is in a string or a comment, or after what is no GraphQL.
    mutating func scan(to end: Int) -> Bool {
        source.bytes.withUnsafeBufferPointer { bytes in
            var lexer = Lexer(source: source, bytes: UnsafeBufferPointer(rebasing: bytes[..<end]))
            var last = lexer.token
            do throws(DocumentError) {
                while true {
                    try lexer.advance()
                    guard lexer.token.kind != .endOfFile else { break }
                    last = lexer.token
                    let text = lexer.text(from: last.start, to: last.end)
                    guard take(last.kind, text) else { return false }
                }
            } catch {
                return false
            }
            // After the last token there are only spaces and comments.
            let rest = bytes[last.end..<end].split(
                omittingEmptySubsequences: false,
                whereSeparator: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") })
            return !(rest.last?.contains(UInt8(ascii: "#")) ?? false)
        }
    }

    // MARK: Tokens

    private mutating func take(_ kind: TokenKind, _ text: String) -> Bool {
        // Elements follow each other without names.
        defer {
            if case (.plain, .elements(let type)) = (word, frames.last) { word = .value(type) }
        }
        switch kind {
        case .name: take(name: text)
        case .leftBrace, .leftBracket, .leftParenthesis:
            guard frames.count < Self.depthLimit else { return false }
            open(kind)
        case .rightBrace, .rightBracket, .rightParenthesis:
            guard let closed = frames.popLast() else { return false }
            given.removeLast()
            if case .variables = closed {
                if kind == .rightBracket { addToVariableType("]") } else { location = headLocation }
            }
            word = .plain
            // What an argument's value closes says nothing of the field's selections.
            if case .selections = closed { subject = nil }
            if kind == .rightParenthesis { arguments = nil }
        case .spread:
            // Without a name it is an inline fragment on the same type.
            subject = parent
            location = .inlineFragment
            word = .spread
        case .at: word = .directive
        case .dollar:
            if isInVariables { location = .variableDefinition }
            word = .variable
        case .colon: takeColon()
        case .bang: addToVariableType("!")
        case .equals: word = .value(variableType)
        default: word = .plain
        }
        return true
    }

    private mutating func addToVariableType(_ text: String) {
        if isInVariables, !variables.isEmpty { variables[variables.count - 1].type += text }
    }

    /// The type of the variable that was read last.
    private var variableType: WrappedType? {
        guard isInVariables, let type = variables.last?.type else { return nil }
        return (try? TypeReference(parsing: type)).flatMap { schema.resolve($0) }
    }

    private mutating func open(_ kind: TokenKind) {
        switch kind {
        case .leftBrace:
            switch frames.last {
            case nil:
                frames.append(.selections(of: subject ?? schema.rootType(of: .query)))
                subject = nil
            case .selections:
                frames.append(.selections(of: subject))
                subject = nil
            default: frames.append(.fields(of: valueType.map { schema[$0.namedType] }))
            }
        case .leftBracket:
            if case .value(let type) = word {
                frames.append(.elements(type?.listItem))
            } else {
                addToVariableType("[")
                frames.append(.variables)
                given.append([])
                return
            }
        default: frames.append(arguments.map(Frame.arguments) ?? .variables)
        }
        given.append([])
        word = .plain
    }

    /// The type of a value at the place.
    private var valueType: WrappedType? {
        if case .value(let type) = word { type } else { nil }
    }

    private mutating func takeColon() {
        switch frames.last {
        case .variables: word = .variableType
        case .arguments, .fields: word = .value(input?.type)
        // What came before was an alias.
        case .selections, .elements, nil: word = .plain
        }
    }

    private mutating func take(name: String) {
        switch word {
        case .spread where name == "on":
            return word = .typeCondition
        case .spread:
            subject = nil
            location = .fragmentSpread
        case .typeCondition:
            subject = schema.type(named: name)
            location = frames.isEmpty ? .fragmentDefinition : .inlineFragment
        case .directive:
            arguments = schema.directive(named: name)?.arguments ?? []
        case .variable:
            if isInVariables { variables.append((name, "")) }
        case .variableType:
            addToVariableType(name)
        case .newName:
            return word = .head(isFragment: isFragment)
        case .head where name == "on":
            return word = .typeCondition
        case .value, .head: break
        case .plain: return takePlain(name)
        }
        word = .plain
    }

    private mutating func takePlain(_ name: String) {
        switch frames.last {
        case nil:
            variables = []
            arguments = nil
            isFragment = name == "fragment"
            subject = OperationType(rawValue: name).flatMap { schema.rootType(of: $0) }
            headLocation = DirectiveLocation(rawValue: name.uppercased())
            location = headLocation
            word = .newName
        case .selections(let parent):
            let field = parent.flatMap { schema.field(name, on: $0) }
            subject = field.map { schema[$0.namedType] }
            arguments = field?.arguments ?? []
            location = .field
        case .arguments(let arguments):
            input = arguments.first { $0.name == name }
            given[given.count - 1].insert(name)
        case .fields(let type):
            input = type?.inputField(name)
            given[given.count - 1].insert(name)
        case .variables, .elements: break
        }
    }

    // MARK: Suggestions

    func suggestions() -> [Suggestion] {
        switch word {
        case .newName: []
        case .head(let isFragment): isFragment ? [Suggestion("on", "type condition")] : []
        case .spread: [Suggestion("on", "type condition")] + fragments()
        case .typeCondition: types { $0.kind.isComposite && canBeHere($0) }
        case .variableType: types { $0.kind.isInput }
        case .directive: directives()
        case .variable: isInVariables ? [] : variables.map { Suggestion($0.name, $0.type) }
        case .value(let type): values(of: type)
        case .plain: plain()
        }
    }

    private var isInVariables: Bool {
        if case .variables = frames.last { true } else { false }
    }

    private var parent: NamedType? {
        if case .selections(let parent) = frames.last { parent } else { nil }
    }

    private func canBeHere(_ type: NamedType) -> Bool {
        parent.map { schema.overlap(type.id, $0.id) } ?? true
    }

    private func plain() -> [Suggestion] {
        switch frames.last {
        case nil:
            OperationType.allCases.filter { schema.rootType(of: $0) != nil }
                .map { Suggestion($0.rawValue, "operation") } + [Suggestion("fragment", "fragment")]
        case .selections(let parent): parent.map(fields) ?? []
        case .arguments(let arguments): names(of: arguments)
        case .fields(let type): type.map { names(of: $0.inputFields) } ?? []
        case .variables, .elements: []
        }
    }

    private func fields(of parent: NamedType) -> [Suggestion] {
        var fields = parent.fields
        if parent.kind.isComposite { fields.append(schema.typenameField) }
        if parent.id == schema.queryType { fields += [schema.schemaField, schema.typeField] }
        return fields.map {
            Suggestion(
                $0.name, schema.print($0.type), $0.description,
                isDeprecated: $0.deprecationReason != nil)
        }
    }

    private func names(of inputs: [SchemaInputValue]) -> [Suggestion] {
        inputs.filter { !given[given.count - 1].contains($0.name) }.map {
            Suggestion(
                $0.name + ": ", schema.print($0.type), $0.description,
                isDeprecated: $0.deprecationReason != nil)
        }
    }

    private func values(of type: WrappedType?) -> [Suggestion] {
        guard let type else { return [] }
        let named = schema[type.namedType]
        var values = named.values.map {
            Suggestion(
                $0.name, named.name, $0.description, isDeprecated: $0.deprecationReason != nil)
        }
        if named.name == "Boolean" {
            values += ["true", "false"].map { Suggestion($0, "Boolean") }
        }
        let written = schema.print(type)
        // Not in the variables' own defaults.
        let isDefault = frames.contains { if case .variables = $0 { true } else { false } }
        if !isDefault {
            values += variables.filter { $0.type.nullable == written.nullable }.map {
                Suggestion("$" + $0.name, $0.type)
            }
        }
        if !type.isNonNull { values.append(Suggestion("null", written)) }
        return values
    }

    private func directives() -> [Suggestion] {
        schema.directiveDefinitions.filter { directive in
            directive.locations.contains { place in
                location.map { place == $0 } ?? place.isExecutable
            }
        }
        .map { Suggestion($0.name, "directive", $0.description) }
    }

    private func types(where isFitting: (NamedType) -> Bool) -> [Suggestion] {
        schema.types.filter { !schema.isHidden($0.id) && !$0.name.hasPrefix("__") && isFitting($0) }
            .map { Suggestion($0.name, $0.kind.words, $0.description) }
    }

    /// The fragments of the document that may be spread here.
    private func fragments() -> [Suggestion] {
        source.bytes.withUnsafeBufferPointer { bytes in
            var lexer = Lexer(source: source, bytes: bytes)
            var last: [String] = []
            var found: [Suggestion] = []
            while (try? lexer.advance()) != nil, lexer.token.kind != .endOfFile {
                let token = lexer.token
                last = last.suffix(3) + [lexer.text(from: token.start, to: token.end)]
                guard last.count == 4, last[0] == "fragment", last[2] == "on" else { continue }
                if schema.type(named: last[3]).map(canBeHere) ?? false {
                    found.append(Suggestion(last[1], "fragment on \(last[3])"))
                }
            }
            return found
        }
    }
}

extension String {
    /// A type as written, without the signs that it is never null.
    fileprivate var nullable: String { filter { $0 != "!" } }
}
