/// A type system that operations can be validated and executed against (GraphQL §3).
///
/// A schema is constant and has been validated as a whole; it can only be made by `Schema.build`.
package final class Schema: Sendable {
    package let description: String?
    /// The directives on `schema` and `extend schema`.
    package let directives: [Directive]
    /// All types: the specification's, the predefined ones, then the documents' own in the order
    /// written. A `TypeID` is an index into this array.
    package let types: [NamedType]
    /// All directive definitions, in the order of `types`.
    package let directiveDefinitions: [SchemaDirective]
    package let queryType: TypeID?
    package let mutationType: TypeID?
    package let subscriptionType: TypeID?

    /// `__typename` of every composite type (GraphQL §4.3).
    package let typenameField: SchemaField
    /// `__schema` of the query root type.
    package let schemaField: SchemaField
    /// `__type` of the query root type.
    package let typeField: SchemaField

    /// The names of the arguments that have a default other than null in some field of the schema itself, not of what
    /// extends it. In a store, null and no value make two fields of those with such an argument.
    package let nullArguments: Set<String>

    private let typesByName: [String: NamedType]
    private let directivesByName: [String: SchemaDirective]
    private let relations: TypeRelations
    private let hiddenTypes: HiddenTypes
    /// What the schema was made of, for extending it.
    let parts: SchemaBuilder

    init(
        description: String?, directives: [Directive], types: [NamedType],
        directiveDefinitions: [SchemaDirective], rootTypes: [OperationType: TypeID],
        metaFields: NamedType, parts: SchemaBuilder
    ) {
        guard let typenameField = metaFields.field("__typename"),
            let schemaField = metaFields.field("__schema"),
            let typeField = metaFields.field("__type")
        else { preconditionFailure("The built-in definitions lack a meta-field.") }
        self.description = description
        self.directives = directives
        self.types = types
        self.directiveDefinitions = directiveDefinitions
        self.queryType = rootTypes[.query]
        self.mutationType = rootTypes[.mutation]
        self.subscriptionType = rootTypes[.subscription]
        self.typenameField = typenameField
        self.schemaField = schemaField
        self.typeField = typeField
        self.typesByName = Dictionary(
            types.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        self.directivesByName = Dictionary(
            directiveDefinitions.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        self.relations = TypeRelations(types)
        self.hiddenTypes = HiddenTypes(types, directiveDefinitions)
        self.parts = parts
        nullArguments = Set(
            types.lazy.flatMap(\.fields)
                .filter { field in parts.added.map { field.location < $0 } ?? true }
                .flatMap(\.arguments).filter(\.distinguishesNull).map(\.name))
    }

    // MARK: Looking things up

    package subscript(id: TypeID) -> NamedType { types[id.index] }

    package func type(named name: String) -> NamedType? { typesByName[name] }

    package func directive(named name: String) -> SchemaDirective? { directivesByName[name] }

    package func rootType(of operation: OperationType) -> NamedType? {
        switch operation {
        case .query: queryType.map { self[$0] }
        case .mutation: mutationType.map { self[$0] }
        case .subscription: subscriptionType.map { self[$0] }
        }
    }

    /// The field that `name` selects on a composite type, meta-fields included (GraphQL §4.1).
    package func field(_ name: String, on parent: NamedType) -> SchemaField? {
        if let field = parent.field(name) { return field }
        guard name.utf8.first == UInt8(ascii: "_") else { return nil }
        switch name {
        case "__typename" where parent.kind.isComposite: return typenameField
        case "__schema" where parent.id == queryType: return schemaField
        case "__type" where parent.id == queryType: return typeField
        default: return nil
        }
    }

    /// The type that a reference in a document means; nil if its name is unknown.
    package func resolve(_ reference: TypeReference) -> WrappedType? {
        switch reference {
        case .named(let name): type(named: name.value).map { .named($0.id) }
        case .list(let inner, _): resolve(inner).map { .list($0) }
        case .nonNull(let inner): resolve(inner).map { .nonNull($0) }
        }
    }

    /// A type as written: `[Todo!]!`.
    package func print(_ type: WrappedType) -> String {
        switch type {
        case .named(let id): self[id].name
        case .list(let inner): "[\(print(inner))]"
        case .nonNull(let inner): "\(print(inner))!"
        }
    }

    // MARK: Relations between types

    /// The object types that a value of this type can have, in the order of `types`.
    package func possibleTypes(of id: TypeID) -> [TypeID] { relations.possibleTypes(of: id) }

    /// The object and interface types that declare to implement this interface.
    package func implementations(of interface: TypeID) -> [TypeID] {
        relations.implementations(of: interface)
    }

    /// Whether every value of one named type is also one of the other.
    package func isSubType(_ type: TypeID, of other: TypeID) -> Bool {
        type == other || relations.isSubType(type, of: other)
    }

    /// IsValidImplementationFieldType of GraphQL §3.6: covariance through lists and non-nulls.
    package func isSubType(_ type: WrappedType, of other: WrappedType) -> Bool {
        switch (type, other) {
        case (.nonNull(let type), .nonNull(let other)): isSubType(type, of: other)
        case (_, .nonNull): false
        case (.nonNull(let type), _): isSubType(type, of: other)
        case (.list(let type), .list(let other)): isSubType(type, of: other)
        case (.named(let type), .named(let other)): isSubType(type, of: other)
        default: false
        }
    }

    /// Whether some object type is a possible type of both.
    package func overlap(_ type: TypeID, _ other: TypeID) -> Bool {
        type == other || relations.overlap(type, other)
    }

    // MARK: What clients see

    /// Whether clients need not know this type: it is predefined, and nothing that they see refers
    /// to it.
    package func isHidden(_ type: TypeID) -> Bool { hiddenTypes.contains(type) }

    // MARK: Locations

    /// The place of anything in the schema that has a `location`; nil for what its documents do not define.
    package func place(of location: Int) -> SourcePlace? {
        guard let source = parts.sources.first(where: { $0.locations.contains(location) }) else {
            return nil
        }
        return SourcePlace(source: source, location: source.location(at: location))
    }

    /// Whether what has this `location` was added by ``extended(by:predefined:)``.
    package func isAdded(_ location: Int) -> Bool {
        parts.added.map { location >= $0 } ?? false
    }
}

extension SchemaInputValue {
    /// Whether null and no value at all are different: there is a default, and it is not null.
    fileprivate var distinguishesNull: Bool {
        guard !type.isNonNull, let defaultValue else { return false }
        if case .null = defaultValue.kind { return false }
        return true
    }
}
