import GraphQLExecution
import GraphQLLanguage
@_spi(Rooms) import RelayRecords

/// What a root field of the mutation type does, before it is bound to a store's symbols.
struct MutationDefinition: Sendable {
    let field: SchemaField
    /// The input's type, or the field itself if there is no `input` argument.
    let inputName: String
    /// The input's fields, or all arguments.
    let inputFields: [SchemaInputValue]
    let payload: NamedType
    /// The input fields that name records of known types, one or a list.
    let references: [String: RecordReference]
    /// The input field that names the record the mutation is about; nil if the mutation creates one.
    let subject: String?
    /// The possible types of the record that the mutation is about.
    let recordTypes: [TypeID]
    /// Whether fields of that record may be set from the input fields.
    let writesInput: Bool
    let serve: @Sendable (Symbols) -> ServedMutation
}

/// Compiles the mutation type: a handler for each root field, resolvers for the payloads.
struct MutationCompiler {
    let types: ServiceTypes
    let mistakes: MistakeCollector
    let handlers: Handlers
    private(set) var definitions: [String: MutationDefinition] = [:]
    private(set) var resolvers: [TypeID: [String: ResolverMaker]] = [:]
    /// The positions of records in the lists that mutations add to, remove from and reorder.
    private(set) var indexes: [IndexDefinition] = []
    private var parts: [TypeID: [String: PayloadPart]] = [:]

    init(types: ServiceTypes, mistakes: MistakeCollector, handlers: Handlers) {
        self.types = types
        self.mistakes = mistakes
        self.handlers = handlers
    }

    mutating func compile() {
        guard let root = types.schema.rootType(of: .mutation) else { return }
        for field in root.fields {
            resolvers[root.id, default: [:]][field.name] = { _ in .source }
            if field.applied(among: ServiceDirective.mutating).isEmpty,
                let mutation = handlers.mutations[field.name]
            {
                compile(field, mutation)
                continue
            }
            guard let site = MutationSite(field, types: types, mistakes: mistakes) else { continue }
            let plan: MutationPlan? =
                switch site.kind {
                case .create: site.create()
                case .update: site.update()
                case .delete: site.delete()
                case .link: site.link(.link)
                case .unlink: site.link(.unlink)
                case .move: site.move()
                default: nil
                }
            guard let plan else { continue }
            fill(site.payload, site.parts(filledFrom: plan), of: field)
            if let list = plan.list {
                indexes.append(.places(type: list.owner.name, key: list.name))
            }
            guard let makeHandler = plan.makeHandler else { continue }
            let checks = handlers.checks[field.name] ?? []
            let registered = handlers.mutations[field.name].map { swift($0, field) }
            let references = plan.references
            definitions[field.name] = MutationDefinition(
                field: field, inputName: site.input.name, inputFields: site.input.inputFields,
                payload: site.payload, references: plan.references, subject: plan.subject,
                recordTypes: recordTypes(of: plan, isByProgram: registered != nil),
                writesInput: registered != nil || site.kind == .create || site.kind == .update
            ) { [types] symbols in
                let directive = makeHandler(symbols)
                let inputs = InputRecords(
                    field, references, types, symbols, isByProgram: registered != nil,
                    hasChecks: !checks.isEmpty)
                return registered?(directive.payload, inputs)
                    ?? .atOnce(
                        AtOnceMutation(
                            checks: checks, body: .directive(directive), inputs: inputs,
                            payload: directive.payload))
            }
        }
        for (type, parts) in parts {
            resolvers[type] = parts.mapValues { part in { _ in .payloadPart(part) } }
        }
    }

    /// A program may say that its mutation is about any record.
    private func recordTypes(of plan: MutationPlan, isByProgram: Bool) -> [TypeID] {
        if isByProgram { return types.stored.map(\.id) }
        let list = plan.isAboutParent ? plan.parent?.types ?? [] : []
        if let named = plan.subject.flatMap({ plan.references[$0] }) { return named.types + list }
        return plan.record.map(types.recordTypes) ?? []
    }

    /// A mutation without a directive.
    private mutating func compile(_ field: SchemaField, _ mutation: RegisteredMutation) {
        guard let site = SwiftMutationSite(field, types: types, mistakes: mistakes) else { return }
        fill(site.payload, site.parts, of: field)
        let served = swift(mutation, field)
        definitions[field.name] = MutationDefinition(
            field: field, inputName: site.inputName, inputFields: site.inputFields,
            payload: site.payload, references: site.references, subject: nil,
            recordTypes: types.stored.map(\.id), writesInput: true
        ) { [types] symbols in
            served(
                site.payloadSource(symbols),
                InputRecords(field, site.references, types, symbols, isByProgram: true))
        }
    }

    /// The Swift code registered for a mutation, run after its checks.
    private func swift(
        _ registered: RegisteredMutation, _ field: SchemaField
    ) -> @Sendable (PayloadSource, InputRecords) -> ServedMutation {
        let checks = handlers.checks[field.name] ?? []
        let writes = HandlerWriteCheck(mutation: field.name, types: types)
        return { payload, inputs in
            switch registered {
            case .atOnce(let body):
                .atOnce(
                    AtOnceMutation(
                        checks: checks, body: .swift(body, writes), inputs: inputs,
                        payload: payload))
            case .waiting(let prepare):
                .waiting(
                    WaitingMutation(
                        checks: checks, prepare: prepare, payload: payload, inputs: inputs,
                        writes: writes))
            }
        }
    }

    /// Several mutations may share a payload type if its fields mean the same for all of them.
    private mutating func fill(
        _ payload: NamedType, _ filled: [(name: String, part: PayloadPart)],
        of mutation: SchemaField
    ) {
        for (name, part) in filled {
            let known = parts[payload.id]?[name]
            if let known, known != part, let field = payload.field(name) {
                mistakes.report(
                    """
                    "\(payload.name).\(name)" would be one thing for "\(mutation.name)" and \
                    another for a mutation above it. Give each a payload type of its own.
                    """, at: field.location)
            }
            parts[payload.id, default: [:]][name] = part
        }
    }
}

/// The plan for a mutation, derived from its directive.
struct MutationPlan {
    /// The type of the record that is created or changed; nil if it is deleted.
    var record: TypeID?
    var parent: RecordReference?
    /// The type of the edge that the record gets.
    var edge: TypeID?
    /// Whether there is an edge at all; there is none after the record was removed.
    var hasEdge = true
    /// The list that is added to, removed from or reordered.
    var list: ListField?
    /// It changes nothing but that list.
    var isAboutParent = false
    var references: [String: RecordReference]
    var subject: String?
    /// Nil if something is missing; the payload can still be checked.
    var makeHandler: (@Sendable (Symbols) -> any DirectiveMutation)?
}

/// An input field that names a record, before it is bound to a store's symbols.
struct RecordReference: Sendable {
    let mutation: String
    let input: String
    /// The type as written in the schema, for messages.
    let typeName: String
    let types: [TypeID]
    /// The input may omit it.
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
