import GraphQLLanguage

/// The definitions being compiled, by name, and the schema they are compiled against.
struct DocumentSet: Sendable {
    let schema: Schema
    /// In the order of the documents.
    let operations: [OperationDefinition]
    /// In the order of the documents.
    let fragments: [FragmentDefinition]
    private let fragmentsByName: [String: FragmentDefinition]
    /// The variables that fragments declare, with what is wrong with the declarations.
    private let declarations: [String: FragmentDeclarations]

    init(_ documents: [Document], schema: Schema) {
        self.schema = schema
        operations = documents.flatMap(\.operations)
        fragments = documents.flatMap(\.fragments)
        fragmentsByName = Dictionary(
            fragments.map { ($0.name.value, $0) }, uniquingKeysWith: { first, _ in first })
        declarations = fragmentsByName.compactMapValues { fragment in
            fragment.directives.named(RelayDirectives.argumentDefinitions).map {
                FragmentDeclarations($0, schema: schema)
            }
        }
    }

    func fragment(named name: String) -> FragmentDefinition? { fragmentsByName[name] }

    /// The variables that a fragment declares with `@argumentDefinitions`, in order.
    func variables(of fragment: FragmentDefinition) -> [VariableDefinition] {
        declarations[fragment.name.value]?.variables ?? []
    }

    var declarationIssues: [DocumentIssue] {
        fragments.flatMap { declarations[$0.name.value]?.issues ?? [] }
    }

    var dialect: ClientDialect {
        ClientDialect(
            metaFields: [RelayDirectives.recordIDField],
            declarations: RelayDirectives.argumentDefinitions,
            arguments: RelayDirectives.arguments,
            variables: declarations.mapValues(\.variables))
    }

    // MARK: The schema

    func compositeType(_ name: Name) -> NamedType? {
        guard let type = schema.type(named: name.value), type.kind.isComposite else { return nil }
        return type
    }

    /// The field of a type, or one that only clients know.
    func field(_ name: String, on parent: NamedType) -> SchemaField? {
        schema.field(name, on: parent)
            ?? (name == RelayDirectives.recordIDField ? schema.typenameField : nil)
    }

    /// The names of the object types of an abstract type; none for an object type.
    func possibleTypes(of type: NamedType) -> [String] {
        type.kind.isAbstract ? schema.possibleTypes(of: type.id).map { schema[$0].name } : []
    }
}

/// The variables that `@argumentDefinitions(name: {type: "Int", defaultValue: 10})` declares.
struct FragmentDeclarations: Sendable {
    private(set) var variables: [VariableDefinition] = []
    private(set) var issues: [DocumentIssue] = []

    init(_ directive: Directive, schema: Schema) {
        var seen: [String: Int] = [:]
        for argument in directive.arguments {
            let name = argument.name.value
            if let first = seen.updateValue(argument.location, forKey: name) {
                seen[name] = first
                issues.append(
                    DocumentIssue(
                        "There can be only one argument named \"\(name)\".",
                        at: [first, argument.location]))
            } else if let variable = variable(argument, schema) {
                variables.append(variable)
            }
        }
    }

    private mutating func variable(
        _ argument: Argument, _ schema: Schema
    ) -> VariableDefinition? {
        let name = argument.name.value
        guard case .object(let fields) = argument.value.kind,
            let written = fields.first(where: { $0.name.value == "type" })?.value,
            let text = written.string
        else {
            issues.append(
                DocumentIssue(
                    "Expected argument \"\(name)\" to say its type: {type: \"Int\"}.",
                    at: argument.location))
            return nil
        }
        let known = ["type", "defaultValue"]
        for field in fields where !known.contains(field.name.value) {
            issues.append(
                DocumentIssue(
                    "Argument \"\(name)\" of @argumentDefinitions has no \"\(field.name.value)\"."
                        + didYouMean(suggestions(for: field.name.value, among: known)),
                    at: field.location))
        }
        guard let reference = try? TypeReference(parsing: text) else {
            issues.append(
                DocumentIssue(
                    "Expected the type of argument \"\(name)\" to be written as in \"[Int!]\", not "
                        + "\"\(text)\".", at: written.location))
            return nil
        }
        let defaultValue = fields.first { $0.name.value == "defaultValue" }?.value
        check(name, reference, defaultValue, at: written.location, schema)
        return VariableDefinition(
            name: argument.name, type: reference.located(at: written.location),
            defaultValue: defaultValue, location: argument.location)
    }

    private mutating func check(
        _ name: String, _ reference: TypeReference, _ defaultValue: Value?, at location: Int,
        _ schema: Schema
    ) {
        guard let type = schema.resolve(reference) else {
            let unknown = reference.namedType.value
            let inputs = schema.types.filter { $0.kind.isInput && $0.origin != .predefined }
            issues.append(
                DocumentIssue(
                    "Unknown type \"\(unknown)\"."
                        + didYouMean(suggestions(for: unknown, among: inputs.map(\.name))),
                    at: location))
            return
        }
        guard schema[type.namedType].kind.isInput else {
            issues.append(
                DocumentIssue(
                    "Argument \"\(name)\" cannot be non-input type \"\(reference)\".", at: location)
            )
            return
        }
        guard let defaultValue else { return }
        if let variable = defaultValue.variables.first {
            issues.append(
                DocumentIssue(
                    "The default value of argument \"\(name)\" must be a constant, not "
                        + "\"$\(variable)\".", at: defaultValue.location))
            return
        }
        schema.validateConstant(defaultValue, as: type) { message, location in
            issues.append(DocumentIssue(message, at: location))
        }
    }
}

extension TypeReference {
    /// The same type, written elsewhere.
    func located(at location: Int) -> TypeReference {
        switch self {
        case .named(let name): .named(Name(name.value, location: location))
        case .list(let inner, _): .list(inner.located(at: location), location: location)
        case .nonNull(let inner): .nonNull(inner.located(at: location))
        }
    }
}
