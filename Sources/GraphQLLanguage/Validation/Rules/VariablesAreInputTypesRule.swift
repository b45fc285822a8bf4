/// Variables are input types (GraphQL §5.8.2).
enum VariablesAreInputTypesRule {
    static func check(_ variable: VariableDefinition, _ context: ValidationContext) {
        guard let type = context.schema.type(named: variable.type.namedType.value),
            !type.kind.isInput
        else { return }
        context.report(
            "Variable \"$\(variable.name.value)\" cannot be non-input type \"\(variable.type)\".",
            at: variable.type.location)
    }
}
