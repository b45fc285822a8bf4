import GraphQLLanguage

/// Relay's own rules, each in a file: what documents must be besides valid GraphQL.
///
/// They are about definitions as they are written, with the fragments that are read together with them: those that are
/// spread with `@relay(mask: false)`. What the schema does not know is left out of the trees, so that it hides no other
/// mistake.
struct RelayRules {
    private let context: RuleContext
    /// The fragments being visited, each inside the one before.
    private var open: Set<String> = []

    static func issues(_ documents: DocumentSet) -> [DocumentIssue] {
        var rules = RelayRules(context: RuleContext(documents))
        for operation in documents.operations { rules.visit(operation) }
        for fragment in documents.fragments { rules.visit(fragment) }
        RefetchableRule.checkNames(rules.context)
        return rules.context.issues
    }

    private init(context: RuleContext) { self.context = context }

    private mutating func visit(_ operation: OperationDefinition) {
        check(operation.directives)
        CatchRule.check(operation.directives, of: "Operation", operation.name, context)
        RawResponseTypeRule.check(operation, context)
        guard let typed = context.documents.typed(operation) else { return }
        visit(
            typed.selections, in: nil,
            SelectionPlace(operation: operation.operation, type: typed.type))
    }

    private mutating func visit(_ fragment: FragmentDefinition) {
        check(fragment.directives)
        CatchRule.check(fragment.directives, of: "Fragment", fragment.name, context)
        MaskRule.check(fragment, context)
        guard let typed = context.documents.typed(fragment) else { return }
        RefetchableRule.check(typed, context)
        visit(typed, SelectionPlace(operation: nil, type: typed.type))
    }

    private mutating func visit(_ fragment: TypedFragment, _ place: SelectionPlace) {
        guard open.insert(fragment.name).inserted else { return }
        visit(fragment.selections, in: fragment, place)
        open.remove(fragment.name)
    }

    /// - Parameters:
    ///   - fragment: the one in which the selections are written; nil in an operation.
    ///   - place: where the selections are; those of one place are read together.
    private mutating func visit(
        _ selections: [TypedSelection], in fragment: TypedFragment?, _ place: SelectionPlace
    ) {
        for selection in selections {
            check(selection.directives)
            switch selection {
            case .field(let field):
                NestedListRule.check(field, context)
                ConnectionRule.check(field, context)
                EdgeRule.check(field, place, context)
                RequiredRule.check(field, place, context)
                CatchRule.check(field, place, context)
                AliasRule.check(field, place, context)
                if place.fields[field.responseName] == nil {
                    place.fields[field.responseName] = field
                }
                guard let selections = field.selections else { continue }
                visit(selections, in: fragment, place.inside(field))
            case .inlineFragment(let inner):
                let alias = AliasRule.check(inner, place, context)
                visit(
                    inner.selections, in: fragment,
                    place.inside(inner, alias: alias, context.schema))
            case .spread(let spread):
                MaskRule.check(spread, in: fragment, context)
                AliasRule.check(spread, place, context)
                SpreadRule.check(spread, place, context)
                guard spread.isUnmasked, place.unmasked.insert(spread.name).inserted,
                    let unmasked = context.fragments[spread.name]
                else { continue }
                visit(unmasked, place.inside(unmasked.type, context.schema))
            }
        }
    }

    private func check(_ directives: [Directive]) {
        for directive in directives {
            ConstantArgumentsRule.check(directive, context)
            InlineRule.check(directive, context)
        }
    }
}

/// What the rules share.
final class RuleContext {
    let documents: DocumentSet
    /// By name.
    let fragments: [String: TypedFragment]
    private(set) var issues: [DocumentIssue] = []
    /// What is written once is reported once, however often it is visited.
    private var known: Set<DocumentIssue> = []
    var schema: Schema { documents.schema }

    init(_ documents: DocumentSet) {
        self.documents = documents
        fragments = Dictionary(
            documents.fragments.compactMap(documents.typed).map { ($0.name, $0) },
            uniquingKeysWith: { first, _ in first })
    }

    func report(_ message: String, at location: Int, _ others: Int...) {
        let issue = DocumentIssue(message, at: [location] + others)
        if known.insert(issue).inserted { issues.append(issue) }
    }
}

/// The arguments of Relay's directives are worked in when documents are compiled, so they are constants; except those
/// that handlers get, and values for fragments.
enum ConstantArgumentsRule {
    static func check(_ directive: Directive, _ context: RuleContext) {
        let name = directive.name.value
        guard RelayDirectives.names.contains(name), !RelayDirectives.handles.contains(name),
            name != RelayDirectives.arguments, name != RelayDirectives.argumentDefinitions
        else { return }
        for argument in directive.arguments {
            guard let variable = argument.value.variables.first else { continue }
            context.report(
                "Argument \"\(argument.name.value)\" of @\(name) must be a constant, not "
                    + "\"$\(variable)\".", at: argument.value.location)
        }
    }
}

/// `@inline` is for functions that get fragments without a component around them; keys do that here.
enum InlineRule {
    static func check(_ directive: Directive, _ context: RuleContext) {
        guard directive.name.value == "inline" else { return }
        context.report(
            "Directive \"@inline\" is not supported: a fragment can be read anywhere with its key, and "
                + "where it is spread with @relay(mask: false).", at: directive.location)
    }
}

/// `@raw_response_type` asks for a type of expected answers. Mutations have one without it, too; others have no use for it.
enum RawResponseTypeRule {
    static func check(_ operation: OperationDefinition, _ context: RuleContext) {
        guard operation.operation != .mutation,
            let directive = operation.directives.named(RelayDirectives.rawResponseType)
        else { return }
        context.report(
            "Directive \"@\(RelayDirectives.rawResponseType)\" is for mutations: only their expected answers "
                + "have a type.", at: directive.location)
    }
}
