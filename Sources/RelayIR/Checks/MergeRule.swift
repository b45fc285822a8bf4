import GraphQLLanguage

/// Fields with the same response name are the same field (GraphQL §5.3.2).
///
/// That is asked when fragments have their arguments' values, and before what only the client knows is taken out: data
/// and the store find such fields by their names, too.
struct MergeRule {
    /// The rule tells selection sets apart by their locations, and those that were copied or added have none of their
    /// own. (What it reports is where fields are.)
    private var selectionSets = 0

    /// - Parameters:
    ///   - operations: complete.
    ///   - fragments: those that the operations spread, and those that they spread.
    static func issues(
        _ operations: [TypedOperation], _ fragments: [TypedFragment], _ schema: Schema,
        limits: ValidationLimits
    ) -> [DocumentIssue] {
        var rule = MergeRule()
        let definitions =
            operations.map { Definition.operation(rule.syntax($0)) }
            + fragments.map { Definition.fragment(rule.syntax($0)) }
        return Document(source: Source(""), definitions: definitions)
            .mergeIssues(against: schema, limits: limits)
    }

    // MARK: As syntax, with all that the rule looks at

    private mutating func syntax(_ operation: TypedOperation) -> OperationDefinition {
        let definition = operation.definition
        return OperationDefinition(
            description: nil, operation: definition.operation, name: definition.name, variables: [],
            directives: [], selectionSet: syntax(operation.selections),
            location: definition.location)
    }

    private mutating func syntax(_ fragment: TypedFragment) -> FragmentDefinition {
        let location = fragment.definition.location
        return FragmentDefinition(
            description: nil, name: Name(fragment.name, location: location),
            typeCondition: fragment.definition.typeCondition, directives: [],
            selectionSet: syntax(fragment.selections), location: location)
    }

    private mutating func syntax(_ selections: [TypedSelection]) -> SelectionSet {
        selectionSets += 1
        let location = selectionSets
        return SelectionSet(selections: selections.map { syntax($0) }, location: location)
    }

    private mutating func syntax(_ selection: TypedSelection) -> Selection {
        switch selection {
        case .field(let field):
            .field(
                Field(
                    alias: field.alias.map { Name($0, location: field.location) },
                    name: Name(field.name, location: field.location), arguments: field.arguments,
                    directives: [], selectionSet: field.selections.map { syntax($0) }))
        case .inlineFragment(let fragment):
            .inlineFragment(
                InlineFragment(
                    typeCondition: fragment.condition.map {
                        Name($0.name, location: fragment.location)
                    }, directives: [], selectionSet: syntax(fragment.selections),
                    location: fragment.location))
        case .spread(let spread):
            .fragmentSpread(
                FragmentSpread(
                    name: Name(spread.name, location: spread.location), directives: [],
                    location: spread.location))
        }
    }
}
