import GraphQLLanguage

/// Checks that the schema has the fields for which handlers are registered.
struct HandlerPlaces {
    let types: ServiceTypes
    let mistakes: MistakeCollector

    func check(_ handlers: Handlers) {
        for path in handlers.resolvers.keys.sorted() { checkResolver(path) }
        let mutations = Set(handlers.mutations.keys).union(handlers.checks.keys)
        for name in mutations.sorted() { checkRootField(name, of: .mutation) }
        for name in handlers.subscriptions.keys.sorted() {
            checkRootField(name, of: .subscription)
        }
    }

    private func checkResolver(_ path: String) {
        let schema = types.schema
        guard let (type, _) = schema.field(at: path) else {
            let all = schema.types.filter { $0.kind == .object && $0.origin == .document }
                .flatMap { type in type.fields.map { "\(type.name).\($0.name)" } }
            mistakes.report(
                """
                A resolver is registered for "\(path)", which the schema does not \
                have.\(nearest(path, among: all))
                """)
            return
        }
        guard type.kind == .object, type.origin == .document, type.id != schema.mutationType,
            type.id != schema.subscriptionType
        else {
            mistakes.report(
                """
                A resolver is registered for "\(path)", and only fields of the query type and of \
                other object types have one. Mutations and subscriptions have handlers of their own.
                """)
            return
        }
    }

    private func checkRootField(_ name: String, of operation: OperationType) {
        let fields = types.schema.rootType(of: operation)?.fields.map(\.name) ?? []
        if fields.contains(name) { return }
        mistakes.report(
            """
            A handler is registered for \(operation.rawValue) "\(name)", which the schema does not \
            have.\(nearest(name, among: fields))
            """)
    }
}
