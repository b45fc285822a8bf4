import GraphQLLanguage

/// The directives of the schema service, which a schema file uses without defining them.
///
/// The text is that of docs/examples/directives.graphql; a test ensures that they match.
enum PredefinedDirectives {
    static let source = Source(text, name: "directives.graphql")

    static let text = """
        # What the schema service predefines. A schema file uses these without defining them.
        scalar Constant # any constant literal
        enum Moment { CREATE UPDATE }
        directive @unique on FIELD_DEFINITION
        directive @lookup on FIELD_DEFINITION
        directive @list(type: String!) on FIELD_DEFINITION
        directive @count(field: String!, where: Constant) on FIELD_DEFINITION
        directive @create(type: String!, into: String, parent: String) on FIELD_DEFINITION
        directive @update(type: String!, parent: String) on FIELD_DEFINITION
        directive @delete(type: String!, from: String, parent: String) on FIELD_DEFINITION
        directive @link(field: String!, parent: String!, child: String!) on FIELD_DEFINITION
        directive @unlink(field: String!, parent: String!, child: String!) on FIELD_DEFINITION
        directive @now(on: Moment! = CREATE) on FIELD_DEFINITION
        directive @on(mutations: [String!]!) on FIELD_DEFINITION
        directive @live on FIELD_DEFINITION | QUERY

        """
}

/// The directives by name.
enum ServiceDirective: String, CaseIterable, Sendable {
    case unique, lookup, list, count, create, update, delete, link, unlink, now, on, live

    /// Directives that say how a field's value is found instead of stored.
    static let finding: [ServiceDirective] = [.lookup, .list, .count]
    /// Directives that say what a mutation does.
    static let mutating: [ServiceDirective] = [.create, .update, .delete, .link, .unlink]
}

extension SchemaField {
    /// The directive as applied to this field.
    func applied(_ directive: ServiceDirective) -> Directive? {
        directives.named(directive.rawValue)
    }

    /// Those of the directives that are on this field.
    func applied(among directives: [ServiceDirective]) -> [ServiceDirective] {
        directives.filter { applied($0) != nil }
    }

    /// When the server sets this field itself (`@now`).
    var moment: Moment? {
        guard let directive = applied(.now) else { return nil }
        if case .enum(let name) = directive.argument("on")?.kind, name == "UPDATE" {
            return .update
        }
        return .create
    }
}

/// The enum `Moment`.
enum Moment: Sendable { case create, update }
