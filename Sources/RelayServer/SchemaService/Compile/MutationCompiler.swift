import GraphQLExecution
import GraphQLLanguage
import RelayStore

/// What a root field of the mutation type does, before the store's numbers are known.
struct MutationDefinition: Sendable {
    let field: SchemaField
    let input: NamedType
    let payload: NamedType
    /// The input fields that name records, and the types these may have.
    let references: [String: [TypeID]]
    /// The input field that names the record the mutation is about; nil when it makes one.
    let subject: String?
    let makeHandler: @Sendable (Symbols) -> any MutationHandler
}

/// Reads the mutation type: a handler for each root field, resolvers for the payloads.
struct MutationCompiler {
    let types: ServiceTypes
    let mistakes: MistakeCollector
    private(set) var definitions: [String: MutationDefinition] = [:]
    private(set) var resolvers: [TypeID: [String: ResolverMaker]] = [:]
    private var parts: [TypeID: [String: PayloadPart]] = [:]

    init(types: ServiceTypes, mistakes: MistakeCollector) {
        self.types = types
        self.mistakes = mistakes
    }

    mutating func compile() {
        guard let root = types.schema.rootType(of: .mutation) else { return }
        for field in root.fields {
            resolvers[root.id, default: [:]][field.name] = { _ in .source }
            guard let site = MutationSite(field, types: types, mistakes: mistakes) else { continue }
            let plan: MutationPlan? =
                switch site.kind {
                case .create: site.create()
                case .update: site.update()
                case .delete: site.delete()
                case .link: site.link(.link)
                case .unlink: site.link(.unlink)
                default: nil
                }
            guard let plan else { continue }
            fill(site, with: plan)
            guard let makeHandler = plan.makeHandler else { continue }
            definitions[field.name] = MutationDefinition(
                field: field, input: site.input, payload: site.payload,
                references: plan.references, subject: plan.subject, makeHandler: makeHandler)
        }
        for (type, parts) in parts {
            resolvers[type] = parts.mapValues { part in { _ in .payloadPart(part) } }
        }
    }

    /// Several mutations may share a payload type, if its fields mean the same for all of them.
    private mutating func fill(_ site: MutationSite, with plan: MutationPlan) {
        for (name, part) in site.parts(filledFrom: plan) {
            let known = parts[site.payload.id]?[name]
            if let known, known != part, let field = site.payload.field(name) {
                mistakes.report(
                    """
                    "\(site.payload.name).\(name)" would be one thing for "\(site.field.name)" and \
                    another for a mutation above it. Give each a payload type of its own.
                    """, at: field.location)
            }
            parts[site.payload.id, default: [:]][name] = part
        }
    }
}

/// What a directive makes of a mutation.
struct MutationPlan {
    /// The type of the record that is made or changed; nil when it is deleted.
    var record: TypeID?
    var parent: RecordReference?
    /// The type of the edge that the record gets.
    var edge: TypeID?
    /// Whether there is an edge at all: not after the record was taken out.
    var hasEdge = true
    var references: [String: [TypeID]]
    var subject: String?
    /// Nil when something is missing; the payload can be checked all the same.
    var makeHandler: (@Sendable (Symbols) -> any MutationHandler)?
}

/// An input field that names a record, before the store's numbers are known.
struct RecordReference: Sendable {
    let mutation: String
    let input: String
    /// The type as the schema has it, for messages.
    let typeName: String
    let types: [TypeID]
    /// The input may leave it out.
    let isOptional: Bool

    func finder(_ service: ServiceTypes, _ symbols: Symbols) -> RecordFinder {
        var keys = ["id"]
        for key in types.flatMap(service.uniqueFields) where !keys.contains(key) {
            keys.append(key)
        }
        return RecordFinder(
            mutation: mutation, typeName: typeName, keys: keys,
            lookup: service.lookup(input, types, symbols))
    }
}
