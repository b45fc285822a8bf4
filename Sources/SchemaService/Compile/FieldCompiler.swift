import GraphQLExecution
import GraphQLLanguage
@_spi(Rooms) import RelayRecords

/// Determines how each field is resolved, for stored types, connections and the query type.
struct FieldCompiler {
    let types: ServiceTypes
    let mistakes: MistakeCollector
    private(set) var resolvers: [TypeID: [String: ResolverMaker]] = [:]
    private(set) var indexes: [IndexDefinition] = []

    private var schema: Schema { types.schema }

    // MARK: Types

    mutating func compileRecords() {
        for type in types.stored {
            for field in type.fields {
                if types.isComputed(field) { continue }
                checkServerSide(field, of: type)
                guard let resolver = record(field, of: type) else { continue }
                set(resolver, for: field.name, of: type.id)
            }
        }
    }

    mutating func compileQuery() {
        guard let query = schema.rootType(of: .query) else { return }
        for field in query.fields {
            if types.isComputed(field) { continue }
            // Only a schema that is read without its handlers may have a field that nothing describes.
            let absent = AbsentHandler(field: "\(query.name).\(field.name)")
            let resolver = root(field, of: query) ?? { _ in .custom(absent) }
            set(resolver, for: field.name, of: query.id)
        }
    }

    /// How a field of the query or subscription type, which is not stored in a record, is found.
    mutating func root(_ field: SchemaField, of type: NamedType) -> ResolverMaker? {
        if let directive = field.applied(among: ServiceDirective.finding).first {
            return found(field, of: type, by: directive)
        }
        if let known = knownByName(field) { return known }
        // Its type is not defined, which has been reported; nothing more can be said until it is.
        if schema[field.namedType].origin == .missing { return nil }
        mistakes.report(
            """
            Nothing says what "\(type.name).\(field.name)" is. Add @lookup to find one record by an \
            argument, or @list(type: "…") for all records of a type; or register a resolver for it.
            """, at: field.location)
        return nil
    }

    /// The fields computed by Swift code.
    mutating func compileComputed(_ handlers: Handlers) {
        for (path, body) in handlers.resolvers {
            guard let (type, field) = schema.field(at: path) else { continue }
            set({ _ in .custom(ComputedField(body: body)) }, for: field.name, of: type.id)
        }
    }

    mutating func set(_ resolver: @escaping ResolverMaker, for field: String, of type: TypeID) {
        resolvers[type, default: [:]][field] = resolver
    }

    mutating func add(_ index: IndexDefinition) {
        if !indexes.contains(index) { indexes.append(index) }
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
                add(.unique(type: type.name, key: field.name))
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
}

extension NamedType {
    /// One of the built-in scalars that are not text.
    fileprivate var isNumberOrBoolean: Bool { ["Int", "Float", "Boolean"].contains(name) }
}
