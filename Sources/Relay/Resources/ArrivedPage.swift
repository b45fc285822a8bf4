import RelayArtifacts

/// What a server sent when it was asked for a page, by its own words: the store may have gone on since.
enum ArrivedPage {
    /// A page that has another end than the one that it was asked for from, or is the last.
    case onward
    /// A page that ends where it begins.
    case repeated
    /// Null in place of the page, or of what says where it ends.
    case nothing
    /// The response does not have it in one piece at its place: it came in parts, or in a fragment with an `@alias`.
    case unknown

    /// Whether it is or may be a page that brings the connection further.
    var mayHaveCome: Bool {
        switch self {
        case .onward, .unknown: true
        case .repeated, .nothing: false
        }
    }

    /// - Parameters:
    ///   - path: response names from the root to the connection.
    ///   - cursor: the end that the page was asked for from.
    ///   - names: the fields of `pageInfo` for the direction: whether there is more, and the end.
    init(
        in response: GraphQLResponse?, at path: [String], from cursor: String,
        _ names: (hasMore: String, end: String)
    ) {
        guard let data = response?.data else {
            self = .unknown
            return
        }
        var page = VariableValue.object(data)
        for name in path {
            if case .null = page { break }
            guard let value = page[name] else {
                self = .unknown
                return
            }
            page = value
        }
        if case .object(let connection) = page,
            connection["edges"] == nil || connection["pageInfo"] == nil
        {
            self = .unknown
            return
        }
        guard page["edges"]?.arrayValue != nil, case .object(let info)? = page["pageInfo"] else {
            self = .nothing
            return
        }
        let end = info[names.end]?.stringValue
        let isOnward = info[names.hasMore]?.boolValue == false || end != nil && end != cursor
        self = isOnward ? .onward : .repeated
    }
}
