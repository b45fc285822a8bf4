/// Directives are unique per location (GraphQL §5.7.3), unless they are repeatable.
enum UniqueDirectivesPerLocationRule {
    static func check(_ directives: [Directive], _ context: ValidationContext) {
        guard directives.count > 1 else { return }
        var seen: [String: Int] = [:]
        for directive in directives {
            let name = directive.name.value
            guard let definition = context.schema.directive(named: name), !definition.isRepeatable
            else { continue }
            if let first = seen[name] {
                context.report(
                    "The directive \"@\(name)\" can only be used once at this location.",
                    at: [first, directive.location])
            } else {
                seen[name] = directive.location
            }
        }
    }
}
