/// The rules about variables, which need an operation with all its fragments: all uses defined
/// (GraphQL §5.8.3), all variables used (§5.8.4), all usages allowed (§5.8.5).
enum VariableRules {
    static func check(_ operation: OperationDefinition, _ context: ValidationContext) {
        var usages = context.contents[operation.location]?.variables ?? []
        for fragment in context.fragmentsReached(from: operation) {
            usages += context.contents[fragment.location]?.variables ?? []
        }
        if usages.isEmpty, operation.variables.isEmpty { return }
        var definitions: [String: VariableDefinition] = [:]
        for variable in operation.variables { definitions[variable.name.value] = variable }

        NoUndefinedVariablesRule.check(usages, definitions, operation, context)
        NoUnusedVariablesRule.check(usages, operation, context)
        VariablesInAllowedPositionRule.check(usages, definitions, context)
    }
}
