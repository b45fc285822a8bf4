import GraphQLLanguage

/// Relay's own rules, each in a file: what documents must be besides valid GraphQL.
///
/// They are about definitions as they are written, so each definition is visited once. What the schema does not know
/// is left out of the trees, so that it hides no other mistake.
struct RelayRules {
    private let context: RuleContext

    static func issues(_ documents: DocumentSet) -> [DocumentIssue] {
        let rules = RelayRules(context: RuleContext(documents))
        for operation in documents.operations { rules.visit(operation) }
        for fragment in documents.fragments { rules.visit(fragment) }
        RefetchableRule.checkNames(rules.context)
        return rules.context.issues
    }

    private func visit(_ operation: OperationDefinition) {
        check(operation.directives)
        CatchRule.check(operation.directives, of: "Operation", operation.name, context)
        guard let typed = context.documents.typed(operation) else { return }
        visit(typed.selections, SelectionPlace(operation: operation.operation))
    }

    private func visit(_ fragment: FragmentDefinition) {
        check(fragment.directives)
        CatchRule.check(fragment.directives, of: "Fragment", fragment.name, context)
        MaskRule.check(fragment, context)
        guard let typed = context.documents.typed(fragment) else { return }
        RefetchableRule.check(typed, context)
        visit(typed.selections, SelectionPlace(operation: nil))
    }

    /// - Parameter place: where the selections are; those of one place are read together.
    private func visit(_ selections: [TypedSelection], _ place: SelectionPlace) {
        for selection in selections {
            check(selection.directives)
            switch selection {
            case .field(let field):
                NestedListRule.check(field, context)
                ConnectionRule.check(field, context)
                EdgeRule.check(field, place, context)
                RequiredRule.check(field, place, context)
                CatchRule.check(field, place, context)
                AliasRule.note(field, place, context)
                guard let selections = field.selections else { continue }
                visit(selections, place.inside(field))
            case .inlineFragment(let fragment):
                let alias = AliasRule.check(fragment, place, context)
                visit(fragment.selections, place.inside(fragment, alias: alias))
            case .spread(let spread):
                MaskRule.check(spread, context)
                AliasRule.check(spread, place, context)
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
    private(set) var issues: [DocumentIssue] = []
    var schema: Schema { documents.schema }

    init(_ documents: DocumentSet) { self.documents = documents }

    func report(_ message: String, at location: Int, _ others: Int...) {
        issues.append(DocumentIssue(message, at: [location] + others))
    }
}

/// A place in a definition whose selections are read together: all that are reached by the same response names and
/// type conditions.
final class SelectionPlace {
    /// The kind of operation; nil in a fragment.
    let operation: OperationType?
    /// The field that leads here; nil for a definition's own selections, and where an alias does.
    let field: TypedField?
    private var inner: [String: SelectionPlace] = [:]
    /// The fields, by response name, as they came first.
    var fields: [String: TypedField] = [:]
    /// The locations of aliases.
    var aliases: [String: Int] = [:]

    init(operation: OperationType?, field: TypedField? = nil) {
        self.operation = operation
        self.field = field
    }

    func inside(_ field: TypedField) -> SelectionPlace {
        place(field.responseName) { SelectionPlace(operation: operation, field: field) }
    }

    func inside(_ fragment: TypedInlineFragment, alias: String?) -> SelectionPlace {
        if let alias { return place("@" + alias) { SelectionPlace(operation: operation) } }
        guard let condition = fragment.condition else { return self }
        return place("..." + condition.name) { SelectionPlace(operation: operation, field: field) }
    }

    private func place(_ key: String, _ new: () -> SelectionPlace) -> SelectionPlace {
        if let place = inner[key] { return place }
        let place = new()
        inner[key] = place
        return place
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
