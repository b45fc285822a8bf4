/// All variables used (GraphQL §5.8.4).
enum NoUnusedVariablesRule {
    static func check(
        _ usages: [VariableUsage], _ operation: OperationDefinition, _ context: ValidationContext
    ) {
        guard !operation.variables.isEmpty else { return }
        let used = Set(usages.map(\.name))
        for variable in operation.variables where !used.contains(variable.name.value) {
            let place = operation.name.map { " in operation \"\($0.value)\"" } ?? ""
            context.report(
                "Variable \"$\(variable.name.value)\" is never used\(place).",
                at: variable.location)
        }
    }
}
