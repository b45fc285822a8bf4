package import GraphQLExecution
@_spi(Rooms) package import RelayRecords

/// What a schema says shall be done, ready to be done on one store.
package struct SchemaService: Sendable {
    package let executable: ExecutableSchema
    /// By root field of the mutation type.
    package let mutations: [String: ServedMutation]
    /// Those of them that wait before they are carried out.
    package let waiting: [String: WaitingMutation]
    /// Some results are computed by Swift code, which may depend on the viewer.
    package let looksAtViewer: Bool
    /// What Swift code computes, as `Type.field`.
    package let computedFields: Set<String>
    /// By root field of the subscription type.
    package let subscriptions: [String: SubscriptionSource]
    /// What all of it was made from.
    private let source: ServiceSchema

    /// - Parameter symbols: the store's; names are added to it, so this is for the store's writer, or
    ///   for before there is one.
    package init(_ schema: ServiceSchema, symbols: Symbols) {
        executable = ExecutableSchema(
            schema.schema,
            resolvers: schema.resolvers.mapValues { $0.mapValues { $0(symbols) } },
            symbols: symbols)
        mutations = schema.mutations.mapValues { $0.serve(symbols) }
        waiting = mutations.compactMapValues { mutation in
            if case .waiting(let mutation) = mutation { mutation } else { nil }
        }
        looksAtViewer = schema.looksAtViewer
        computedFields = schema.computedFields
        subscriptions = schema.subscriptions.mapValues { $0(symbols) }
        source = schema
    }

    /// The schema, as the log has it.
    package var schemaText: String { source.text }

    /// What a store must keep besides its records.
    package var indexes: [IndexDefinition] { source.indexes }

    /// The payload of a mutation that is in the log; empty for one that the schema no longer has.
    /// - Parameter snapshot: the state right after the response.
    package func payload(
        of intent: MutationIntent, _ response: MutationResponse, in snapshot: Snapshot
    ) -> MutationPayload {
        mutations[intent.field]?.payload.payload(of: intent, response, in: snapshot) ?? .init()
    }

    /// The same for another store: a state of the past has numbers of its own for names.
    package func on(_ symbols: Symbols) -> SchemaService { SchemaService(source, symbols: symbols) }
}

/// Makes a resolver once the store's numbers for names are known.
typealias ResolverMaker = @Sendable (Symbols) -> FieldResolver

typealias SubscriptionSourceMaker = @Sendable (Symbols) -> SubscriptionSource
