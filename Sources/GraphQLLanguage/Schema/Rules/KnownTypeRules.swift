// GraphQL §3.4: what is referenced or extended must be defined. graphql-js' rules KnownTypeNames
// and PossibleTypeExtensions.

extension TypeSystemDocument {
    func validateKnownTypes(_ issues: inout SchemaIssues) {
        let defined = Dictionary(
            types.filter { $0.node !== BuiltInDefinitions.metaFields.node }
                .map { ($0.node.name.value, $0) }, uniquingKeysWith: { first, _ in first })
        forEachTypeMention { name in
            if defined[name.value] == nil {
                issues.report(
                    "Unknown type \"\(name.value)\"."
                        + didYouMean(suggestions(for: name.value, among: Array(defined.keys))),
                    at: name.location)
            }
        }
        for node in extensions {
            validateExtension(node, defined, &issues)
        }
    }

    private func validateExtension(
        _ node: TypeDefinition, _ defined: [String: Definition<TypeDefinition>],
        _ issues: inout SchemaIssues
    ) {
        let name = node.name.value
        // The specification's own types cannot be extended.
        let extensible = defined.filter { $0.value.origin != .builtIn }
        guard let definition = extensible[name] else {
            issues.report(
                "Cannot extend type \"\(name)\" because it is not defined."
                    + didYouMean(suggestions(for: name, among: Array(extensible.keys))),
                at: node.name.location)
            return
        }
        if definition.node.kind != node.kind {
            issues.report(
                "Cannot extend non-\(node.kind.words) type \"\(name)\".",
                at: [definition.node.location, node.location])
        }
    }
}

extension TypeKind {
    /// The kind as written in messages.
    package var words: String {
        switch self {
        case .scalar: "scalar"
        case .object: "object"
        case .interface: "interface"
        case .union: "union"
        case .enum: "enum"
        case .inputObject: "input object"
        }
    }
}
