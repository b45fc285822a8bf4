/// Directives are defined (GraphQL §5.7.1) and in valid locations (§5.7.2).
enum KnownDirectivesRule {
    static func check(
        _ directive: Directive, _ definition: SchemaDirective?, on place: DirectiveLocation,
        _ context: ValidationContext
    ) {
        let name = directive.name.value
        guard let definition else {
            context.report(
                "Unknown directive \"@\(name)\"." + suggestion(name, context),
                at: directive.location)
            return
        }
        if !definition.locations.contains(place) {
            context.report(
                "Directive \"@\(name)\" may not be used on \(place.rawValue).",
                at: directive.location)
        }
    }

    /// graphql-js has none; but a client has many more directives.
    private static func suggestion(_ name: String, _ context: ValidationContext) -> String {
        guard context.dialect != nil else { return "" }
        let known = context.schema.directiveDefinitions.filter {
            $0.locations.contains(where: \.isExecutable)
        }
        return didYouMean(
            suggestions(for: name, among: known.map(\.name)).map { "@\($0)" })
    }
}
