import GraphQLLanguage

/// A `@refetchable` fragment is on a record that a query can find again, and its query has a name of its own.
enum RefetchableRule {
    static func check(_ fragment: TypedFragment, _ context: RuleContext) {
        guard let directive = fragment.definition.directives.named("refetchable") else { return }
        func report(_ problem: String) {
            context.report(
                "Cannot refetch fragment \"\(fragment.name)\": " + problem, at: directive.location)
        }
        if fragment.definition.directives.named("relay")?.argument("plural")?.bool == true {
            report("it is read from a list of records, with @relay(plural: true).")
        }
        guard let path = context.schema.refetchPath(of: fragment.type) else {
            return report("\"\(fragment.type.name)\" is neither Query nor Viewer nor a Node.")
        }
        let declared = context.documents.variables(of: fragment.definition)
        if path == ["node"], declared.contains(where: { $0.name.value == "id" }) {
            report("its own variable \"$id\" has the name of the one for the record.")
        }
    }

    /// Names of operations are unique, written or generated.
    static func checkNames(_ context: RuleContext) {
        var known: [String: Int] = [:]
        for operation in context.documents.operations {
            guard let name = operation.name, known[name.value] == nil else { continue }
            known[name.value] = name.location
        }
        for fragment in context.documents.fragments {
            guard let value = fragment.directives.named("refetchable")?.argument("queryName"),
                let name = value.string
            else { continue }
            if !name.isGraphQLName {
                context.report(
                    "Expected \"queryName\" of @refetchable to be a name, not \"\(name)\".",
                    at: value.location)
            }
            if let other = known[name] {
                context.report(
                    "There can be only one operation named \"\(name)\".", at: other, value.location)
            } else {
                known[name] = value.location
            }
        }
    }
}
