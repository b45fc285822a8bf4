import GraphQLExecution
import GraphQLLanguage
@_spi(Rooms) import RelayRecords

/// The roles of a schema's types in the service, inferred from their structure.
struct ServiceTypes: Sendable {
    let schema: Schema
    /// Object types that implement `Node`, in the order written: those whose records are stored.
    let stored: [NamedType]
    /// Connection types by their ids.
    let connections: [TypeID: ConnectionType]

    private let storedIDs: Set<TypeID>
    /// The fields computed by Swift code.
    private let computed: Set<ObjectIdentifier>

    init(_ schema: Schema, handlers: Handlers) {
        self.schema = schema
        computed = Set(
            handlers.resolvers.keys.compactMap {
                schema.field(at: $0).map { ObjectIdentifier($0.field) }
            })
        let node = schema.type(named: "Node").flatMap { $0.kind == .interface ? $0.id : nil }
        storedIDs = Set(node.map(schema.possibleTypes) ?? [])
        let storedIDs = storedIDs
        stored = schema.types.filter { storedIDs.contains($0.id) }
        var connections: [TypeID: ConnectionType] = [:]
        for type in schema.types where !storedIDs.contains(type.id) {
            connections[type.id] = ConnectionType(type, in: schema)
        }
        self.connections = connections
    }

    func isStored(_ type: TypeID) -> Bool { storedIDs.contains(type) }

    /// The type that a root field of the mutation type returns; nil, and reported, if that is not a payload.
    func payload(of field: SchemaField, _ mistakes: MistakeCollector) -> NamedType? {
        let payload = schema[field.namedType]
        if payload.kind == .object, !isStored(payload.id), field.type.listItem == nil {
            return payload
        }
        let name = field.name.prefix(1).uppercased() + field.name.dropFirst()
        mistakes.report(
            """
            Mutation "\(field.name)" returns \(schema.print(field.type)). It returns an object \
            with the record as a field. Write: \(field.name)(…): \(name)Payload
            """, at: field.typeLocation)
        return nil
    }

    func isComputed(_ field: SchemaField) -> Bool { computed.contains(ObjectIdentifier(field)) }

    /// The stored types that a record in a field of this type can have; empty if the type also has values
    /// that are not records.
    func recordTypes(of type: TypeID) -> [TypeID] {
        let possible = schema.possibleTypes(of: type)
        return possible.allSatisfy(isStored) ? possible : []
    }

    /// How an argument or input field names records of these types.
    func lookup(_ argument: String, _ types: [TypeID], _ symbols: Symbols) -> Lookup {
        Lookup(
            argument: argument, types: types.map { symbols.name(schema[$0].name) },
            uniqueKeys: types.flatMap { type in
                uniqueFields(of: type).map {
                    .init(type: symbols.name(schema[type].name), key: symbols.name($0))
                }
            })
    }

    func uniqueFields(of type: TypeID) -> [String] {
        schema[type].fields.filter { $0.applied(.unique) != nil }.map(\.name)
    }
}

extension Schema {
    /// The field that `Type.field` names.
    func field(at path: String) -> (type: NamedType, field: SchemaField)? {
        let parts = path.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let type = type(named: String(parts[0])),
            let field = type.field(String(parts[1]))
        else { return nil }
        return (type, field)
    }
}

/// An object type of Relay's Cursor Connections specification, recognized by its structure.
struct ConnectionType: Sendable {
    let edge: TypeID
    let node: TypeID
    let pageInfo: TypeID

    init?(_ type: NamedType, in schema: Schema) {
        guard type.kind == .object, let pageInfo = type.field("pageInfo"),
            let edge = type.field("edges")?.type.listItem, edge.listItem == nil,
            schema[edge.namedType].kind == .object,
            let node = schema[edge.namedType].field("node"), node.type.listItem == nil
        else { return nil }
        self.edge = edge.namedType
        self.node = node.namedType
        self.pageInfo = pageInfo.namedType
    }
}

// MARK: Fields of records

/// What a field of a stored type holds.
enum RecordFieldKind: Sendable {
    case id
    /// A scalar, an enum value, or a list of these.
    case leaf
    case link(TypeID)
    case links(TypeID)
    case connection(ConnectionType)
    /// Nothing: the value is found on request.
    case found

    /// What rules may compare; nil if nothing is stored.
    var content: AccessTest.Content? {
        switch self {
        case .id: .id
        case .leaf: .leaf
        case .link: .link
        case .links, .connection: .links
        case .found: nil
        }
    }

    /// The type of the records in a list or connection.
    var node: TypeID? {
        switch self {
        case .links(let node): node
        case .connection(let connection): connection.node
        default: nil
        }
    }
}

extension ServiceTypes {
    /// What a field of a stored type holds; nil if records cannot hold a value of its type.
    func kind(of field: SchemaField) -> RecordFieldKind? {
        if isComputed(field) { return .found }
        if field.name == "id" { return .id }
        if !field.applied(among: ServiceDirective.finding).isEmpty { return .found }
        if schema[field.namedType].kind.isLeaf { return .leaf }
        let item = field.type.listItem
        if let connection = connections[field.namedType] {
            return item == nil ? .connection(connection) : nil
        }
        if recordTypes(of: field.namedType).isEmpty { return nil }
        guard let item else { return .link(field.namedType) }
        return item.listItem == nil ? .links(field.namedType) : nil
    }

    /// A field that all these stored types have, and its kind; nil if one of them lacks it or holds something
    /// else in it.
    func sharedField(_ name: String, of types: [TypeID]) -> (SchemaField, RecordFieldKind)? {
        guard let first = types.first, let field = schema[first].field(name),
            let kind = kind(of: field)
        else { return nil }
        let isShared = types.dropFirst().allSatisfy { type in
            guard let other = schema[type].field(name), let otherKind = self.kind(of: other) else {
                return false
            }
            return other.namedType == field.namedType && otherKind.isSimilar(to: kind)
        }
        return isShared ? (field, kind) : nil
    }
}

extension RecordFieldKind {
    fileprivate func isSimilar(to other: RecordFieldKind) -> Bool {
        switch (self, other) {
        case (.id, .id), (.leaf, .leaf), (.link, .link), (.links, .links),
            (.connection, .connection), (.found, .found):
            true
        default: false
        }
    }
}
