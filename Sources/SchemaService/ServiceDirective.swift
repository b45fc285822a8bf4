import GraphQLLanguage

/// The directives by name.
enum ServiceDirective: String, CaseIterable, Sendable {
    case unique, lookup, list, count, create, update, delete, link, unlink, move, now, on, live

    /// Directives that say how a field's value is found instead of stored.
    static let finding: [ServiceDirective] = [.lookup, .list, .count]
    /// Directives that say what a mutation does.
    static let mutating: [ServiceDirective] = [
        .create, .update, .delete, .link, .unlink, .move,
    ]
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
