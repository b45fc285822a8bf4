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
    /// The types of records that decide about the events of a subscription field.
    private let eventTypes: [String: [TypeID]]

    /// - Parameters:
    ///   - resolvers: by type and field name. `__typename` and introspection need none.
    ///   - eventTypes: the types of records that decide whether there is an event, by subscription field.
    ///   - symbols: the store's; the names of the object types are added to it, so only the store's
    ///     writer may call this, or anyone before there is one.
    package init(
        _ schema: Schema, resolvers: [TypeID: [String: FieldResolver]],
        access: AccessRules = .none, eventTypes: [String: [TypeID]] = [:], symbols: Symbols
    ) {
        self.access = access
        self.eventTypes = eventTypes
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
        // A rule that looks at a field which no record has had so far is told when one gets it.
        for name in access.testedFields { _ = symbols.name(name) }
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

    /// What decides about a field's value, besides the records of its own type and its own rule.
    func reached(by field: String, on type: TypeID) -> ReachedRecords {
        var reached = ReachedRecords()
        switch resolver(of: field, on: type) {
        case .lookup(let lookup)?: add(lookup, to: &reached)
        case .payloadPart(.edge)?:
            // Whether the record that has the list is visible decides as well, and any may have it.
            reached.types += schema.types.filter { $0.kind == .object }.map(\.id)
        case .connection(_, let filters)?:
            let nodes = nodes(ofConnectionIn: field, on: type)
            reached.types += nodes
            add(filters, on: nodes, to: &reached)
        case .links(_, let filters)?:
            let nodes = schema[type].field(field).map { schema.possibleTypes(of: $0.namedType) }
            add(filters, on: nodes ?? [], to: &reached)
        case .count(let count)?:
            let nodes = count.nodes.compactMap { typesByName[$0] }
            reached.types += nodes
            add(rulesOf: count.key, on: [type], to: &reached)
            for condition in count.conditions {
                add(rulesOf: condition.key, on: nodes, to: &reached)
                if let lookup = condition.lookup { add(lookup, to: &reached) }
            }
        default: break
        }
        if let types = eventTypes[field], schema.rootType(of: .subscription)?.id == type {
            // Their values are compared with the arguments.
            reached.types += types
            for type in types {
                reached.fieldRules += access.ruledFields(ofType: schema[type].name).values
            }
        }
        return reached
    }

    private func add(_ filters: [LinkFilter], on nodes: [TypeID], to reached: inout ReachedRecords)
    {
        for filter in filters {
            add(rulesOf: filter.key, on: nodes, to: &reached)
            if let lookup = filter.lookup { add(lookup, to: &reached) }
        }
    }

    /// Records are also found by unique values, which may be hidden.
    private func add(_ lookup: Lookup, to reached: inout ReachedRecords) {
        reached.types += lookup.types.compactMap { typesByName[$0] }
        for unique in lookup.uniqueKeys {
            let type = typesByName[unique.type].map { [$0] } ?? []
            add(rulesOf: unique.key, on: type, to: &reached)
        }
    }

    private func add(
        rulesOf key: NameIndex, on types: [TypeID], to reached: inout ReachedRecords
    ) {
        for type in types {
            guard let name = ruledFields[type]?.first(where: { $0.value == key })?.key,
                let rule = access.ruledFields(ofType: schema[type].name)[name]
            else { continue }
            reached.fieldRules.append(rule)
        }
    }

    /// The types of the records that may be in a field's list or connection.
    func types(listedBy field: String, on type: TypeID) -> [NameIndex] {
        switch resolver(of: field, on: type) {
        case .connection(.records(let type), _)?, .links(.records(let type), _)?: [type]
        case .connection(.field, _)?:
            nodes(ofConnectionIn: field, on: type).compactMap { typeNames[$0] }
        case .links(.field, _)?:
            schema[type].field(field).map { schema.possibleTypes(of: $0.namedType) }?
                .compactMap { typeNames[$0] } ?? []
        default: []
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

/// What is looked at for a field's value without being part of it.
struct ReachedRecords {
    /// The types of records that are looked for, filtered or counted.
    var types: [TypeID] = []
    /// The rules of fields by which that is done.
    var fieldRules: [AccessRule] = []
}
