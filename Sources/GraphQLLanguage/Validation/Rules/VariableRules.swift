/// The rules about variables, which need an operation with all its fragments: all uses defined
/// (GraphQL §5.8.3), all variables used (§5.8.4), all usages allowed (§5.8.5).
enum VariableRules {
    /// - Parameter fragments: those that the operation uses.
    static func check(
        _ definition: ValidationContext.Definition<OperationDefinition>, _ fragments: [Int],
        _ context: ValidationContext
    ) {
        let operation = definition.node
        var usages = definition.contents.variables
        for index in fragments { usages += context.fragments[index].contents.variables }
        if usages.isEmpty, operation.variables.isEmpty { return }
        var definitions: [String: VariableDefinition] = [:]
        for variable in operation.variables { definitions[variable.name.value] = variable }

        NoUndefinedVariablesRule.check(usages, definitions, operation, context)
        NoUnusedVariablesRule.check(usages, operation, context)
        VariablesInAllowedPositionRule.check(usages, definitions, context)
    }
}
