/// Argument uniqueness (GraphQL §5.4.2).
enum UniqueArgumentNamesRule {
    static func check(_ arguments: [Argument], _ context: ValidationContext) {
        guard arguments.count > 1 else { return }
        for (name, locations) in arguments.repeatedNames(\.name) {
            context.report("There can be only one argument named \"\(name)\".", at: locations)
        }
    }
}
