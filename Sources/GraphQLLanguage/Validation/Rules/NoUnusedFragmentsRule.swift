/// Fragments must be used (GraphQL §5.5.1.4).
enum NoUnusedFragmentsRule {
    static func check(_ context: ValidationContext) {
        guard !context.fragments.isEmpty else { return }
        var used: Set<String> = []
        for operation in context.document.operations {
            for fragment in context.fragmentsReached(from: operation) {
                used.insert(fragment.name.value)
            }
        }
        for fragment in context.document.fragments where !used.contains(fragment.name.value) {
            context.report(
                "Fragment \"\(fragment.name.value)\" is never used.", at: fragment.location)
        }
    }
}
