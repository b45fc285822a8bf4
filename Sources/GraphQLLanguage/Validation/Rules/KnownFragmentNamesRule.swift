/// Fragment spread target defined (GraphQL §5.5.2.1).
enum KnownFragmentNamesRule {
    static func check(_ spread: FragmentSpread, _ context: ValidationContext) {
        if context.fragment(named: spread.name.value) == nil {
            context.report(
                "Unknown fragment \"\(spread.name.value)\"." + suggestion(spread, context),
                at: spread.name.location)
        }
    }

    /// graphql-js has none; but a client's documents are many.
    private static func suggestion(
        _ spread: FragmentSpread, _ context: ValidationContext
    ) -> String {
        guard context.dialect != nil else { return "" }
        return didYouMean(
            suggestions(
                for: spread.name.value, among: context.fragments.map(\.node.name.value)))
    }
}
