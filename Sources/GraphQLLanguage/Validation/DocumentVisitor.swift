/// Walks an executable document once, tracking the types of the schema, and lets every rule check
/// the nodes it is about.
struct DocumentVisitor {
    private let context: ValidationContext
    private var schema: Schema { context.schema }

    init(_ context: ValidationContext) {
        self.context = context
    }

    func visitDocument() {
        var operationIndex = 0
        var fragmentIndex = 0
        for definition in context.document.definitions where !context.isAborted {
            switch definition {
            case .operation(let operation):
                visit(operation)
                context.finishOperation(at: operationIndex)
                operationIndex += 1
            case .fragment(let fragment):
                visit(fragment)
                context.finishFragment(at: fragmentIndex)
                fragmentIndex += 1
            case .schema, .type, .directive: break
            }
        }
    }

    // MARK: Definitions

    private func visit(_ operation: OperationDefinition) {
        KnownOperationTypesRule.check(operation, context)
        SingleFieldSubscriptionsRule.check(operation, context)
        UniqueVariableNamesRule.check(operation, context)
        for variable in operation.variables { visit(variable) }
        visit(operation.directives, on: operation.operation.directiveLocation)
        visit(operation.selectionSet, parent: schema.rootType(of: operation.operation))
    }

    private func visit(_ variable: VariableDefinition) {
        KnownTypeNamesRule.check(variable.type.namedType, context)
        VariablesAreInputTypesRule.check(variable, context)
        if let value = variable.defaultValue {
            let type = schema.resolve(variable.type)
            let isInput = type.map { schema[$0.namedType].kind.isInput } ?? false
            visit(value, ValuePlace(type: isInput ? type : nil))
        }
        visit(variable.directives, on: .variableDefinition)
    }

    private func visit(_ fragment: FragmentDefinition) {
        KnownTypeNamesRule.check(fragment.typeCondition, context)
        FragmentsOnCompositeTypesRule.check(fragment, context)
        visit(fragment.directives, on: .fragmentDefinition)
        visit(
            fragment.selectionSet, parent: schema.compositeType(fragment.typeCondition.value))
    }

    // MARK: Selections

    /// - Parameter parent: nil if the type is unknown; then little can be checked.
    private func visit(_ selectionSet: SelectionSet, parent: NamedType?) {
        for selection in selectionSet.selections {
            if context.isAborted { return }
            switch selection {
            case .field(let field): visit(field, parent: parent)
            case .fragmentSpread(let spread): visit(spread, parent: parent)
            case .inlineFragment(let fragment): visit(fragment, parent: parent)
            }
        }
    }

    private func visit(_ field: Field, parent: NamedType?) {
        let definition = parent.flatMap { context.field(field.name.value, on: $0) }
        if let definition {
            ScalarLeafsRule.check(field, definition, context)
            if let parent {
                KnownArgumentNamesRule.check(field, definition, of: parent, context)
            }
            ProvidedRequiredArgumentsRule.check(field, definition, context)
        } else if let parent {
            FieldsOnCorrectTypeRule.check(field, on: parent, context)
        }
        visit(field.arguments) { ValuePlace(definition?.argument($0)) }
        visit(field.directives, on: .field)
        if let selectionSet = field.selectionSet {
            let type = definition.map { schema[$0.namedType] }
            visit(selectionSet, parent: type?.kind.isComposite == true ? type : nil)
        }
    }

    private func visit(_ spread: FragmentSpread, parent: NamedType?) {
        KnownFragmentNamesRule.check(spread, context)
        PossibleFragmentSpreadsRule.check(spread, in: parent, context)
        visit(spread.directives, on: .fragmentSpread, spread: spread)
        context.record(spread)
        if let dialect = context.dialect {
            FragmentArgumentsRule.check(
                spread.directives.named(dialect.arguments), of: spread, dialect, context)
        }
    }

    private func visit(_ fragment: InlineFragment, parent: NamedType?) {
        var type = parent
        if let condition = fragment.typeCondition {
            KnownTypeNamesRule.check(condition, context)
            FragmentsOnCompositeTypesRule.check(fragment, context)
            type = schema.compositeType(condition.value)
            PossibleFragmentSpreadsRule.check(fragment, type, in: parent, context)
        }
        visit(fragment.directives, on: .inlineFragment)
        visit(fragment.selectionSet, parent: type)
    }

    // MARK: Directives and arguments

    /// - Parameter spread: the one that has the directives.
    private func visit(
        _ directives: [Directive], on place: DirectiveLocation, spread: FragmentSpread? = nil
    ) {
        guard !directives.isEmpty else { return }
        UniqueDirectivesPerLocationRule.check(directives, context)
        for directive in directives {
            let definition = schema.directive(named: directive.name.value)
            KnownDirectivesRule.check(directive, definition, on: place, context)
            if let dialect = context.dialect {
                if directive.name.value == dialect.declarations { continue }
                if directive.name.value == dialect.arguments {
                    guard let spread else { continue }
                    visit(directive.arguments) { name in
                        FragmentArgumentsRule.place(name, of: spread, dialect, context)
                    }
                    continue
                }
            }
            if let definition {
                KnownArgumentNamesRule.check(directive, definition, context)
                ProvidedRequiredArgumentsRule.check(directive, definition, context)
            }
            visit(directive.arguments) { ValuePlace(definition?.argument($0)) }
        }
    }

    private func visit(_ arguments: [Argument], _ place: (String) -> ValuePlace) {
        guard !arguments.isEmpty else { return }
        UniqueArgumentNamesRule.check(arguments, context)
        for argument in arguments {
            visit(argument.value, place(argument.name.value))
        }
    }

    // MARK: Values

    private func visit(_ value: Value, _ place: ValuePlace) {
        if case .variable(let name) = value.kind {
            context.record(
                VariableUsage(
                    name: name, location: value.location, type: place.type,
                    hasDefault: place.hasDefault, oneOfType: place.oneOfType))
            return
        }
        let isAllowed = !place.isChecked || ValuesOfCorrectTypeRule.check(value, place, context)
        switch value.kind {
        case .list(let values):
            let item = ValuePlace(
                type: place.type.map { $0.listItem ?? $0.nullable },
                isChecked: place.isChecked && isAllowed)
            for value in values { visit(value, item) }
        case .object(let fields):
            UniqueInputFieldNamesRule.check(fields, context)
            let named = place.type.map { schema[$0.namedType] }
            for field in fields {
                let definition = named?.inputField(field.name.value)
                var fieldPlace = ValuePlace(definition)
                fieldPlace.oneOfType = named?.isOneOf == true ? named : nil
                fieldPlace.isChecked = isAllowed && place.isChecked
                visit(field.value, fieldPlace)
            }
        default: break
        }
    }
}

/// What is expected of a value at its place.
struct ValuePlace {
    /// nil if the place itself is unknown.
    var type: WrappedType?
    var hasDefault = false
    /// The @oneOf input object whose field this is.
    var oneOfType: NamedType?
    /// False below a value that has been reported.
    var isChecked = true
}

extension ValuePlace {
    init(_ definition: SchemaInputValue?) {
        self.init(type: definition?.type, hasDefault: definition?.defaultValue != nil)
    }
}

extension OperationType {
    fileprivate var directiveLocation: DirectiveLocation {
        switch self {
        case .query: .query
        case .mutation: .mutation
        case .subscription: .subscription
        }
    }
}

extension Schema {
    /// The type of this name, if it can have a selection set.
    func compositeType(_ name: String) -> NamedType? {
        guard let type = type(named: name), type.kind.isComposite else { return nil }
        return type
    }
}
