import GraphQLExecution
import GraphQLLanguage
@_spi(Rooms) import RelayRecords

// Values that are not stored in a record, but found on request.

extension FieldCompiler {
    /// How @lookup, @list or @count finds a field's value.
    mutating func found(
        _ field: SchemaField, of type: NamedType, by name: ServiceDirective
    ) -> ResolverMaker? {
        guard let applied = field.applied(name) else { return nil }
        let directive = AppliedDirective(directive: applied, types: types, mistakes: mistakes)
        switch name {
        case .lookup: return lookup(field, of: type, directive)
        case .list: return list(field, of: type, directive)
        case .count: return count(field, of: type, directive)
        default: return nil
        }
    }

    private func lookup(
        _ field: SchemaField, of type: NamedType, _ directive: AppliedDirective
    ) -> ResolverMaker? {
        let found = types.recordTypes(of: field.namedType)
        let named = types.schema[field.namedType].name
        guard !found.isEmpty, field.type.listItem == nil else {
            directive.report(
                """
                "\(type.name).\(field.name)" is \(types.schema.print(field.type)), and what is found is one \
                record. Its type must implement Node.
                """)
            return nil
        }
        guard field.arguments.count == 1,
            let argument = field.arguments.first, argument.type.listItem == nil,
            types.schema[argument.namedType].kind.isLeaf
        else {
            directive.report(
                """
                "\(type.name).\(field.name)" must have one argument, the id or unique value of the \
                record. Write: \(field.name)(id: ID!): \(named) @lookup
                """)
            return nil
        }
        let name = argument.name
        return { [types] in .lookup(types.lookup(name, found, $0)) }
    }

    private mutating func list(
        _ field: SchemaField, of type: NamedType, _ directive: AppliedDirective
    ) -> ResolverMaker? {
        guard let listed = directive.storedType("type") else { return nil }
        let name = listed.name
        let connection = types.connections[field.namedType]
        let node = connection?.node ?? field.namedType
        let isList = (field.type.listItem != nil) == (connection == nil)
        guard isList, types.recordTypes(of: node).contains(listed.id) else {
            directive.report(
                """
                "\(type.name).\(field.name)" is \(types.schema.print(field.type)), which holds no list of \
                "\(name)". Write: \(field.name): [\(name)!]! @list(type: "\(name)"), or a connection
                """)
            return nil
        }
        add(.records(type: name))
        let filters = filters(
            of: field, of: type, nodes: [listed.id], isPaged: connection != nil)
        if connection != nil {
            return { [types] in
                .connection(.records(type: $0.name(name)), filters: types.bind(filters, $0))
            }
        }
        return { [types] in
            .links(.records(type: $0.name(name)), filters: types.bind(filters, $0))
        }
    }

    private mutating func count(
        _ field: SchemaField, of type: NamedType, _ directive: AppliedDirective
    ) -> ResolverMaker? {
        if types.schema[field.namedType].name != "Int" || field.type.listItem != nil {
            directive.report(
                """
                "\(type.name).\(field.name)" is \(types.schema.print(field.type)). Write: \
                \(field.name): Int! @count(…)
                """)
        }
        for argument in field.arguments {
            directive.report(
                "Argument \"\(argument.name)\" means nothing here. Remove it.",
                at: argument.location)
        }
        guard let counted = directive.listField("field", of: type) else { return nil }
        let nodes = types.recordTypes(of: counted.node)
        let conditions = conditions(directive, nodes: nodes)
        var name: String?
        if conditions.allSatisfy({ $0.linked == nil }) {
            let definition = CountDefinition(
                type: type.name, field: counted.name,
                conditions: conditions.map { .init(key: $0.field, value: $0.value) })
            add(.count(definition))
            name = definition.name
        }
        return { [types, name] symbols in
            .count(
                LinkCountPlan(
                    name: name.map { symbols.name($0) }, key: symbols.name(counted.name),
                    conditions: types.bind(conditions, symbols),
                    nodes: nodes.map { symbols.name(types.schema[$0].name) }))
        }
    }
}
