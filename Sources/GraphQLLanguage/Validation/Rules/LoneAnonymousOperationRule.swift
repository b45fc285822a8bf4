/// Lone anonymous operation (GraphQL §5.2.3.1): without a name it could not be selected.
enum LoneAnonymousOperationRule {
    static func check(_ context: ValidationContext) {
        guard context.operations.count > 1 else { return }
        for operation in context.operations.map(\.node) where operation.name == nil {
            context.report(
                "This anonymous operation must be the only defined operation.",
                at: operation.location)
        }
    }
}
