import GraphQLLanguage

/// One operation and the fragments it needs, ready for the server except for Relay's directives.
struct CompleteOperation {
    var operation: OperationDefinition
    /// Each name once.
    var fragments: [FragmentDefinition]
}

/// Specializes fragments with arguments: every distinct set of arguments produces a separate
/// fragment, with the values in place of its variables, because the server only knows an operation's
/// variables.
struct FragmentArguments {
    private let context: DocumentContext
    private var fragments: [String: FragmentDefinition] = [:]
    /// Names of fragments being specialized, to detect cycles.
    private var open: Set<String> = []

    /// - Throws: for an unknown fragment or argument, and for fragments that spread themselves.
    static func applied(
        to operation: OperationDefinition, in context: DocumentContext
    ) throws(RelayDocumentErrors) -> CompleteOperation {
        var transform = FragmentArguments(context: context)
        let selections = try transform.selections(operation.selectionSet.selections, nil)
        return CompleteOperation(
            operation: operation.with(selections: selections),
            fragments: transform.fragments.sorted { $0.key < $1.key }.map(\.value))
    }

    private init(context: DocumentContext) { self.context = context }

    /// The values of the variables that a fragment declares. nil if no value is given.
    private typealias Scope = [String: Value?]

    private mutating func selections(
        _ selections: [Selection], _ scope: Scope?
    ) throws(RelayDocumentErrors) -> [Selection] {
        var result: [Selection] = []
        for selection in selections {
            switch selection {
            case .field(let field):
                var inner: [Selection]?
                if let set = field.selectionSet {
                    inner = try self.selections(set.selections, scope)
                }
                result.append(
                    .field(
                        field.with(
                            arguments: arguments(field.arguments, scope),
                            directives: directives(field.directives, scope), selections: inner)))
            case .inlineFragment(let fragment):
                let inner = try self.selections(fragment.selectionSet.selections, scope)
                result.append(
                    .inlineFragment(
                        fragment.with(
                            directives: directives(fragment.directives, scope), selections: inner)))
            case .fragmentSpread(let spread):
                result.append(.fragmentSpread(try specialized(spread, scope)))
            }
        }
        return result
    }

    private mutating func specialized(
        _ spread: FragmentSpread, _ scope: Scope?
    ) throws(RelayDocumentErrors) -> FragmentSpread {
        let fragment = try context.fragment(spread)
        let declared = fragment.directives.named("argumentDefinitions")?.arguments ?? []
        let given = arguments(spread.directives.named("arguments")?.arguments ?? [], scope)
        for argument in given
        where !declared.contains(where: { $0.name.value == argument.name.value }) {
            throw context.error(
                "Fragment \"\(fragment.name.value)\" has no argument \"\(argument.name.value)\".",
                at: argument.location)
        }
        var inner: Scope = [:]
        for definition in declared {
            let name = definition.name.value
            inner[name] = .some(
                given.first { $0.name.value == name }?.value
                    ?? ArgumentDeclaration(definition)?.defaultValue)
        }
        let name = Self.name(of: fragment, given)
        if fragments[name] == nil {
            guard open.insert(name).inserted else {
                throw context.error(
                    "Cannot spread fragment \"\(fragment.name.value)\" within itself.",
                    at: spread.location)
            }
            fragments[name] = fragment.with(
                name: name, selections: try selections(fragment.selectionSet.selections, inner))
            open.remove(name)
        }
        return FragmentSpread(
            name: Name(name, location: spread.name.location),
            directives: directives(
                spread.directives.filter { $0.name.value != "arguments" }, scope),
            location: spread.location)
    }

    /// A fragment with arguments gets a name derived from them alone, so that texts are the same in
    /// every build (persisted operations are identified by the text).
    private static func name(of fragment: FragmentDefinition, _ given: [Argument]) -> String {
        guard !given.isEmpty else { return fragment.name.value }
        let text = given.map { "\($0.name.value):\($0.value.printed())" }.sorted()
            .joined(separator: ",")
        // FNV-1a
        let hash = text.utf8.reduce(UInt64(0xCBF2_9CE4_8422_2325)) {
            ($0 ^ UInt64($1)) &* 0x100_0000_01B3
        }
        return fragment.name.value + "_" + String(hash & 0xFFFF_FFFF, radix: 36)
    }

    // MARK: Variables in places

    private func directives(_ directives: [Directive], _ scope: Scope?) -> [Directive] {
        guard scope != nil else { return directives }
        return directives.map {
            Directive(
                name: $0.name, arguments: arguments($0.arguments, scope), location: $0.location)
        }
    }

    /// An argument whose variable has no value is omitted (GraphQL §6.4.1).
    private func arguments(_ arguments: [Argument], _ scope: Scope?) -> [Argument] {
        guard let scope else { return arguments }
        return arguments.compactMap { argument in
            value(argument.value, scope).map { Argument(name: argument.name, value: $0) }
        }
    }

    private func value(_ value: Value, _ scope: Scope) -> Value? {
        switch value.kind {
        case .variable(let name):
            guard let replacement = scope[name] else { return value }
            return replacement
        case .list(let items):
            let items = items.map { self.value($0, scope) ?? Value(.null, location: $0.location) }
            return Value(.list(items), location: value.location)
        case .object(let fields):
            let fields = fields.compactMap { field in
                self.value(field.value, scope).map { ObjectField(name: field.name, value: $0) }
            }
            return Value(.object(fields), location: value.location)
        default:
            return value
        }
    }
}

/// One entry of `@argumentDefinitions(name: {type: "Int", defaultValue: 10})`.
struct ArgumentDeclaration {
    let name: String
    /// As written in a document: `Int!`.
    let type: String
    let defaultValue: Value?

    /// nil if it has no type.
    init?(_ argument: Argument) {
        guard case .object(let fields) = argument.value.kind,
            let type = fields.first(where: { $0.name.value == "type" })?.value.string
        else { return nil }
        name = argument.name.value
        self.type = type
        defaultValue = fields.first { $0.name.value == "defaultValue" }?.value
    }
}
