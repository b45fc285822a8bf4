/// Fragment spread is possible (GraphQL §5.5.2.3): some object must be of both types.
enum PossibleFragmentSpreadsRule {
    static func check(
        _ spread: FragmentSpread, in parent: NamedType?, _ context: ValidationContext
    ) {
        guard let fragment = context.fragment(named: spread.name.value) else { return }
        let type = context.schema.compositeType(fragment.typeCondition.value)
        check(
            type, in: parent, "Fragment \"\(spread.name.value)\"", at: spread.location, context)
    }

    static func check(
        _ fragment: InlineFragment, _ type: NamedType?, in parent: NamedType?,
        _ context: ValidationContext
    ) {
        check(type, in: parent, "Fragment", at: fragment.location, context)
    }

    private static func check(
        _ type: NamedType?, in parent: NamedType?, _ subject: @autoclosure () -> String,
        at location: Int, _ context: ValidationContext
    ) {
        guard let type, let parent, !context.schema.overlap(type.id, parent.id) else { return }
        context.report(
            "\(subject()) cannot be spread here as objects of type \"\(parent.name)\" "
                + "can never be of type \"\(type.name)\".", at: location)
    }
}
