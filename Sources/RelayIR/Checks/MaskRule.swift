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

    static func check(_ spread: TypedSpread, _ context: RuleContext) {
        if let argument = spread.directives.named("relay")?.argument("plural") {
            context.report(
                "Argument \"plural\" of @relay is for fragments, not for fragment spreads.",
                at: argument.location)
        }
        if spread.isUnmasked, !context.documents.variables(of: spread.fragment).isEmpty {
            context.report(
                "Fragment \"\(spread.name)\" cannot be spread with @relay(mask: false): it has "
                    + "@argumentDefinitions.", at: spread.location)
        }
    }
}
