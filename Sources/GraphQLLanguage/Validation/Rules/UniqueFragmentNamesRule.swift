/// Fragment name uniqueness (GraphQL §5.5.1.1).
enum UniqueFragmentNamesRule {
    static func check(_ context: ValidationContext) {
        guard context.fragments.count > 1 else { return }
        var seen: [String: Int] = [:]
        for fragment in context.fragments {
            let name = fragment.node.name
            if let first = seen[name.value] {
                context.report(
                    "There can be only one fragment named \"\(name.value)\".",
                    at: [first, name.location])
            } else {
                seen[name.value] = name.location
            }
        }
    }
}
