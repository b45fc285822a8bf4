/// Operation name uniqueness (GraphQL §5.2.2.1).
enum UniqueOperationNamesRule {
    static func check(_ context: ValidationContext) {
        guard context.operations.count > 1 else { return }
        var seen: [String: Int] = [:]
        for operation in context.operations.map(\.node) {
            guard let name = operation.name else { continue }
            if let first = seen[name.value] {
                context.report(
                    "There can be only one operation named \"\(name.value)\".",
                    at: [first, name.location])
            } else {
                seen[name.value] = name.location
            }
        }
    }
}
