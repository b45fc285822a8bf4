package import GraphQLLanguage
@_spi(Rooms) package import RelayRecords

/// A schema and how each of its fields is resolved: everything that plans are made from.
package final class ExecutableSchema: Sendable {
    package let schema: Schema
    /// Resolvers of the fields of each type; a field without one is a member of an object that is not a record.
    private let resolvers: [TypeID: [String: FieldResolver]]
    private let typeNames: [TypeID: NameIndex]
    private let typesByName: [NameIndex: TypeID]
    /// What restricted identities may see and do.
    package let access: AccessRules
    /// The names of fields with rules, by object type.
    private let ruledFields: [TypeID: [String: NameIndex]]

    /// - Parameters:
    ///   - resolvers: by type and field name. `__typename` and introspection need none.
    ///   - symbols: the store's; the names of the object types are added to it, so only the store's
    ///     writer may call this, or anyone before there is one.
    package init(
        _ schema: Schema, resolvers: [TypeID: [String: FieldResolver]],
        access: AccessRules = .none, symbols: Symbols
    ) {
        self.access = access
        self.schema = schema
        self.resolvers = resolvers
        var typeNames: [TypeID: NameIndex] = [:]
        var ruledFields: [TypeID: [String: NameIndex]] = [:]
        for type in schema.types where type.kind == .object {
            typeNames[type.id] = symbols.name(type.name)
            for name in access.ruledFields(ofType: type.name).keys {
                ruledFields[type.id, default: [:]][name] = symbols.name(name)
            }
        }
        self.typeNames = typeNames
        self.ruledFields = ruledFields
        typesByName = Dictionary(uniqueKeysWithValues: typeNames.map { ($1, $0) })
    }

    package func resolver(of field: String, on type: TypeID) -> FieldResolver? {
        resolvers[type]?[field]
    }

    /// The name of an object type in records.
    package func typeName(_ type: TypeID) -> NameIndex? { typeNames[type] }

    /// The object type of records with this type name.
    package func type(named name: NameIndex) -> TypeID? { typesByName[name] }
}

// MARK: Access

extension ExecutableSchema {
    /// Where the rule of a field is; nil if it has none.
    func rule(of field: String, on type: NamedType) -> FieldRule? {
        if let key = ruledFields[type.id]?[field] { return .record(key) }
        guard let operation = operation(ofRoot: type), access.rule(ofRoot: field, operation) != nil
        else { return nil }
        return .root(operation)
    }

    /// The rule of a field of an object type.
    func fieldRule(of field: String, on type: NamedType) -> AccessRule? {
        if let rule = access.ruledFields(ofType: type.name)[field] { return rule }
        return operation(ofRoot: type).flatMap { access.rule(ofRoot: field, $0) }
    }

    private func operation(ofRoot type: NamedType) -> OperationType? {
        OperationType.allCases.first { schema.rootType(of: $0)?.id == type.id }
    }

    /// The types of records that decide about a field's value, besides those of its own type.
    func reached(by field: String, on type: TypeID) -> [TypeID] {
        func named(_ lookups: [Lookup?]) -> [TypeID] {
            lookups.flatMap { $0?.types ?? [] }.compactMap { typesByName[$0] }
        }
        switch resolver(of: field, on: type) {
        case .connection(_, let filters)?:
            return nodes(ofConnectionIn: field, on: type) + named(filters.map(\.lookup))
        case .links(_, let filters)?: return named(filters.map(\.lookup))
        case .count(let count)?:
            return count.nodes.compactMap { typesByName[$0] }
                + named(count.conditions.map(\.lookup))
        default: return []
        }
    }

    /// Whether a field has a connection, or a payload's edge.
    func hasCursors(_ field: String, on type: TypeID) -> Bool {
        switch resolver(of: field, on: type) {
        case .connection?, .payloadPart(.edge)?: true
        default: false
        }
    }

    private func nodes(ofConnectionIn field: String, on type: TypeID) -> [TypeID] {
        guard let field = schema[type].field(field),
            let edge = schema[field.namedType].field("edges")?.namedType,
            let node = schema[edge].field("node")?.namedType
        else { return [] }
        return schema.possibleTypes(of: node)
    }
}
