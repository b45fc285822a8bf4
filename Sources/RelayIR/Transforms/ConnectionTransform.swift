import GraphQLLanguage

/// Adds to a field with `@connection` what its handler needs: the edges' cursors and the type of their
/// nodes, and the part of `pageInfo` for the directions in which it is paged (Cursor Connections §4, §5).
enum ConnectionTransform {
    static func apply(to context: inout DocumentContext) throws(RelayDocumentErrors) {
        for fragment in context.fragmentsInOrder {
            let selections = try transform(fragment.selectionSet.selections, context)
            context.replace(fragment.with(selections: selections))
        }
        var operations: [OperationDefinition] = []
        for operation in context.operations {
            operations.append(
                operation.with(
                    selections: try transform(operation.selectionSet.selections, context)))
        }
        context.operations = operations
    }

    private static func transform(
        _ selections: [Selection], _ context: DocumentContext
    ) throws(RelayDocumentErrors) -> [Selection] {
        var result: [Selection] = []
        for selection in selections {
            switch selection {
            case .field(let field):
                guard let set = field.selectionSet else {
                    result.append(selection)
                    continue
                }
                var inner = try transform(set.selections, context)
                if let directive = field.directives.named("connection") {
                    try check(field, directive, context)
                    addPaging(to: &inner, of: field)
                }
                result.append(.field(field.with(selections: inner)))
            case .inlineFragment(let fragment):
                let inner = try transform(fragment.selectionSet.selections, context)
                result.append(.inlineFragment(fragment.with(selections: inner)))
            case .fragmentSpread:
                result.append(selection)
            }
        }
        return result
    }

    private static func check(
        _ field: Field, _ directive: Directive, _ context: DocumentContext
    ) throws(RelayDocumentErrors) {
        guard field.arguments.contains(where: { ["first", "last"].contains($0.name.value) }) else {
            throw context.error(
                "Expected field \"\(field.responseName)\" to have a \"first\" or \"last\" argument.",
                at: field.location)
        }
        let suffix = "_" + field.responseName
        guard let key = directive.argument("key")?.string, key.hasSuffix(suffix),
            key.utf8.count > suffix.utf8.count
        else {
            throw context.error(
                "Expected the \"key\" argument of @connection to be of form "
                    + "\"<SomeName>\(suffix)\".", at: directive.location)
        }
    }

    private static func addPaging(to selections: inout [Selection], of field: Field) {
        let place = field.location
        func plain(_ name: String, _ selections: [Field] = []) -> Field {
            .generated(name, selections: selections.map { .field($0) }, at: place)
        }
        selections.merge(plain("edges", [plain("cursor"), plain("node", [plain("__typename")])]))
        var pageInfo: [Field] = []
        let given = Set(field.arguments.map(\.name.value))
        if given.contains("first") { pageInfo += [plain("endCursor"), plain("hasNextPage")] }
        if given.contains("last") { pageInfo += [plain("hasPreviousPage"), plain("startCursor")] }
        selections.merge(plain("pageInfo", pageInfo))
    }
}

/// The arguments of `@connection`.
struct ConnectionDirective {
    let key: String
    /// The arguments of the field that distinguish connections; nil if there are none.
    let filters: [String]?

    static let pagingArguments: Set<String> = ["first", "last", "after", "before"]

    init?(_ field: Field) {
        guard let directive = field.directives.named("connection"),
            let key = directive.argument("key")?.string
        else { return nil }
        self.key = key
        if let filters = directive.argument("filters")?.strings {
            self.filters = filters.isEmpty ? nil : filters
        } else {
            let names = field.arguments.map(\.name.value)
                .filter { !Self.pagingArguments.contains($0) }
            filters = names.isEmpty ? nil : names
        }
    }
}
