import GraphQLExecution
import GraphQLLanguage
import RelayJSON
@_spi(Rooms) import RelayRecords

// Selects records of a list: by arguments named like fields of the node, and by the constant `where` of
// @count.

/// A ``LinkFilter`` before it is bound to a store's symbols.
struct FilterDefinition: Sendable {
    let field: String
    /// The types of the linked record; nil if the field is not a link.
    let linked: [TypeID]?
}

/// A ``LinkCondition`` before it is bound to a store's symbols.
struct ConditionDefinition: Sendable {
    let field: String
    let value: JSONValue
    /// The types of the linked record; nil if the field is not a link.
    let linked: [TypeID]?
}

extension ServiceTypes {
    func bind(_ filters: [FilterDefinition], _ symbols: Symbols) -> [LinkFilter] {
        filters.map { filter in
            LinkFilter(
                argument: filter.field, key: symbols.name(filter.field),
                lookup: filter.linked.map { lookup(filter.field, $0, symbols) })
        }
    }

    func bind(_ conditions: [ConditionDefinition], _ symbols: Symbols) -> [LinkCondition] {
        conditions.map { condition in
            LinkCondition(
                key: symbols.name(condition.field), value: condition.value,
                lookup: condition.linked.map { lookup(condition.field, $0, symbols) })
        }
    }
}

extension FieldCompiler {
    /// The filters given by a list's arguments.
    /// - Parameter isPaged: first, last, after and before are paging arguments.
    func filters(
        of field: SchemaField, of type: NamedType, nodes: [TypeID], isPaged: Bool = false
    ) -> [FilterDefinition] {
        field.arguments.compactMap { argument in
            if isPaged, let pageType = Self.pageArguments[argument.name] {
                checkPageArgument(argument, is: pageType)
                return nil
            }
            return filter(argument, of: "\(type.name).\(field.name)", nodes: nodes)
        }
    }

    private static let pageArguments = [
        "first": "Int", "last": "Int", "after": "String", "before": "String",
    ]

    private func checkPageArgument(_ argument: SchemaInputValue, is expected: String) {
        let name = types.schema[argument.namedType].name
        let isText = expected == "String" && name == "ID"
        if argument.type.listItem == nil, name == expected || isText { return }
        mistakes.report(
            """
            Argument "\(argument.name)" of a connection is \(expected), not \
            \(types.schema.print(argument.type)). Write: \(argument.name): \(expected)
            """, at: argument.location)
    }

    private func filter(
        _ argument: SchemaInputValue, of field: String, nodes: [TypeID]
    ) -> FilterDefinition? {
        let schema = types.schema
        guard let (nodeField, kind) = types.sharedField(argument.name, of: nodes),
            kind.isComparable
        else {
            let near = nearest(argument.name, among: comparableFields(of: nodes))
            let node = nodes.first.map { schema[$0].name } ?? ""
            mistakes.report(
                """
                Argument "\(argument.name)" of "\(field)" names no stored field of "\(node)" to \
                filter by.\(near)
                """, at: argument.location)
            return nil
        }
        let linked = kind.linked.map(types.recordTypes)
        let fits =
            linked == nil
            ? schema.canStore(argument.type, in: nodeField.type)
            : schema.isRecordName(argument.type)
        guard fits else {
            let expected = linked == nil ? schema.print(nodeField.type.nullable) : "ID"
            mistakes.report(
                """
                Argument "\(argument.name)" of "\(field)" is compared with a field of type \
                \(schema.print(nodeField.type)). Write: \(argument.name): \(expected)
                """, at: argument.location)
            return nil
        }
        return FilterDefinition(field: argument.name, linked: linked)
    }

    /// The conditions in the `where` of @count.
    func conditions(_ directive: AppliedDirective, nodes: [TypeID]) -> [ConditionDefinition] {
        guard let value = directive.directive.argument("where") else { return [] }
        guard case .object(let fields) = value.kind else {
            if case .null = value.kind { return [] }
            directive.report(
                "\"where\" is an object. Write: where: { field: value }", at: value.location)
            return []
        }
        return fields.compactMap { condition($0, directive, nodes: nodes) }
    }

    private func condition(
        _ field: ObjectField, _ directive: AppliedDirective, nodes: [TypeID]
    ) -> ConditionDefinition? {
        let name = field.name.value
        guard let (nodeField, kind) = types.sharedField(name, of: nodes), kind.isComparable else {
            let near = nearest(name, among: comparableFields(of: nodes))
            let node = nodes.first.map { types.schema[$0].name } ?? ""
            directive.report(
                "\"\(name)\" is no stored field of \"\(node)\" to compare with.\(near)",
                at: field.location)
            return nil
        }
        let value = field.value.constant
        let linked = kind.linked.map(types.recordTypes)
        if linked != nil {
            if value == .null || value.recordName != nil {
                return ConditionDefinition(field: name, value: value, linked: linked)
            }
        } else if let value = types.schema.storable(value, as: nodeField.type.nullable) {
            return ConditionDefinition(field: name, value: value, linked: nil)
        }
        let expected = linked == nil ? types.schema.print(nodeField.type) : "an id"
        directive.report(
            "\"\(name)\" is \(expected), and \(value.text) is none.", at: field.value.location)
        return nil
    }

    private func comparableFields(of nodes: [TypeID]) -> [String] {
        guard let first = nodes.first else { return [] }
        return types.schema[first].fields.map(\.name)
            .filter { types.sharedField($0, of: nodes)?.1.isComparable ?? false }
    }
}

extension RecordFieldKind {
    /// Whether the field holds a single value that can be compared for equality.
    fileprivate var isComparable: Bool {
        switch self {
        case .leaf, .link: true
        case .id, .links, .connection, .found: false
        }
    }

    /// The type of the record that a link points to.
    fileprivate var linked: TypeID? {
        if case .link(let type) = self { type } else { nil }
    }
}
