import GraphQLLanguage

/// Adds to a field with `@connection` what its handler needs: the edges' cursors and the type of their
/// nodes, and the part of `pageInfo` for the directions in which it is paged (Cursor Connections §4, §5).
struct ConnectionTransform {
    let schema: Schema

    func applied(to selections: [TypedSelection]) -> [TypedSelection] {
        selections.mapped { field in
            if ConnectionDirective(field) != nil { addPaging(to: &field) }
        }
    }

    private func addPaging(to field: inout TypedField) {
        var selections = field.selections ?? []
        let place = field.location
        func plain(_ name: String, on type: NamedType, _ inner: [String] = []) -> TypedField? {
            guard var field = schema.plainField(name, on: type, at: place) else { return nil }
            if field.type.kind.isComposite {
                let type = field.type
                field.selections = inner.compactMap {
                    schema.plainField($0, on: type, at: place).map { .field($0) }
                }
            }
            return field
        }
        if var edges = schema.plainField("edges", on: field.type, at: place) {
            let added = [
                plain("cursor", on: edges.type), plain("node", on: edges.type, ["__typename"]),
            ]
            edges.selections = added.compactMap { $0.map { .field($0) } }
            selections.merge(edges)
        }
        var pageInfo: [String] = []
        let given = Set(field.arguments.map(\.name.value))
        if given.contains("first") { pageInfo += ["endCursor", "hasNextPage"] }
        if given.contains("last") { pageInfo += ["hasPreviousPage", "startCursor"] }
        if let added = plain("pageInfo", on: field.type, pageInfo) { selections.merge(added) }
        field.selections = selections
    }
}

/// The arguments of `@connection`.
struct ConnectionDirective {
    let key: String
    /// The arguments of the field that distinguish connections; nil if there are none.
    let filters: [String]?

    static let pagingArguments: Set<String> = ["first", "last", "after", "before"]

    init?(_ field: TypedField) {
        self.init(field.directives, arguments: field.arguments)
    }

    /// - Parameter arguments: those of the field.
    init?(_ directives: [Directive], arguments: [Argument]) {
        guard let directive = directives.named("connection"),
            let key = directive.argument("key")?.string
        else { return nil }
        self.key = key
        if let filters = directive.argument("filters")?.strings {
            self.filters = filters.isEmpty ? nil : filters
        } else {
            let names = arguments.map(\.name.value).filter { !Self.pagingArguments.contains($0) }
            filters = names.isEmpty ? nil : names
        }
    }
}

extension Schema {
    /// A field that is not in the document, located at what requires it; nil if the type lacks it.
    func plainField(
        _ name: String, alias: String? = nil, on type: NamedType, at location: Int
    ) -> TypedField? {
        guard let definition = field(name, on: type) else { return nil }
        return TypedField(
            alias: alias, name: name, definition: definition, type: self[definition.namedType],
            location: location, isWritten: false)
    }
}

extension [TypedSelection] {
    /// Adds a plain field, or merges its selections into an existing one.
    fileprivate mutating func merge(_ added: TypedField) {
        for (index, selection) in enumerated() {
            guard case .field(var present) = selection, present.name == added.name,
                present.alias == nil, present.directives.isEmpty
            else { continue }
            guard let more = added.selections else { return }
            var selections = present.selections ?? []
            for field in more.fields { selections.merge(field) }
            present.selections = selections
            self[index] = .field(present)
            return
        }
        append(.field(added))
    }
}
