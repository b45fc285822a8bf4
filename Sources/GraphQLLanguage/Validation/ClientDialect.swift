/// What the documents of a client have beyond GraphQL: fragments with variables of their own, and fields that only
/// the client knows.
package struct ClientDialect: Sendable {
    /// Leaves that can be selected on every composite type.
    package let metaFields: Set<String>
    /// The directive on fragments that declares their variables.
    package let declarations: String
    /// The directive on spreads that gives values to them.
    package let arguments: String
    /// By fragment, then by name.
    private let variables: [String: [String: VariableDefinition]]

    /// - Parameter variables: those that each fragment declares.
    package init(
        metaFields: Set<String>, declarations: String, arguments: String,
        variables: [String: [VariableDefinition]]
    ) {
        self.metaFields = metaFields
        self.declarations = declarations
        self.arguments = arguments
        self.variables = variables.mapValues { definitions in
            Dictionary(
                definitions.map { ($0.name.value, $0) }, uniquingKeysWith: { first, _ in first })
        }
    }

    func variables(of fragment: String) -> [String: VariableDefinition] {
        variables[fragment] ?? [:]
    }
}
