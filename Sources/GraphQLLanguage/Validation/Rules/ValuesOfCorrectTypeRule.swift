/// Values of correct type (GraphQL §5.6.1), input object field names (§5.6.2), required fields
/// (§5.6.4) and @oneOf (§3.10.1).
enum ValuesOfCorrectTypeRule {
    /// Checks one literal, apart from its parts.
    ///
    /// - Returns: whether its parts are worth checking.
    static func check(
        _ value: Value, _ place: ValuePlace, _ context: ValidationContext
    ) -> Bool {
        guard let type = place.type else { return true }
        if let message = context.schema.mismatch(value, expecting: type) {
            context.report(message, at: value.location)
            return false
        }
        if case .object(let fields) = value.kind {
            check(fields, of: context.schema[type.namedType], at: value.location, context)
        }
        return true
    }

    private static func check(
        _ fields: [ObjectField], of type: NamedType, at location: Int, _ context: ValidationContext
    ) {
        guard type.kind == .inputObject else { return }
        for message in context.schema.missingFields(fields, of: type) {
            context.report(message, at: location)
        }
        if let message = context.schema.oneOfMismatch(fields, of: type) {
            context.report(message, at: location)
        }
        for field in fields where type.inputField(field.name.value) == nil {
            context.report(context.schema.unknownField(field, of: type), at: field.location)
        }
    }
}
