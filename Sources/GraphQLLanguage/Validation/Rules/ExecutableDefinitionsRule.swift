/// Executable definitions (GraphQL §5.1.1): an executable document contains no type system.
enum ExecutableDefinitionsRule {
    static func check(_ context: ValidationContext) {
        for definition in context.document.definitions {
            switch definition {
            case .operation, .fragment: break
            case .schema(let schema): report("schema", at: schema.location, context)
            case .type(let type): report("\"\(type.name.value)\"", at: type.location, context)
            case .directive(let directive):
                report("\"\(directive.name.value)\"", at: directive.location, context)
            }
        }
    }

    private static func report(_ name: String, at location: Int, _ context: ValidationContext) {
        context.report("The \(name) definition is not executable.", at: location)
    }
}
