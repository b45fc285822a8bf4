import GraphQLLanguage

/// A field is `@catch` wherever it is selected; and errors are either caught, or thrown, or make an object null.
enum CatchRule {
    static func check(_ field: TypedField, _ place: SelectionPlace, _ context: RuleContext) {
        let target = field.directives.catchTarget
        if let first = place.fields[field.responseName], first.directives.catchTarget != target {
            context.report(
                "Field \"\(field.responseName)\" must be @catch with the same \"to\" wherever it is "
                    + "selected.", at: first.location, field.location)
        }
        if target != nil, let required = field.directives.named("required") {
            context.report(
                "Field \"\(field.responseName)\" cannot be both @catch and @required.",
                at: required.location)
        }
    }

    /// - Parameter kind: of the definition that has the directives.
    static func check(
        _ directives: [Directive], of kind: String, _ name: Name?, _ context: RuleContext
    ) {
        guard let caught = directives.named("catch"),
            let thrown = directives.named("throwOnFieldError")
        else { return }
        context.report(
            "\(kind)\(name.map { " \"\($0.value)\"" } ?? "") cannot have both @catch and "
                + "@throwOnFieldError.", at: caught.location, thrown.location)
    }
}
