import GraphQLLanguage

/// Checks that every directive of the service is in a valid place.
struct DirectivePlaces {
    let types: ServiceTypes
    let mistakes: MistakeCollector

    func check() {
        for type in types.schema.types where type.origin == .document {
            let owner = Owner(type, types)
            for field in type.fields { check(field, of: type, owner) }
        }
    }

    /// What kind of type a field belongs to.
    private enum Owner: Equatable {
        case record, query, mutation, subscription, other

        init(_ type: NamedType, _ types: ServiceTypes) {
            let schema = types.schema
            if types.isStored(type.id) {
                self = .record
            } else if type.id == schema.queryType {
                self = .query
            } else if type.id == schema.mutationType {
                self = .mutation
            } else if type.id == schema.subscriptionType {
                self = .subscription
            } else {
                self = .other
            }
        }
    }

    private func check(_ field: SchemaField, of type: NamedType, _ owner: Owner) {
        var sources: [ServiceDirective] = []
        for directive in field.applied(among: ServiceDirective.allCases) {
            let place = place(of: directive)
            if place.owners.contains(owner) {
                if directive.isSource { sources.append(directive) }
            } else if let applied = field.applied(directive) {
                let advice =
                    place.owners.contains(.record) && owner == .other && type.kind == .object
                    ? "Write: type \(type.name) implements Node { id: ID! … }, or remove it."
                    : "Remove it."
                mistakes.report(
                    """
                    @\(directive.rawValue) means nothing on "\(type.name).\(field.name)": it stands \
                    on fields of \(place.description). \(advice)
                    """, at: applied.location)
            }
        }
        if sources.count > 1, let second = field.applied(sources[1]) {
            let names = sources.map { "@\($0.rawValue)" }.joined(separator: " and ")
            mistakes.report(
                "\"\(type.name).\(field.name)\" has \(names). Keep one of them.",
                at: second.location)
        }
    }

    private func place(
        of directive: ServiceDirective
    ) -> (owners: [Owner], description: String) {
        switch directive {
        case .unique, .now, .count:
            ([.record], "a type that implements Node")
        case .lookup, .list:
            (
                [.record, .query, .subscription],
                "the query type, the subscription type or a type that implements Node"
            )
        case .create, .update, .delete, .link, .unlink, .move:
            ([.mutation], "the mutation type")
        case .on, .live:
            ([.subscription], "the subscription type")
        }
    }
}

extension ServiceDirective {
    /// Whether it says where a field's value comes from; a field has only one such source.
    fileprivate var isSource: Bool {
        switch self {
        case .lookup, .list, .count, .create, .update, .delete, .link, .unlink, .move, .on: true
        case .unique, .now, .live: false
        }
    }
}
