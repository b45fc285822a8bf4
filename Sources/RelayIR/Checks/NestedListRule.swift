import GraphQLLanguage

/// A store keeps the links of a record in flat lists.
enum NestedListRule {
    static func check(_ field: TypedField, _ context: RuleContext) {
        guard field.type.kind.isComposite, field.definition.type.listItem?.listItem != nil else {
            return
        }
        context.report(
            "Field \"\(field.responseName)\" cannot be selected: it is a list of lists of objects, which a "
                + "store does not keep.", at: field.location)
    }
}
