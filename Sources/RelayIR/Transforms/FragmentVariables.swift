import GraphQLLanguage

/// The variables that a fragment uses but does not declare, with the types of the places where they
/// are used.
struct FragmentVariables {
    let context: DocumentContext
    /// Whether uses in spread fragments count too.
    let followsSpreads: Bool
    /// In order of first use.
    private(set) var names: [String] = []
    private(set) var types: [String: WrappedType] = [:]
    private var visited: Set<String> = []

    init(context: DocumentContext, followsSpreads: Bool) {
        self.context = context
        self.followsSpreads = followsSpreads
    }

    mutating func collect(_ fragment: FragmentDefinition) throws(RelayDocumentErrors) {
        guard visited.insert(fragment.name.value).inserted else { return }
        let declared = Set(
            fragment.directives.named("argumentDefinitions")?.arguments.map(\.name.value) ?? [])
        var inner = FragmentVariables(context: context, followsSpreads: followsSpreads)
        inner.visited = visited
        try inner.collect(
            fragment.selectionSet.selections, on: try context.compositeType(fragment.typeCondition))
        visited = inner.visited
        for name in inner.names where !declared.contains(name) {
            note(name, inner.types[name])
        }
    }

    private mutating func note(_ name: String, _ type: WrappedType?) {
        if !names.contains(name) { names.append(name) }
        guard let type else { return }
        // A place that does not allow null decides.
        if types[name]?.isNonNull != true { types[name] = type }
    }

    private mutating func collect(
        _ selections: [Selection], on type: NamedType
    ) throws(RelayDocumentErrors) {
        for selection in selections {
            switch selection {
            case .field(let field):
                collect(field.directives)
                guard field.name.value != RelayDirectives.recordIDField else { continue }
                let definition = try context.field(field, on: type)
                for argument in field.arguments {
                    collect(argument.value, definition.argument(argument.name.value)?.placeType)
                }
                if let set = field.selectionSet {
                    try collect(set.selections, on: context.schema[definition.namedType])
                }
            case .inlineFragment(let fragment):
                collect(fragment.directives)
                try collect(
                    fragment.selectionSet.selections, on: try context.type(of: fragment, in: type))
            case .fragmentSpread(let spread):
                collect(spread.directives)
                if followsSpreads { try collect(try context.fragment(spread)) }
            }
        }
    }

    private mutating func collect(_ directives: [Directive]) {
        for directive in directives {
            let definition = context.schema.directive(named: directive.name.value)
            for argument in directive.arguments {
                collect(argument.value, definition?.argument(argument.name.value)?.placeType)
            }
        }
    }

    private mutating func collect(_ value: Value, _ type: WrappedType?) {
        switch value.kind {
        case .variable(let name):
            note(name, type)
        case .list(let items):
            for item in items { collect(item, type?.listItem) }
        case .object(let fields):
            let input = type.map { context.schema[$0.namedType] }
            for field in fields {
                collect(field.value, input?.inputField(field.name.value)?.placeType)
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
