package import GraphQLLanguage
import Threads

/// What may be done to a record.
package enum AccessAction: String, Sendable, CaseIterable {
    case read, create, update, delete
}

/// All rules of a schema.
package final class AccessRules: Sendable {
    /// The rules of a stored type. What it does not state is closed.
    package struct OfType: Sendable {
        package var actions: [AccessAction: AccessRule]
        /// For reading, by field.
        package var fields: [String: AccessRule]

        package init(actions: [AccessAction: AccessRule] = [:], fields: [String: AccessRule] = [:])
        {
            self.actions = actions
            self.fields = fields
        }

        package func rule(for action: AccessAction) -> AccessRule { actions[action] ?? .closed }

        fileprivate static let open = OfType(
            actions: Dictionary(uniqueKeysWithValues: AccessAction.allCases.map { ($0, .open) }))
    }

    /// A type without `@access` is open: `extend schema @access(default: OPEN)`.
    package let isOpenByDefault: Bool
    private let types: [String: OfType]
    private let roots: [OperationType: [String: AccessRule]]
    /// Records that were hidden, by exit.
    private let hidden = Lock<[AccessExit: Int]>([:])

    /// - Parameters:
    ///   - types: the stored types that are not open to everyone, also those without `@access`.
    ///   - roots: rules of the fields of the query, mutation and subscription type.
    package init(
        isOpenByDefault: Bool, types: [String: OfType] = [:],
        roots: [OperationType: [String: AccessRule]] = [:]
    ) {
        self.isOpenByDefault = isOpenByDefault
        self.types = types
        self.roots = roots
    }

    /// Everything is allowed, also to those who are restricted.
    package static let none = AccessRules(isOpenByDefault: true)

    /// The claims that rules look at; nil if Swift code may look at any.
    package var mentionedClaims: Set<String>? {
        var mentions = AccessMentions()
        for type in types.values {
            for rule in type.actions.values { mentions.add(rule) }
            for rule in type.fields.values { mentions.add(rule) }
        }
        for rules in roots.values { for rule in rules.values { mentions.add(rule) } }
        return mentions.wholeViewer ? nil : mentions.claims
    }

    /// The fields that rules look at.
    var testedFields: Set<String> {
        var fields: Set<String> = []
        for type in types.values {
            for rule in type.actions.values { rule.insertTestedFields(into: &fields) }
            for rule in type.fields.values { rule.insertTestedFields(into: &fields) }
        }
        return fields
    }

    /// There is no rule at all.
    package var isEmpty: Bool { isOpenByDefault && types.isEmpty && roots.isEmpty }

    package func rules(ofType name: String) -> OfType {
        types[name] ?? (isOpenByDefault ? .open : OfType())
    }

    /// The rules of a stored type; nil if everything is open. Types of objects that are no records have none.
    func statedRules(ofType name: String) -> OfType? { types[name] }

    /// The rule of a root field, if it has one.
    package func rule(ofRoot field: String, _ operation: OperationType) -> AccessRule? {
        roots[operation]?[field]
    }

    /// How often a record was hidden from somebody, by exit, since the start.
    package var hiddenCounts: [AccessExit: Int] { hidden.withLock { $0 } }

    func count(_ counts: [AccessExit: Int]) {
        hidden.withLock { $0.merge(counts) { $0 &+ $1 } }
    }

    /// The fields of a type that have rules.
    package func ruledFields(ofType name: String) -> [String: AccessRule] {
        types[name]?.fields ?? [:]
    }
}
