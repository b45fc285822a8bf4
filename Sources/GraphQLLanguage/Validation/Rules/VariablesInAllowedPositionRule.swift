/// All variable usages are allowed (GraphQL §5.8.5): any value of the variable must be valid where
/// it is used.
enum VariablesInAllowedPositionRule {
    static func check(
        _ usages: [VariableUsage], _ definitions: [String: VariableDefinition],
        _ context: ValidationContext
    ) {
        let schema = context.schema
        for usage in usages {
            guard let definition = definitions[usage.name], let expected = usage.type,
                let type = schema.resolve(definition.type)
            else { continue }
            if !isAllowed(type, definition.defaultValue, in: usage, expected, schema) {
                context.report(
                    "Variable \"$\(usage.name)\" of type \"\(schema.print(type))\" used in "
                        + "position expecting type \"\(schema.print(expected))\".",
                    at: [definition.location, usage.location])
            }
            if let oneOf = usage.oneOfType, !type.isNonNull {
                context.report(
                    "Variable \"$\(usage.name)\" is of type \"\(schema.print(type))\" but must be "
                        + "non-nullable to be used for OneOf Input Object \"\(oneOf.name)\".",
                    at: [definition.location, usage.location])
            }
        }
    }

    /// IsVariableUsageAllowed: a default value, of the variable or of the place, makes up for a
    /// missing `!`.
    private static func isAllowed(
        _ type: WrappedType, _ defaultValue: Value?, in usage: VariableUsage,
        _ expected: WrappedType, _ schema: Schema
    ) -> Bool {
        guard expected.isNonNull, !type.isNonNull else {
            return schema.isSubType(type, of: expected)
        }
        let hasDefault: Bool
        switch defaultValue?.kind {
        case nil, .null: hasDefault = usage.hasDefault
        default: hasDefault = true
        }
        return hasDefault && schema.isSubType(type, of: expected.nullable)
    }
}
