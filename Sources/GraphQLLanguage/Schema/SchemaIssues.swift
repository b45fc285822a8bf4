/// Collects errors in a schema, by location, until the schema exists to resolve the locations.
struct SchemaIssues {
    private var issues: [(message: String, locations: [Int])] = []

    mutating func report(_ message: String, at locations: [Int]) {
        issues.append((message, locations))
    }

    mutating func report(_ message: String, at location: Int) {
        issues.append((message, [location]))
    }

    /// All issues as errors, ordered by their first locations; those without a location first.
    func errors(placedIn schema: Schema) -> [SchemaError] {
        issues.enumerated()
            .sorted {
                let left = $0.element.locations.first ?? -1
                let right = $1.element.locations.first ?? -1
                return left != right ? left < right : $0.offset < $1.offset
            }
            .map { _, issue in
                SchemaError(issue.message, at: issue.locations.compactMap(schema.place))
            }
    }
}
