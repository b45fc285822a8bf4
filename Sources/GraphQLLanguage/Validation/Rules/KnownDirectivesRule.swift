/// Directives are defined (GraphQL §5.7.1) and in valid locations (§5.7.2).
enum KnownDirectivesRule {
    static func check(
        _ directive: Directive, _ definition: SchemaDirective?, on place: DirectiveLocation,
        _ context: ValidationContext
    ) {
        let name = directive.name.value
        guard let definition else {
            context.report("Unknown directive \"@\(name)\".", at: directive.location)
            return
        }
        if !definition.locations.contains(place) {
            context.report(
                "Directive \"@\(name)\" may not be used on \(place.rawValue).",
                at: directive.location)
        }
    }
}
