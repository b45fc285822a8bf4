/// Fragment spread target defined (GraphQL §5.5.2.1).
enum KnownFragmentNamesRule {
    static func check(_ spread: FragmentSpread, _ context: ValidationContext) {
        if context.fragment(named: spread.name.value) == nil {
            context.report(
                "Unknown fragment \"\(spread.name.value)\".", at: spread.name.location)
        }
    }
}
