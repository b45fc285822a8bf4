import GraphQLLanguage

/// The directives of mutations and subscriptions that change connections and delete records: each is on a field that
/// has what its handler takes.
enum EdgeRule {
    static func check(_ field: TypedField, _ place: SelectionPlace, _ context: RuleContext) {
        for directive in field.directives {
            let name = directive.name.value
            guard RelayDirectives.handles.contains(name) else { continue }
            if place.operation == .query {
                context.report(
                    "Directive \"@\(name)\" is for mutations and subscriptions, not for queries.",
                    at: directive.location)
            }
            switch name {
            case "appendEdge", "prependEdge": checkEdge(field, directive, context)
            case "appendNode", "prependNode": checkNode(field, directive, context)
            default: checkID(field, directive, context)
            }
        }
    }

    private static func checkEdge(
        _ field: TypedField, _ directive: Directive, _ context: RuleContext
    ) {
        let name = directive.name.value
        let node = context.schema.field("node", on: field.type)
        guard field.type.kind.isComposite, let node,
            context.schema[node.namedType].kind.isComposite
        else {
            return context.report(
                "Field \"\(field.responseName)\" cannot have @\(name): type \"\(field.type.name)\" is "
                    + "not that of an edge, an object with a \"node\".", at: directive.location)
        }
        if !(field.selections?.selects("node") ?? false) {
            context.report(
                "Expected field \"\(field.responseName)\" with @\(name) to select \"node\".",
                at: field.location)
        }
    }

    private static func checkNode(
        _ field: TypedField, _ directive: Directive, _ context: RuleContext
    ) {
        let name = directive.name.value
        let schema = context.schema
        guard field.type.kind.isComposite else {
            return context.report(
                "Field \"\(field.responseName)\" cannot have @\(name): type \"\(field.type.name)\" is "
                    + "not that of an object.", at: directive.location)
        }
        guard let value = directive.argument("edgeTypeName"), let edgeName = value.string
        else { return }
        guard let edge = schema.type(named: edgeName) else {
            let objects = schema.types.filter { $0.kind == .object && $0.origin == .document }
            return context.report(
                "Unknown type \"\(edgeName)\" in \"edgeTypeName\" of @\(name)."
                    + didYouMean(suggestions(for: edgeName, among: objects.map(\.name))),
                at: value.location)
        }
        guard edge.kind == .object, let node = edge.field("node") else {
            return context.report(
                "Expected type \"\(edgeName)\" in \"edgeTypeName\" of @\(name) to be that of an edge, an "
                    + "object with a \"node\".", at: value.location)
        }
        if !schema.overlap(node.namedType, field.type.id) {
            context.report(
                "Field \"\(field.responseName)\" cannot be the node of an edge of type \"\(edgeName)\": "
                    + "its type is \"\(field.type.name)\", not \"\(schema[node.namedType].name)\".",
                at: value.location)
        }
    }

    private static func checkID(
        _ field: TypedField, _ directive: Directive, _ context: RuleContext
    ) {
        if field.type.name == "ID" { return }
        context.report(
            "Field \"\(field.responseName)\" cannot have @\(directive.name.value): its type is "
                + "\"\(context.schema.print(field.definition.type))\", not ID or a list of IDs.",
            at: directive.location)
    }
}
