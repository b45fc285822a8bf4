import GraphQLExecution
import GraphQLLanguage

/// Compiles the subscription type: what each of its fields sends, and when.
struct SubscriptionCompiler {
    let types: ServiceTypes
    let mistakes: MistakeCollector
    let mutations: [String: MutationDefinition]
    let handlers: Handlers
    private(set) var sources: [String: SubscriptionSourceMaker] = [:]
    /// The types of the records that decide whether there is an event, by field.
    private(set) var eventTypes: [String: [TypeID]] = [:]

    mutating func compile(with fields: inout FieldCompiler) {
        guard let root = types.schema.rootType(of: .subscription) else { return }
        for field in root.fields {
            if let source = handlers.subscriptions[field.name] {
                fields.set({ _ in .source }, for: field.name, of: root.id)
                sources[field.name] = maker(of: source)
                continue
            }
            let live = field.applied(.live)
            if let on = field.applied(.on) {
                if let live {
                    mistakes.report(
                        """
                        "\(root.name).\(field.name)" has @on and @live. Keep @on to send each \
                        mutation, or @live with @lookup or @list to send the newest result.
                        """, at: live.location)
                }
                fields.set({ _ in .source }, for: field.name, of: root.id)
                sources[field.name] = events(
                    field, AppliedDirective(directive: on, types: types, mistakes: mistakes))
            } else if let resolver = resolver(field, of: root, &fields) {
                if live == nil {
                    mistakes.report(
                        """
                        "\(root.name).\(field.name)" does not say when it sends. Add @live to send \
                        after every commit that changes it.
                        """, at: field.location)
                }
                fields.set(resolver, for: field.name, of: root.id)
                sources[field.name] = { _ in .live }
            }
        }
    }

    private func maker(of source: RegisteredSubscription) -> SubscriptionSourceMaker {
        switch source {
        case .sequence(let handler): return { _ in .sequence(handler) }
        case .commits(let handler):
            let mutations = types.schema.rootType(of: .mutation)?.fields.map(\.name) ?? []
            return { _ in .events(MutationEvents(mutations: mutations, handler: handler)) }
        }
    }

    private func resolver(
        _ field: SchemaField, of root: NamedType, _ fields: inout FieldCompiler
    ) -> ResolverMaker? {
        let isDescribed =
            field.applied(.live) != nil || !field.applied(among: ServiceDirective.finding).isEmpty
        if isDescribed { return fields.root(field, of: root) }
        mistakes.report(
            """
            Nothing says what "\(root.name).\(field.name)" sends. Add @on(mutations: ["…"]), or \
            @live with @lookup or @list; or register a source for it.
            """, at: field.location)
        return nil
    }

    // MARK: @on

    private mutating func events(
        _ field: SchemaField, _ directive: AppliedDirective
    ) -> SubscriptionSourceMaker? {
        let names = directive.strings("mutations")
        if names.isEmpty {
            directive.report("No mutation is named. Write: @on(mutations: [\"…\"])")
        }
        let roots = types.schema.rootType(of: .mutation)?.fields.map(\.name) ?? []
        var told: [MutationDefinition] = []
        for (name, location) in names {
            // Listing a mutation twice has no effect.
            if told.contains(where: { $0.field.name == name }) { continue }
            guard roots.contains(name) else {
                directive.report(
                    "There is no mutation \"\(name)\".\(nearest(name, among: roots))",
                    at: location)
                continue
            }
            // If the mutation itself has mistakes, these have been reported.
            guard let mutation = mutations[name] else { continue }
            check(field, tells: mutation, directive, at: location)
            told.append(mutation)
        }
        eventTypes[field.name] = told.flatMap { mutation in
            mutation.recordTypes
                + field.arguments.flatMap { mutation.references[$0.name]?.types ?? [] }
        }
        return { [told] symbols in
            let comparisons = told.map { mutation in
                let records = mutation.serve(symbols).inputs
                return field.arguments.compactMap { argument in
                    mutation.inputFields.first { $0.name == argument.name }.map {
                        ArgumentComparison(
                            input: $0, records: records,
                            isSubject: mutation.subject == argument.name,
                            isWritten: mutation.writesInput)
                    }
                }
            }
            let mutations = told.map(\.field.name)
            return .events(
                MutationEvents(
                    mutations: mutations,
                    comparisons: Dictionary(
                        zip(mutations, comparisons), uniquingKeysWith: { first, _ in first })))
        }
    }

    private func check(
        _ field: SchemaField, tells mutation: MutationDefinition, _ directive: AppliedDirective,
        at location: Int
    ) {
        let schema = types.schema
        if field.namedType != mutation.payload.id || field.type.listItem != nil {
            directive.report(
                """
                Mutation "\(mutation.field.name)" gives \(mutation.payload.name), not \
                \(schema.print(field.type)). Write: \(field.name): \(mutation.payload.name)
                """, at: location)
        }
        for argument in field.arguments {
            let inputField = mutation.inputFields.first { $0.name == argument.name }
            guard let inputField else {
                let near = nearest(argument.name, among: mutation.inputFields.map(\.name))
                mistakes.report(
                    """
                    Argument "\(argument.name)" of "\(field.name)" is compared with the input of \
                    "\(mutation.field.name)", and \(mutation.inputName) has no such field.\(near)
                    """, at: argument.location)
                continue
            }
            let isComparable =
                argument.type.nullable == inputField.type.nullable
                || schema.areTexts(argument.type, inputField.type)
            if !isComparable {
                mistakes.report(
                    """
                    Argument "\(argument.name)" of "\(field.name)" is compared with \
                    "\(mutation.inputName).\(argument.name)". Write: \(argument.name): \
                    \(schema.print(inputField.type.nullable))
                    """, at: argument.location)
            }
        }
    }
}
