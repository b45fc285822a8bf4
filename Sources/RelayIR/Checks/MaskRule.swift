import GraphQLLanguage

/// `@relay(plural:)` is for fragments, `@relay(mask:)` for spreads; and what is written out in a reader cannot have
/// variables of its own.
enum MaskRule {
    static func check(_ fragment: FragmentDefinition, _ context: RuleContext) {
        guard let argument = fragment.directives.named("relay")?.argument("mask") else { return }
        context.report(
            "Argument \"mask\" of @relay is for fragment spreads, not for fragments.",
            at: argument.location)
    }

    /// - Parameter fragment: the one in which it is spread; nil in an operation.
    static func check(
        _ spread: TypedSpread, in fragment: TypedFragment?, _ context: RuleContext
    ) {
        if let argument = spread.directives.named("relay")?.argument("plural") {
            context.report(
                "Argument \"plural\" of @relay is for fragments, not for fragment spreads.",
                at: argument.location)
        }
        guard spread.isUnmasked else { return }
        guard context.documents.variables(of: spread.fragment).isEmpty else {
            return context.report(
                "Fragment \"\(spread.name)\" cannot be spread with @relay(mask: false): it has "
                    + "@argumentDefinitions.", at: spread.location)
        }
        if let fragment { checkVariables(spread, in: fragment, context) }
    }

    /// Written out, a variable would be that of the fragment around it for the reader, and still the operation's for the
    /// server.
    private static func checkVariables(
        _ spread: TypedSpread, in fragment: TypedFragment, _ context: RuleContext
    ) {
        let declared = Set(
            context.documents.variables(of: fragment.definition).map(\.name.value))
        guard !declared.isEmpty, let unmasked = context.fragments[spread.name] else { return }
        var usage = FragmentVariables(
            context.documents, context.fragments, following: .unmasked)
        usage.collect(unmasked)
        guard let variable = usage.names.first(where: declared.contains) else { return }
        context.report(
            "Fragment \"\(spread.name)\" cannot be spread with @relay(mask: false) in fragment "
                + "\"\(fragment.name)\", which declares \"$\(variable)\": \"\(spread.name)\" uses the "
                + "operation's variable of that name.", at: spread.location)
    }
}
