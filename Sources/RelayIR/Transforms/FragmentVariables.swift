import GraphQLLanguage

/// The variables that a fragment uses but does not declare, with the types of the places where they
/// are used.
struct FragmentVariables {
    private let documents: DocumentSet
    private let fragments: [String: TypedFragment]
    private let spreads: Spreads
    /// In order of first use.
    private(set) var names: [String] = []
    private var noted: Set<String> = []
    private(set) var types: [String: WrappedType] = [:]
    private var visited: Set<String> = []
    /// The variables that the fragment being visited declares.
    private var declared: Set<String> = []

    /// The spreads whose fragments' uses count, too.
    enum Spreads {
        case all
        /// Those whose fragments are read together with what spreads them.
        case unmasked
    }

    /// - Parameter fragments: by name.
    init(
        _ documents: DocumentSet, _ fragments: [String: TypedFragment], following spreads: Spreads
    ) {
        self.documents = documents
        self.fragments = fragments
        self.spreads = spreads
    }

    /// What the fragment, and those that it spreads, leave to the operation.
    static func free(
        in fragment: TypedFragment, _ documents: DocumentSet, _ fragments: [String: TypedFragment]
    ) -> FragmentVariables {
        var usage = FragmentVariables(documents, fragments, following: .all)
        usage.inner = [:]
        usage.collect(fragment)
        return usage
    }

    mutating func collect(_ fragment: TypedFragment) {
        guard visited.insert(fragment.name).inserted else { return }
        let outer = declared
        // What a fragment declares is for its own selections, not for those of fragments that it spreads.
        declared = Set(documents.variables(of: fragment.definition).map(\.name.value))
        collect(fragment.selections)
        declared = outer
    }

    /// What the fragment itself declares, with the types of the places where it is used in the end: also by fragments
    /// that it is given to as an argument.
    static func declared(
        in fragment: TypedFragment, _ documents: DocumentSet, _ fragments: [String: TypedFragment],
        _ known: inout [String: [String: WrappedType]]
    ) -> [String: WrappedType] {
        if let types = known[fragment.name] { return types }
        // Fragments that spread each other in a circle are refused elsewhere.
        known[fragment.name] = [:]
        var usage = FragmentVariables(documents, fragments, following: .unmasked)
        usage.inner = known
        usage.visited.insert(fragment.name)
        usage.collect(fragment.selections)
        known = usage.inner ?? known
        known[fragment.name] = usage.types
        return usage.types
    }

    /// What fragments declare, if that is asked for.
    private var inner: [String: [String: WrappedType]]?

    private mutating func note(_ name: String, _ type: WrappedType?) {
        if declared.contains(name) { return }
        if noted.insert(name).inserted { names.append(name) }
        guard let type else { return }
        types[name] = types[name]?.narrowed(to: type) ?? type
    }

    private mutating func collect(_ selections: [TypedSelection]) {
        for selection in selections {
            for directive in selection.directives { collect(directive, of: selection) }
            switch selection {
            case .field(let field):
                for argument in field.arguments {
                    collect(
                        argument.value,
                        field.definition.argument(argument.name.value)?.placeType)
                }
                collect(field.selections ?? [])
            case .inlineFragment(let fragment): collect(fragment.selections)
            case .spread(let spread):
                guard spreads == .all || spread.isUnmasked else { continue }
                if let fragment = fragments[spread.name] { collect(fragment) }
            }
        }
    }

    private mutating func collect(_ directive: Directive, of selection: TypedSelection) {
        let definition = documents.schema.directive(named: directive.name.value)
        var declared: [VariableDefinition] = []
        var inside: [String: WrappedType] = [:]
        if case .spread(let spread) = selection, directive.name.value == RelayDirectives.arguments {
            declared = documents.variables(of: spread.fragment)
            if inner != nil, let fragment = fragments[spread.name] {
                inside = Self.declared(in: fragment, documents, fragments, &inner!)
            }
        }
        for argument in directive.arguments {
            let name = argument.name.value
            let type =
                inside[name] ?? declared.first { $0.name.value == name }.flatMap { variable in
                    documents.schema.resolve(variable.type).map {
                        variable.defaultValue == nil ? $0 : $0.nullable
                    }
                } ?? definition?.argument(name)?.placeType
            collect(argument.value, type)
        }
    }

    private mutating func collect(_ value: Value, _ type: WrappedType?) {
        switch value.kind {
        case .variable(let name):
            note(name, type)
        case .list(let items):
            // A list in a custom scalar has no type of its own.
            for item in items { collect(item, type.map { $0.listItem ?? $0.nullable }) }
        case .object(let fields):
            guard let type else { break }
            let input = documents.schema[type.namedType]
            for field in fields {
                let place = input.inputField(field.name.value)?.placeType
                if input.kind == .scalar {
                    collect(field.value, type.nullable)
                } else {
                    // The one field that is given must not be null.
                    collect(field.value, input.isOneOf ? place.map { .nonNull($0) } : place)
                }
            }
        default:
            break
        }
    }
}

extension SchemaInputValue {
    /// The type that a variable in this place must have: with a default, null need not be allowed.
    fileprivate var placeType: WrappedType { defaultValue == nil ? type : type.nullable }
}

extension WrappedType {
    /// The type of a variable that may be in places of both types: it is null nowhere that one of them does not allow it.
    fileprivate func narrowed(to other: WrappedType) -> WrappedType {
        switch (self, other) {
        case (.nonNull(let inner), .nonNull(let other)): .nonNull(inner.narrowed(to: other))
        case (.nonNull(let inner), _): .nonNull(inner.narrowed(to: other))
        case (_, .nonNull(let other)): .nonNull(narrowed(to: other))
        case (.list(let item), .list(let other)): .list(item.narrowed(to: other))
        // No variable can be in both; validation says so.
        default: self
        }
    }
}
