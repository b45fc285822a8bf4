/// Operation type existence (GraphQL §5.2.1.1): the schema must have such a root type.
enum KnownOperationTypesRule {
    static func check(_ operation: OperationDefinition, _ context: ValidationContext) {
        if context.schema.rootType(of: operation.operation) == nil {
            context.report(
                "The \(operation.operation.rawValue) operation is not supported by the schema.",
                at: operation.location)
        }
    }
}
