import GraphQLExecution
import GraphQLLanguage
import Threads

/// What today's rules say about states from before the schema was another one, by its text. Streams that are resumed ask for
/// each event.
final class PastRules: Sendable {
    private let known = Lock<[(schema: String, rules: AccessRules)]>([])
    /// Of older schemas, the rules are made again.
    private static let limit = 8

    func rules(for schema: String, make: () -> AccessRules) -> AccessRules {
        if let rules = known.withLock({ $0.first { $0.schema == schema }?.rules }) { return rules }
        let rules = make()
        known.withLock { known in
            known.append((schema, rules))
            if known.count > Self.limit { known.removeFirst() }
        }
        return rules
    }
}

extension ServiceTypes {
    /// What rules compare in a field: where it is another one, they mean something else. Nil if nothing is stored.
    func content(of field: SchemaField) -> String? {
        guard let kind = kind(of: field), let content = kind.content else { return nil }
        let isList = kind.node == nil && field.type.listItem != nil
        return "\(content) \(schema[kind.node ?? field.namedType].name) \(isList)"
    }
}
