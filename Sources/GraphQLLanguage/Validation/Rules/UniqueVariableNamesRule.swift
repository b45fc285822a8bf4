/// Variable uniqueness (GraphQL §5.8.1).
enum UniqueVariableNamesRule {
    static func check(_ operation: OperationDefinition, _ context: ValidationContext) {
        for (name, locations) in operation.variables.repeatedNames(\.name) {
            context.report("There can be only one variable named \"$\(name)\".", at: locations)
        }
    }
}
