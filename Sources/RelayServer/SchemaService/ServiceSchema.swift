package import GraphQLLanguage
package import RelayStore

/// A schema and what its directives say a service shall do: everything that can be known before there is
/// a store.
///
/// Conventions beside the directives: an object type that implements the interface `Node` is stored. An
/// object type with `edges`, a list of an object type with `node`, and with `pageInfo` is a connection.
/// `node` and `nodes` of the query type are known by name.
///
///     let schema = try ServiceSchema("type Query { node(id: ID!): Node } …")
///     let snapshot = Snapshot(indexes: schema.indexes)
///     let service = SchemaService(schema, symbols: snapshot.symbols)
package struct ServiceSchema: Sendable {
    package let schema: Schema
    /// What a store must keep beside its records for this schema.
    package let indexes: [IndexDefinition]

    let types: ServiceTypes
    let resolvers: [TypeID: [String: ResolverMaker]]
    let mutations: [String: MutationDefinition]
    let subscriptions: [String: SubscriptionSourceMaker]

    /// Reads one document; see ``init(_:)-([Source])``.
    package init(_ text: String) throws(SchemaMistakes) {
        try self.init([Source(text)])
    }

    /// Reads a schema that uses the predefined directives without defining them.
    /// - Throws: everything that is wrong with it, all at once.
    package init(_ documents: [Source]) throws(SchemaMistakes) {
        let schema: Schema
        do throws(SchemaErrors) {
            schema = try Schema.build(documents, predefined: [PredefinedDirectives.source])
        } catch {
            throw SchemaMistakes(error)
        }
        let mistakes = MistakeCollector(schema)
        let types = ServiceTypes(schema)
        DirectivePlaces(types: types, mistakes: mistakes).check()

        var fields = FieldCompiler(types: types, mistakes: mistakes)
        fields.compileRecords()
        fields.compileConnections()
        fields.compileQuery()
        var mutations = MutationCompiler(types: types, mistakes: mistakes)
        mutations.compile()
        var subscriptions = SubscriptionCompiler(
            types: types, mistakes: mistakes, mutations: mutations.definitions)
        subscriptions.compile(with: &fields)
        try mistakes.throwIfAny()

        self.schema = schema
        self.types = types
        self.indexes = fields.indexes
        self.resolvers = fields.resolvers.merging(mutations.resolvers) { $0.merging($1) { $1 } }
        self.mutations = mutations.definitions
        self.subscriptions = subscriptions.sources
    }
}
