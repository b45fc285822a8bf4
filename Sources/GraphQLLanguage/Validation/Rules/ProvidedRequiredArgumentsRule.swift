/// Required arguments (GraphQL §5.4.3).
enum ProvidedRequiredArgumentsRule {
    static func check(
        _ field: Field, _ definition: SchemaField, _ context: ValidationContext
    ) {
        for argument in definition.arguments
        where argument.isRequired && !field.arguments.contains(argument) {
            context.report(
                "Field \"\(definition.name)\" " + lack(of: argument, context.schema),
                at: field.location)
        }
    }

    static func check(
        _ directive: Directive, _ definition: SchemaDirective, _ context: ValidationContext
    ) {
        for argument in definition.arguments
        where argument.isRequired && !directive.arguments.contains(argument) {
            context.report(
                "Directive \"@\(definition.name)\" " + lack(of: argument, context.schema),
                at: directive.location)
        }
    }

    private static func lack(of argument: SchemaInputValue, _ schema: Schema) -> String {
        "argument \"\(argument.name)\" of type \"\(schema.print(argument.type))\" is required, "
            + "but it was not provided."
    }
}

extension [Argument] {
    fileprivate func contains(_ definition: SchemaInputValue) -> Bool {
        contains { $0.name.value == definition.name }
    }
}
