/// The arguments of fragment spreads: only those that the fragment declares, and all that it requires.
enum FragmentArgumentsRule {
    static func check(
        _ directive: Directive?, of spread: FragmentSpread, _ dialect: ClientDialect,
        _ context: ValidationContext
    ) {
        let fragment = spread.name.value
        guard context.fragment(named: fragment) != nil else { return }
        let variables = dialect.variables(of: fragment)
        let given = directive?.arguments ?? []
        for argument in given where variables[argument.name.value] == nil {
            let name = argument.name.value
            context.report(
                "Unknown argument \"\(name)\" on fragment \"\(fragment)\"."
                    + didYouMean(suggestions(for: name, among: Array(variables.keys))),
                at: argument.location)
        }
        for variable in variables.values.sorted(by: { $0.location < $1.location })
        where variable.isRequired
            && !given.contains(where: { $0.name.value == variable.name.value })
        {
            context.report(
                "Fragment \"\(fragment)\" argument \"\(variable.name.value)\" of type "
                    + "\"\(variable.type)\" is required, but it was not provided.",
                at: spread.location)
        }
    }

    /// What is expected of the value of an argument.
    static func place(
        _ argument: String, of spread: FragmentSpread, _ dialect: ClientDialect,
        _ context: ValidationContext
    ) -> ValuePlace {
        let variable = dialect.variables(of: spread.name.value)[argument]
        return ValuePlace(
            type: variable.flatMap { context.schema.resolve($0.type) },
            hasDefault: variable?.defaultValue != nil)
    }
}

extension VariableDefinition {
    /// Whether a value must be given.
    package var isRequired: Bool {
        if case .nonNull = type { defaultValue == nil } else { false }
    }
}
