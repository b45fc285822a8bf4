/// Argument names (GraphQL §5.4.1): only arguments that the field or directive has.
enum KnownArgumentNamesRule {
    static func check(
        _ field: Field, _ definition: SchemaField, of type: NamedType,
        _ context: ValidationContext
    ) {
        for argument in field.arguments where definition.argument(argument.name.value) == nil {
            report(
                argument, "field \"\(type.name).\(definition.name)\"", definition.arguments, context
            )
        }
    }

    static func check(
        _ directive: Directive, _ definition: SchemaDirective, _ context: ValidationContext
    ) {
        for argument in directive.arguments where definition.argument(argument.name.value) == nil {
            report(argument, "directive \"@\(definition.name)\"", definition.arguments, context)
        }
    }

    private static func report(
        _ argument: Argument, _ owner: String, _ known: [SchemaInputValue],
        _ context: ValidationContext
    ) {
        let name = argument.name.value
        context.report(
            "Unknown argument \"\(name)\" on \(owner)."
                + didYouMean(suggestions(for: name, among: known.map(\.name))),
            at: argument.location)
    }
}
