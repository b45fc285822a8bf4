/// Fragment spread type existence (GraphQL §5.5.1.2), and the same for variables.
enum KnownTypeNamesRule {
    static func check(_ name: Name, _ context: ValidationContext) {
        guard context.schema.type(named: name.value) == nil else { return }
        context.report(
            "Unknown type \"\(name.value)\"." + didYouMean(near(name.value, context.schema)),
            at: name.location)
    }

    private static func near(_ name: String, _ schema: Schema) -> [String] {
        suggestions(
            for: name, among: schema.types.filter { $0.origin != .predefined }.map(\.name))
    }
}
