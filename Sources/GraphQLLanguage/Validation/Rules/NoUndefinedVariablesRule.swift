/// All variable uses defined (GraphQL §5.8.3).
enum NoUndefinedVariablesRule {
    static func check(
        _ usages: [VariableUsage], _ definitions: [String: VariableDefinition],
        _ operation: OperationDefinition, _ context: ValidationContext
    ) {
        for usage in usages where definitions[usage.name] == nil {
            let by = operation.name.map { " by operation \"\($0.value)\"" } ?? ""
            context.report(
                "Variable \"$\(usage.name)\" is not defined\(by).",
                at: [usage.location, operation.location])
        }
    }
}
