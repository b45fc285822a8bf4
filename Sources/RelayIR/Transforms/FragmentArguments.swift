import GraphQLLanguage

/// Specializes fragments with arguments: every distinct set of arguments produces a separate
/// fragment, with the values in place of its variables, because the server only knows an operation's
/// variables.
///
/// What a fragment becomes depends on its arguments alone, so operations share it.
struct FragmentArguments {
    private let documents: DocumentSet
    /// By name, none of which spreads itself.
    private let fragments: [String: TypedFragment]
    /// What operations need, by the names that it has there.
    private(set) var specialized: [String: TypedFragment] = [:]

    init(_ fragments: [String: TypedFragment], in documents: DocumentSet) {
        self.documents = documents
        self.fragments = fragments
    }

    mutating func apply(to operation: inout TypedOperation) {
        operation.selections = selections(operation.selections, nil)
    }

    /// A fragment by itself: whatever the variables that it declares will be, they differ from those of operations.
    mutating func opened(_ fragment: TypedFragment) -> TypedFragment {
        var scope: Scope = [:]
        for variable in documents.variables(of: fragment.definition) {
            let name = variable.name.value
            scope[name] = Value(.variable(Self.openPrefix + name), location: variable.location)
        }
        var fragment = fragment
        fragment.selections = selections(fragment.selections, scope)
        return fragment
    }

    /// No document has a variable of such a name.
    private static let openPrefix = "?"

    /// Whether a variable is one of a fragment that is looked at by itself.
    static func isOpen(_ variable: String) -> Bool { variable.hasPrefix(openPrefix) }

    /// The values of the variables that a fragment declares. nil if no value is given.
    private typealias Scope = [String: Value?]

    private mutating func selections(
        _ selections: [TypedSelection], _ scope: Scope?
    ) -> [TypedSelection] {
        selections.map { selection in
            switch selection {
            case .field(var field):
                field.directives = directives(field.directives, scope)
                field.arguments = arguments(field.arguments, scope)
                if let inner = field.selections {
                    field.selections = self.selections(inner, scope)
                }
                return .field(field)
            case .inlineFragment(var fragment):
                fragment.directives = directives(fragment.directives, scope)
                fragment.selections = self.selections(fragment.selections, scope)
                return .inlineFragment(fragment)
            case .spread(var spread):
                specialize(&spread, scope)
                return .spread(spread)
            }
        }
    }

    private mutating func specialize(_ spread: inout TypedSpread, _ scope: Scope?) {
        let declared = documents.variables(of: spread.fragment)
        // An argument whose variable has no value is given all the same: the default is for what is not given.
        let given = spread.arguments.map { argument in
            (
                name: argument.name.value,
                value: scope.map { value(argument.value, $0) } ?? argument.value
            )
        }
        spread.directives.removeAll { $0.name.value == RelayDirectives.arguments }
        spread.directives = directives(spread.directives, scope)
        let fragment = fragments[spread.name]
        spread.name = Self.name(of: spread.fragment, given)
        guard specialized[spread.name] == nil, var fragment else { return }
        var inner: Scope = [:]
        for variable in declared {
            let name = variable.name.value
            let argument = given.first { $0.name == name }
            inner[name] = .some(argument.map(\.value) ?? variable.defaultValue)
        }
        fragment.name = spread.name
        fragment.selections = selections(fragment.selections, inner)
        specialized[spread.name] = fragment
    }

    /// A fragment with arguments gets a name derived from them alone, so that texts are the same in
    /// every build (persisted operations are identified by the text).
    private static func name(
        of fragment: FragmentDefinition, _ given: [(name: String, value: Value?)]
    ) -> String {
        guard !given.isEmpty else { return fragment.name.value }
        let key = given.map { "\($0.name):\($0.value?.printed() ?? "")" }.sorted()
            .joined(separator: ",")
        // FNV-1a
        let hash = key.utf8.reduce(UInt64(0xCBF2_9CE4_8422_2325)) {
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
