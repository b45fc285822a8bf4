package import GraphQLLanguage
@_spi(Rooms) package import RelayRecords

/// A schema and how each of its fields is resolved: everything that plans are made from.
package final class ExecutableSchema: Sendable {
    package let schema: Schema
    /// Resolvers of the fields of each type; a field without one is a member of an object that is not a record.
    private let resolvers: [TypeID: [String: FieldResolver]]
    private let typeNames: [TypeID: NameIndex]
    private let typesByName: [NameIndex: TypeID]

    /// - Parameters:
    ///   - resolvers: by type and field name. `__typename` and introspection need none.
    ///   - symbols: the store's; the names of the object types are added to it, so only the store's
    ///     writer may call this, or anyone before there is one.
    package init(
        _ schema: Schema, resolvers: [TypeID: [String: FieldResolver]], symbols: Symbols
    ) {
        self.schema = schema
        self.resolvers = resolvers
        var typeNames: [TypeID: NameIndex] = [:]
        for type in schema.types where type.kind == .object {
            typeNames[type.id] = symbols.name(type.name)
        }
        self.typeNames = typeNames
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
