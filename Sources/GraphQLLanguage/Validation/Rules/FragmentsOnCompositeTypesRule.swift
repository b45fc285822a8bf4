/// Fragments on object, interface or union types (GraphQL §5.5.1.3).
enum FragmentsOnCompositeTypesRule {
    static func check(_ fragment: FragmentDefinition, _ context: ValidationContext) {
        check(
            fragment.typeCondition, "Fragment \"\(fragment.name.value)\"", context)
    }

    static func check(_ fragment: InlineFragment, _ context: ValidationContext) {
        if let condition = fragment.typeCondition { check(condition, "Fragment", context) }
    }

    private static func check(
        _ condition: Name, _ subject: @autoclosure () -> String, _ context: ValidationContext
    ) {
        guard let type = context.schema.type(named: condition.value), !type.kind.isComposite
        else { return }
        context.report(
            "\(subject()) cannot condition on non composite type \"\(condition.value)\".",
            at: condition.location)
    }
}
