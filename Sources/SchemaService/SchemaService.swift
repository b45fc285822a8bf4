package import GraphQLExecution
import GraphQLLanguage
@_spi(Rooms) package import RelayRecords

/// A schema's instructions, ready to be carried out on one store.
package struct SchemaService: Sendable {
    package let executable: ExecutableSchema
    /// By root field of the mutation type.
    package let mutations: [String: ServedMutation]
    /// The mutations that wait before they are carried out.
    package let waiting: [String: WaitingMutation]
    /// Whether some results are computed by Swift code, which may depend on the viewer.
    package let looksAtViewer: Bool
    /// The claims that rules look at.
    package let mentionedClaims: Set<String>
    /// What Swift code computes, as `Type.field`.
    package let computedFields: Set<String>
    /// By root field of the subscription type.
    package let subscriptions: [String: SubscriptionSource]
    /// The schema that this was made from.
    private let source: ServiceSchema
    private let pastRules: PastRules

    /// - Parameters:
    ///   - symbols: the store's; names are added to them, so only the store's writer may call this,
    ///     or anyone before there is a writer.
    ///   - access: other rules than the schema's: a past state is read by those of today.
    package init(_ schema: ServiceSchema, access: AccessRules? = nil, symbols: Symbols) {
        self.init(schema, access, PastRules(), symbols)
    }

    private init(
        _ schema: ServiceSchema, _ access: AccessRules?, _ pastRules: PastRules, _ symbols: Symbols
    ) {
        self.pastRules = pastRules
        executable = ExecutableSchema(
            schema.schema,
            resolvers: schema.resolvers.mapValues { $0.mapValues { $0(symbols) } },
            access: access ?? schema.access, eventTypes: schema.eventTypes, symbols: symbols)
        mutations = schema.mutations.mapValues { $0.serve(symbols) }
        waiting = mutations.compactMapValues { mutation in
            if case .waiting(let mutation) = mutation { mutation } else { nil }
        }
        looksAtViewer = schema.looksAtViewer
        mentionedClaims = executable.access.mentionedClaims
        computedFields = schema.computedFields
        subscriptions = schema.subscriptions.mapValues { $0(symbols) }
        source = schema
    }

    /// The schema's text, as recorded in the log.
    package var schemaText: String { source.text }

    /// The indexes that a store must keep.
    package var indexes: [IndexDefinition] { source.indexes }

    /// The indexes that make its rules quick.
    package var accessIndexes: [IndexDefinition] { source.accessIndexes }

    /// The rules for a state, which may be from before the schema was another one.
    package func access(to state: Snapshot) -> AccessRules {
        if access.isEmpty || state.schema == schemaText { return access }
        return pastRules.rules(for: state.schema) {
            guard let past = try? ServiceSchema(reading: state.schema, computed: computedFields)
            else { return .closed }
            return access(toPast: past)
        }
    }

    /// The rules of this schema for one of the past.
    package func access(toPast past: ServiceSchema) -> AccessRules {
        let today = source.schema
        var (types, fields): ([String], [String: [String]]) = ([], [:])
        var changed: Set<String> = []
        for type in past.types.stored {
            guard let now = today.type(named: type.name), source.types.isStored(now.id) else {
                types.append(type.name)
                continue
            }
            let gone = type.fields.map(\.name).filter { now.field($0) == nil }
            if !gone.isEmpty { fields[type.name] = gone }
            for field in type.fields {
                guard let today = now.field(field.name) else { continue }
                if past.types.content(of: field) != source.types.content(of: today) {
                    changed.insert(field.name)
                }
            }
        }
        let (then, now) = (past.schema.rootType(of: .query), today.rootType(of: .query))
        let roots = (then?.fields ?? []).map(\.name).filter { now?.field($0) == nil }
        return access.closing(types: types, fields: fields, roots: roots, rulesAbout: changed)
    }

    /// The stored types that no `@access` opens.
    package var closedTypes: [String] { source.closedTypes }

    /// What makes the results of an operation different for different identities.
    package func scope(of identity: Identity, _ operation: PreparedOperation) -> AccessScope {
        var mentions = operation.mentions
        if looksAtViewer {
            mentions.viewerID = true
            // Code tells nobody from whoever may do everything.
            mentions.hasRules = true
        }
        return AccessScope(identity, mentions)
    }

    /// An identity without the claims that no rule looks at.
    package func keepingMentionedClaims(of identity: Identity) -> Identity {
        identity.keeping(claims: mentionedClaims)
    }

    /// The payload of a mutation in the log; empty for a mutation that the schema no longer has.
    /// - Parameter snapshot: the state right after the response.
    package func payload(
        of intent: MutationIntent, _ response: MutationResponse, in snapshot: Snapshot
    ) -> MutationPayload {
        mutations[intent.field]?.payload.payload(of: intent, response, in: snapshot) ?? .init()
    }

    /// The same service for another store: a past state has its own symbol numbers.
    package func on(_ symbols: Symbols) -> SchemaService {
        SchemaService(source, executable.access, pastRules, symbols)
    }

    /// What whoever sends a mutation may see and change in a state.
    /// - Throws: that the mutation may not be used at all.
    package func access(
        of identity: Identity, to field: FieldPlan, on snapshot: Snapshot
    ) throws(ExecutionError) -> MutationAccess {
        try MutationAccess(
            Access(identity, access, on: snapshot), field, access)
    }

    /// Why somebody may not use one of the fields of an operation; nil if he may use all of them.
    package func refusal(
        of fields: some Sequence<FieldPlan>, to identity: Identity, on snapshot: Snapshot
    ) -> ExecutionError? {
        for field in fields where mutations[field.name] != nil {
            do throws(ExecutionError) {
                _ = try self.access(of: identity, to: field, on: snapshot)
            } catch {
                return error.at(field)
            }
        }
        return nil
    }

    /// What restricted identities may see and do.
    package var access: AccessRules { executable.access }
}

/// Makes a resolver once the store's symbols are known.
typealias ResolverMaker = @Sendable (Symbols) -> FieldResolver

typealias SubscriptionSourceMaker = @Sendable (Symbols) -> SubscriptionSource
