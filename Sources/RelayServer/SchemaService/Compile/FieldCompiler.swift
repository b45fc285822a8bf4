import GraphQLExecution
import GraphQLLanguage
import RelayStore

/// Says how each field is found: of stored types, of connections and of the query type.
struct FieldCompiler {
    let types: ServiceTypes
    let mistakes: MistakeCollector
    private(set) var resolvers: [TypeID: [String: ResolverMaker]] = [:]
    private(set) var indexes: [IndexDefinition] = []

    init(types: ServiceTypes, mistakes: MistakeCollector) {
        self.types = types
        self.mistakes = mistakes
    }

    private var schema: Schema { types.schema }

    // MARK: Types

    mutating func compileRecords() {
        for type in types.stored {
            for field in type.fields {
                checkServerSide(field, of: type)
                resolvers[type.id, default: [:]][field.name] = record(field, of: type)
            }
        }
    }

    mutating func compileQuery() {
        guard let query = schema.rootType(of: .query) else { return }
        for field in query.fields {
            guard let resolver = root(field, of: query) else { continue }
            resolvers[query.id, default: [:]][field.name] = resolver
        }
    }

    /// How a field of the query or subscription type is found, which no record holds.
    mutating func root(_ field: SchemaField, of type: NamedType) -> ResolverMaker? {
        if let directive = field.applied(among: ServiceDirective.finding).first {
            return found(field, of: type, by: directive)
        }
        if let known = knownByName(field) { return known }
        mistakes.report(
            """
            Nothing says what "\(type.name).\(field.name)" is. Add @lookup to find one record by an \
            argument, or @list(type: "…") for all records of a type.
            """, at: field.location)
        return nil
    }

    mutating func set(_ resolver: @escaping ResolverMaker, for field: String, of type: TypeID) {
        resolvers[type, default: [:]][field] = resolver
    }

    /// `node(id:)` and `nodes(ids:)`.
    private func knownByName(_ field: SchemaField) -> ResolverMaker? {
        let found = types.recordTypes(of: field.namedType)
        guard !found.isEmpty, field.arguments.count == 1 else { return nil }
        let typeNames = found.map { schema[$0].name }
        switch (field.name, field.arguments[0].name) {
        case ("node", "id") where field.type.listItem == nil:
            return { symbols in
                .lookup(
                    Lookup(argument: "id", types: typeNames.map(symbols.name), uniqueKeys: []))
            }
        case ("nodes", "ids") where field.type.listItem != nil:
            return { _ in .nodes(argument: "ids") }
        default:
            return nil
        }
    }

    // MARK: Fields of records

    private mutating func record(_ field: SchemaField, of type: NamedType) -> ResolverMaker? {
        let name = field.name
        switch types.kind(of: field) {
        case .id:
            return { _ in .id }
        case .leaf, .link:
            for argument in field.arguments {
                mistakes.report(
                    """
                    "\(type.name).\(name)" is a stored value, for which argument \
                    "\(argument.name)" means nothing. Remove it.
                    """, at: argument.location)
            }
            return { .stored($0.name(name)) }
        case .links(let node):
            let filters = filters(of: field, of: type, nodes: types.recordTypes(of: node))
            return { [types] in .links(.field($0.name(name)), filters: types.bind(filters, $0)) }
        case .connection(let connection):
            let filters = filters(
                of: field, of: type, nodes: types.recordTypes(of: connection.node), isPaged: true)
            return { [types] in
                .connection(.field($0.name(name)), filters: types.bind(filters, $0))
            }
        case .found:
            let directives = field.applied(among: ServiceDirective.finding)
            return directives.first.flatMap { found(field, of: type, by: $0) }
        case nil:
            reportUnstorable(field, of: type)
            return nil
        }
    }

    private func reportUnstorable(_ field: SchemaField, of type: NamedType) {
        let named = schema[field.namedType]
        let reason =
            switch ConnectionShape(named) {
            case let shape? where !shape.missing.isEmpty:
                "connection \"\(named.name)\" lacks \(shape.missing)."
            case _? where field.type.listItem != nil:
                "it is a list of connections. Write: \(field.name): \(named.name)"
            case _ where field.type.listItem?.listItem != nil:
                "it is a list of lists. Write: \(field.name): [\(named.name)!]!"
            case _ where named.kind.isAbstract:
                "\"\(named.name)\" can be a type that does not implement Node."
            default:
                """
                "\(named.name)" is no scalar, no enum, no connection, and does not implement Node. \
                Write: type \(named.name) implements Node { id: ID! … }
                """
            }
        mistakes.report(
            "\"\(type.name).\(field.name)\" cannot be stored: \(reason)", at: field.typeLocation)
    }

    /// @unique and @now.
    private mutating func checkServerSide(_ field: SchemaField, of type: NamedType) {
        let named = schema[field.namedType]
        var isSingleLeaf = false
        if case .leaf = types.kind(of: field), field.type.listItem == nil { isSingleLeaf = true }
        if let directive = field.applied(.unique) {
            if isSingleLeaf, named.name != "Float", named.name != "Boolean" {
                indexes.append(.unique(type: type.name, key: field.name))
            } else {
                mistakes.report(
                    """
                    @unique: "\(type.name).\(field.name)" is \(schema.print(field.type)). Only a \
                    String, ID, Int, enum or custom scalar names a record.
                    """, at: directive.location)
            }
        }
        if let directive = field.applied(.now),
            !(isSingleLeaf && named.kind == .scalar && !named.isNumberOrBoolean)
        {
            mistakes.report(
                """
                @now: "\(type.name).\(field.name)" is \(schema.print(field.type)), and a time is \
                written as text. Write: \(field.name): String!, or a scalar of your own
                """, at: directive.location)
        }
    }

    // MARK: Values that are found

    private mutating func found(
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
        let named = schema[field.namedType].name
        guard !found.isEmpty, field.type.listItem == nil else {
            directive.report(
                """
                "\(type.name).\(field.name)" is \(schema.print(field.type)), and what is found is one \
                record. Its type must implement Node.
                """)
            return nil
        }
        guard field.arguments.count == 1,
            let argument = field.arguments.first, argument.type.listItem == nil,
            schema[argument.namedType].kind.isLeaf
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
                "\(type.name).\(field.name)" is \(schema.print(field.type)), which holds no list of \
                "\(name)". Write: \(field.name): [\(name)!]! @list(type: "\(name)"), or a connection
                """)
            return nil
        }
        let index = IndexDefinition.records(type: name)
        if !indexes.contains(index) { indexes.append(index) }
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

    private func count(
        _ field: SchemaField, of type: NamedType, _ directive: AppliedDirective
    ) -> ResolverMaker? {
        if schema[field.namedType].name != "Int" || field.type.listItem != nil {
            directive.report(
                """
                "\(type.name).\(field.name)" is \(schema.print(field.type)). Write: \
                \(field.name): Int! @count(…)
                """)
        }
        for argument in field.arguments {
            directive.report(
                "Argument \"\(argument.name)\" means nothing here. Remove it.",
                at: argument.location)
        }
        guard let (name, location) = directive.string("field") else { return nil }
        let lists = type.fields.filter { types.kind(of: $0)?.node != nil }.map(\.name)
        guard let counted = type.field(name) else {
            directive.report(
                "Type \"\(type.name)\" has no field \"\(name)\".\(nearest(name, among: lists))",
                at: location)
            return nil
        }
        guard let node = types.kind(of: counted)?.node else {
            directive.report(
                """
                "\(type.name).\(name)" is neither a list of records nor a connection, so there is \
                nothing to count.
                """, at: location)
            return nil
        }
        let conditions = conditions(directive, nodes: types.recordTypes(of: node))
        return { [types] in .count($0.name(name), where: types.bind(conditions, $0)) }
    }
}

extension NamedType {
    /// One of the built-in scalars that are not text.
    fileprivate var isNumberOrBoolean: Bool { ["Int", "Float", "Boolean"].contains(name) }
}
