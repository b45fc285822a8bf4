package import GraphQLExecution
package import GraphQLLanguage
package import Logging
import RelayArtifacts
@_spi(Rooms) package import RelayRecords

/// A schema and what its directives tell a service to do: everything that can be known before there is a
/// store.
///
/// Conventions besides the directives: an object type that implements the interface `Node` is stored. An
/// object type with `pageInfo`, and with `edges`, a list of an object type with `node`, is a connection.
/// `node` and `nodes` of the query type are recognized by name.
///
///     let schema = try ServiceSchema("type Query { node(id: ID!): Node } …")
///     let snapshot = Snapshot(indexes: schema.indexes)
///     let service = SchemaService(schema, symbols: snapshot.symbols)
package struct ServiceSchema: Sendable {
    package let schema: Schema
    /// The source text, as recorded in the log.
    package let text: String
    /// The indexes that a store must keep for this schema.
    package let indexes: [IndexDefinition]

    let types: ServiceTypes
    /// Whether some results depend on the viewer, because Swift code computes them.
    let looksAtViewer: Bool
    /// As `Type.field`.
    let computedFields: Set<String>
    let resolvers: [TypeID: [String: ResolverMaker]]
    let mutations: [String: MutationDefinition]
    let subscriptions: [String: SubscriptionSourceMaker]
    /// The types of the records that decide about events, by root field of the subscription type.
    let eventTypes: [String: [TypeID]]
    /// What restricted identities may see and do.
    package let access: AccessRules
    /// Those that make the rules quick.
    let accessIndexes: [IndexDefinition]
    /// The stored types that no `@access` opens.
    package let closedTypes: [String]

    /// Reads one document; see ``init(_:handlers:)``.
    package init(
        _ text: String, handlers: Handlers = Handlers(), logger: Logger = Self.noLogger
    ) throws(SchemaMistakes) {
        try self.init([Source(text)], handlers: handlers, logger: logger)
    }

    package static let noLogger = Logger(label: "relay") { _ in SwiftLogNoOpLogHandler() }

    /// Reads a schema that uses the predefined directives without defining them.
    /// - Parameters:
    ///   - handlers: Swift code that replaces or supplements the directives.
    ///   - logger: logs handler errors that are not meant for clients.
    /// - Throws: everything that is wrong with it, all at once.
    package init(
        _ documents: [Source], handlers: Handlers = Handlers(), logger: Logger = Self.noLogger
    ) throws(SchemaMistakes) {
        let (schema, errors) = try Self.assemble(documents)
        let mistakes = MistakeCollector(schema, language: errors)
        let errorsOfHandlers = InternalErrors(logger, handlers.errorDescription)
        self.init(documents, schema, handlers.telling(errorsOfHandlers), mistakes)
        try mistakes.throwIfAny()
    }

    /// Reads a schema that was in force earlier, to look at records written under it. The handlers of the program that
    /// served it are not available here.
    /// - Parameter computed: fields, as `Type.field`, that a program computes: they are errors when requested. Any other
    ///   field of a record counts as stored, so a computed one is null.
    package init(
        reading text: String, computed: Set<String> = []
    ) throws(SchemaMistakes) {
        let documents = [Source(text)]
        let (schema, errors) = try Self.assemble(documents)
        guard errors.isEmpty else { throw SchemaMistakes(errors.map(SchemaMistake.init)) }
        var handlers = Handlers()
        handlers.areAbsent = true
        for field in computed {
            let name = field.split(separator: ".").last.map(String.init) ?? field
            handlers.resolve(field) { context throws(ExecutionError) in
                // It may have been a stored field then.
                guard let value = context.record?[name], value != .null else {
                    throw .absent(field)
                }
                return value
            }
        }
        self.init(documents, schema, handlers, MistakeCollector(schema))
    }

    /// The rules of a schema without the program that serves it, to explain them: what Swift code decides is unknown.
    /// - Throws: what is wrong with the language, or with the rules.
    package static func accessRules(
        of documents: [Source]
    ) throws(SchemaMistakes) -> AccessRules {
        let (schema, errors) = try assemble(documents)
        let mistakes = MistakeCollector(schema, language: errors)
        var handlers = Handlers()
        handlers.areAbsent = true
        var access = AccessCompiler(
            types: ServiceTypes(schema, handlers: handlers), mistakes: mistakes, handlers: handlers)
        access.compile()
        try mistakes.throwIfAny()
        return access.rules
    }

    private static func assemble(
        _ documents: [Source]
    ) throws(SchemaMistakes) -> (schema: Schema, errors: [SchemaError]) {
        do throws(SchemaErrors) {
            return try Schema.assemble(documents, predefined: [PredefinedDirectives.source])
        } catch {
            throw SchemaMistakes(error)
        }
    }

    private init(
        _ documents: [Source], _ schema: Schema, _ handlers: Handlers, _ mistakes: MistakeCollector
    ) {
        let types = ServiceTypes(schema, handlers: handlers)
        DirectivePlaces(types: types, mistakes: mistakes).check()
        HandlerPlaces(types: types, mistakes: mistakes).check(handlers)

        var fields = FieldCompiler(types: types, mistakes: mistakes)
        fields.compileRecords()
        fields.compileConnections()
        fields.compileQuery()
        var mutations = MutationCompiler(types: types, mistakes: mistakes, handlers: handlers)
        mutations.compile()
        var subscriptions = SubscriptionCompiler(
            types: types, mistakes: mistakes, mutations: mutations.definitions,
            handlers: handlers)
        subscriptions.compile(with: &fields)
        fields.compileComputed(handlers)
        var access = AccessCompiler(types: types, mistakes: mistakes, handlers: handlers)
        access.compile()

        text = documents.map { String(decoding: $0.bytes, as: UTF8.self) }.joined(separator: "\n")
        self.schema = schema
        self.types = types
        computedFields = Set(handlers.resolvers.keys)
        looksAtViewer = !handlers.resolvers.isEmpty || handlers.followsCommits
        accessIndexes = access.indexes
        let all = fields.indexes + mutations.indexes + access.indexes
        self.indexes = all.enumerated().filter { !all[..<$0.offset].contains($0.element) }
            .map(\.element)
        self.resolvers = mutations.resolvers.merging(fields.resolvers) { $0.merging($1) { $1 } }
        self.mutations = mutations.definitions
        self.subscriptions = subscriptions.sources
        eventTypes = subscriptions.eventTypes
        self.access = access.rules
        closedTypes = access.closedTypes
    }
}
