package import GraphQLLanguage
import Threads

/// What may be done to a record.
package enum AccessAction: String, Sendable, CaseIterable {
    case read, create, update, delete
}

/// What somebody was refused with an error.
package struct AccessRefusal: Sendable, Hashable {
    package enum Place: String, Sendable, CaseIterable {
        /// A field of a record.
        case field
        /// A field of the query, mutation or subscription type.
        case root
        /// A mutation, because of a record that it would have written.
        case mutation
    }

    package let place: Place
    package let isLoggedIn: Bool

    package init(place: Place, isLoggedIn: Bool) {
        self.place = place
        self.isLoggedIn = isLoggedIn
    }

    package var code: ErrorCode { isLoggedIn ? .forbidden : .unauthenticated }
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
    /// For the cursors of those who may not see everything.
    package let cursorSeal: CursorSeal
    private let counts: CountsInCommon

    /// Of rules that were made from one another.
    private final class CountsInCommon: Sendable {
        let now = Lock(Counts())
    }

    /// What was not shown and not allowed since the start.
    package struct Counts: Sendable {
        /// Records that were hidden from somebody.
        package fileprivate(set) var hidden: [AccessExit: Int] = [:]
        /// Errors that somebody got.
        package fileprivate(set) var refused: [AccessRefusal: Int] = [:]
    }

    /// - Parameters:
    ///   - types: the stored types that are not open to everyone, also those without `@access`.
    ///   - roots: rules of the fields of the query, mutation and subscription type.
    package convenience init(
        isOpenByDefault: Bool, types: [String: OfType] = [:],
        roots: [OperationType: [String: AccessRule]] = [:]
    ) {
        self.init(isOpenByDefault, types, roots, CursorSeal(), CountsInCommon())
    }

    private init(
        _ isOpenByDefault: Bool, _ types: [String: OfType],
        _ roots: [OperationType: [String: AccessRule]], _ cursorSeal: CursorSeal,
        _ counts: CountsInCommon
    ) {
        self.cursorSeal = cursorSeal
        self.isOpenByDefault = isOpenByDefault
        self.types = types
        self.roots = roots
        self.counts = counts
    }

    /// The same rules, with cursors that are good for as long as the seal is the same.
    package func sealing(cursorsWith seal: CursorSeal) -> AccessRules {
        AccessRules(isOpenByDefault, types, roots, seal, counts)
    }

    /// The same rules for a schema of the past: what today's does not have is closed, as there is no rule that could open
    /// it.
    /// - Parameters:
    ///   - goneTypes: stored types that are no more.
    ///   - goneFields: fields of stored types that are no more, by type.
    ///   - goneRoots: fields of the query type that are no more.
    ///   - changedFields: names of fields that had values of another type. What a rule that may look at one decides is closed.
    package func closing(
        types goneTypes: [String], fields goneFields: [String: [String]], roots goneRoots: [String],
        rulesAbout changedFields: Set<String>
    ) -> AccessRules {
        // Without rules nobody is restricted.
        if isEmpty
            || (goneTypes.isEmpty && goneFields.isEmpty && goneRoots.isEmpty
                && changedFields.isEmpty)
        {
            return self
        }
        var (types, roots) = (types, roots)
        for (type, rules) in types {
            if rules.rule(for: .read).mayLook(at: changedFields) {
                types[type]?.actions[.read] = nil
            }
            for (field, rule) in rules.fields where rule.mayLook(at: changedFields) {
                types[type]?.fields[field] = .closed
            }
        }
        for type in goneTypes { types[type] = OfType() }
        for (type, fields) in goneFields {
            var rules = self.rules(ofType: type)
            for field in fields { rules.fields[field] = .closed }
            types[type] = rules
        }
        for root in goneRoots { roots[.query, default: [:]][root] = .closed }
        return AccessRules(isOpenByDefault, types, roots, cursorSeal, counts)
    }

    /// Nothing is allowed to those who are restricted.
    package static let closed = AccessRules(isOpenByDefault: false)

    /// Everything is allowed, also to those who are restricted.
    package static let none = AccessRules(isOpenByDefault: true)

    private var all: [AccessRule] {
        types.values.flatMap { Array($0.actions.values) + Array($0.fields.values) }
            + roots.values.flatMap { $0.values }
    }

    /// The claims that rules look at.
    package var mentionedClaims: Set<String> {
        var mentions = AccessMentions()
        for rule in all { mentions.add(rule) }
        return mentions.claims
    }

    /// The fields that rules look at.
    var testedFields: Set<String> {
        all.reduce(into: []) { $0.formUnion($1.testedFields) }
    }

    /// Whether a rule looks at a field, or may do so.
    package func mayLook(at field: String) -> Bool { all.contains { $0.mayLook(at: [field]) } }

    /// There is no rule at all.
    package var isEmpty: Bool { isOpenByDefault && types.isEmpty && roots.isEmpty }

    /// Whether the schema states a rule, beyond what holds by default.
    package var areStated: Bool {
        !roots.isEmpty || types.values.contains { !$0.actions.isEmpty || !$0.fields.isEmpty }
    }

    /// Whether an identity may not see and do everything.
    package func restrict(_ identity: Identity) -> Bool { identity != .unrestricted && !isEmpty }

    package func rules(ofType name: String) -> OfType {
        types[name] ?? (isOpenByDefault ? .open : OfType())
    }

    /// The rules of a stored type; nil if everything is open. Types of objects that are no records have none.
    func statedRules(ofType name: String) -> OfType? { types[name] }

    /// The rule of a root field, if it has one.
    package func rule(ofRoot field: String, _ operation: OperationType) -> AccessRule? {
        roots[operation]?[field]
    }

    package var countsNow: Counts { counts.now.withLock { $0 } }

    func count(_ hidden: [AccessExit: Int], _ refused: [AccessRefusal: Int]) {
        counts.now.withLock {
            $0.hidden.merge(hidden) { $0 &+ $1 }
            $0.refused.merge(refused) { $0 &+ $1 }
        }
    }

    /// The fields of a type that have rules.
    package func ruledFields(ofType name: String) -> [String: AccessRule] {
        types[name]?.fields ?? [:]
    }
}
