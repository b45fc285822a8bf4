/// Input object field uniqueness (GraphQL §5.6.3).
enum UniqueInputFieldNamesRule {
    static func check(_ fields: [ObjectField], _ context: ValidationContext) {
        guard fields.count > 1 else { return }
        for (name, locations) in fields.repeatedNames(\.name) {
            for location in locations.dropFirst() {
                context.report(
                    "There can be only one input field named \"\(name)\".",
                    at: [locations[0], location])
            }
        }
    }
}
