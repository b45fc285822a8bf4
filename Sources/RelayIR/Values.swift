import GraphQLLanguage

extension Value {
    var string: String? {
        if case .string(let text, _) = kind { text } else { nil }
    }

    var bool: Bool? {
        if case .boolean(let value) = kind { value } else { nil }
    }

    var variable: String? {
        if case .variable(let name) = kind { name } else { nil }
    }

    /// The strings of a list of strings, or of one string, which means the same (GraphQL §3.11).
    var strings: [String]? {
        if let string { return [string] }
        guard case .list(let items) = kind else { return nil }
        let strings = items.compactMap(\.string)
        return strings.count == items.count ? strings : nil
    }

    /// The variables in it, in the order written.
    var variables: [String] {
        switch kind {
        case .variable(let name): [name]
        case .list(let items): items.flatMap(\.variables)
        case .object(let fields): fields.flatMap(\.value.variables)
        default: []
        }
    }
}
