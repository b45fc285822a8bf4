import GraphQLLanguage

/// Fields with `@connection` are connections (Cursor Connections §2), are paged, select their edges, and are kept under
/// a key that says whose they are.
enum ConnectionRule {
    static func check(_ field: TypedField, _ context: RuleContext) {
        guard let directive = field.directives.named("connection") else { return }
        if let problem = problem(of: field, context.schema) {
            // What else it should be says nothing of what is not one.
            return context.report(
                "Field \"\(field.responseName)\" cannot have @connection: " + problem,
                at: directive.location)
        }
        checkPaging(field, context)
        checkKey(field, directive, context)
        checkFilters(field, directive, context)
        checkSelections(field, context)
    }

    /// The type has everything that paging needs; it is added where it is not selected.
    private static func problem(of field: TypedField, _ schema: Schema) -> String? {
        func type(of name: String, on type: NamedType) throws(MissingField) -> NamedType {
            guard let field = schema.field(name, on: type) else {
                throw MissingField(name: name, type: type.name)
            }
            return schema[field.namedType]
        }
        if field.definition.type.listItem != nil {
            return "its value is a list, of type \"\(schema.print(field.definition.type))\"."
        }
        do throws(MissingField) {
            let edge = try type(of: "edges", on: field.type)
            guard schema.field("edges", on: field.type)?.type.listItem != nil, edge.kind.isComposite
            else { return "\"\(field.type.name).edges\" is not a list of objects." }
            let node = try type(of: "node", on: edge)
            _ = try type(of: "cursor", on: edge)
            guard node.kind.isComposite else { return "\"\(edge.name).node\" is not an object." }
            let pageInfo = try type(of: "pageInfo", on: field.type)
            for name in ["endCursor", "hasNextPage", "hasPreviousPage", "startCursor"] {
                _ = try type(of: name, on: pageInfo)
            }
            return nil
        } catch {
            return "type \"\(error.type)\" has no field \"\(error.name)\"."
        }
    }

    private struct MissingField: Error {
        let name: String
        let type: String
    }

    private static func checkPaging(_ field: TypedField, _ context: RuleContext) {
        if field.arguments.contains(where: { ["first", "last"].contains($0.name.value) }) {
            return
        }
        context.report(
            "Expected field \"\(field.responseName)\" to have a \"first\" or \"last\" argument.",
            at: field.location)
    }

    private static func checkKey(
        _ field: TypedField, _ directive: Directive, _ context: RuleContext
    ) {
        // That it is missing, or a variable, is another rule's.
        guard let value = directive.argument("key"), let key = value.string else { return }
        let suffix = "_" + field.responseName
        if key.hasSuffix(suffix), key.utf8.count > suffix.utf8.count { return }
        context.report(
            "Expected the \"key\" argument of @connection to be of form \"<SomeName>\(suffix)\".",
            at: directive.location)
    }

    private static func checkFilters(
        _ field: TypedField, _ directive: Directive, _ context: RuleContext
    ) {
        guard let value = directive.argument("filters"), let filters = value.strings else { return }
        let known = field.definition.arguments.map(\.name)
        for filter in filters where !known.contains(filter) {
            context.report(
                "Unknown argument \"\(filter)\" in \"filters\" of @connection: field "
                    + "\"\(field.name)\" has no such argument."
                    + didYouMean(suggestions(for: filter, among: known)), at: value.location)
        }
    }

    private static func checkSelections(_ field: TypedField, _ context: RuleContext) {
        // Edges are selected here, and their node may be in a fragment that is spread in them.
        guard let edges = field.selections?.selected("edges") else {
            return context.report(
                "Expected field \"\(field.responseName)\" with @connection to select \"edges\".",
                at: field.location)
        }
        if edges.contains(where: { $0.selections?.selects("node") ?? false }) { return }
        context.report(
            "Expected field \"\(field.responseName)\" with @connection to select \"node\" in "
                + "\"edges\".", at: edges.first?.location ?? field.location)
    }
}

extension [TypedSelection] {
    /// The fields with a name and no alias, here and in inline fragments; nil if there are none.
    fileprivate func selected(_ name: String) -> [TypedField]? {
        let found = flatMap { selection -> [TypedField] in
            switch selection {
            case .field(let field): field.name == name && field.alias == nil ? [field] : []
            case .inlineFragment(let fragment): fragment.selections.selected(name) ?? []
            case .spread: []
            }
        }
        return found.isEmpty ? nil : found
    }

    /// Whether a field is selected here, or may be in a fragment that is spread here.
    func selects(_ name: String) -> Bool {
        contains { selection in
            switch selection {
            case .field(let field): field.name == name
            case .inlineFragment(let fragment): fragment.selections.selects(name)
            case .spread: true
            }
        }
    }
}
