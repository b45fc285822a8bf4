package import RelayJSON
@_spi(Rooms) package import RelayRecords

/// A condition of `@access`, as the schema says it.
///
/// It knows names, no numbers of a store, so the same rules decide about the present and about past states.
package indirect enum AccessRule: Sendable {
    case all([AccessRule])
    case any([AccessRule])
    case not(AccessRule)
    /// A claim of the viewer equals the value, or is a list that contains it.
    case claim(String, JSONValue)
    /// Somebody is logged in.
    case viewer
    /// A field of the record, or of one that it links to.
    case field(AccessTest)
    /// Swift code.
    case handler(AccessHandler)

    /// What is allowed to everyone.
    package static let open = AccessRule.all([])
    /// What is allowed to nobody.
    package static let closed = AccessRule.any([])

    var isOpen: Bool { if case .all(let rules) = self { rules.isEmpty } else { false } }
}

extension AccessRule {
    /// Calls `body` with the rule and all that it is made of.
    func visit(_ body: (AccessRule) -> Void) {
        body(self)
        switch self {
        case .all(let rules), .any(let rules): for rule in rules { rule.visit(body) }
        case .not(let rule): rule.visit(body)
        case .field(let test):
            if case .behind(let rule) = test.expectation { rule.visit(body) }
        case .claim, .viewer, .handler: break
        }
    }

    var testedFields: Set<String> {
        var fields: Set<String> = []
        visit { if case .field(let test) = $0 { fields.insert(test.field) } }
        return fields
    }

    /// Whether it looks at one of the fields, or may do so: Swift code does not say what it looks at.
    func mayLook(at fields: Set<String>) -> Bool {
        if fields.isEmpty { return false }
        var asksCode = false
        visit { if case .handler = $0 { asksCode = true } }
        return asksCode || !testedFields.isDisjoint(with: fields)
    }
}

extension AccessRule {
    /// Whether the rule is met, if that depends on no record and no state.
    func constant(for identity: Identity) -> Bool? {
        switch self {
        case .all(let rules):
            let constants = rules.map { $0.constant(for: identity) }
            return constants.contains(false) ? false : constants.contains(nil) ? nil : true
        case .any(let rules):
            let constants = rules.map { $0.constant(for: identity) }
            return constants.contains(true) ? true : constants.contains(nil) ? nil : false
        case .not(let rule): return rule.constant(for: identity).map { !$0 }
        case .viewer: return identity.viewer != nil
        case .claim(let name, let value): return identity.claim(name).contains(value.canonical)
        case .handler: return nil
        case .field(let test):
            // What the viewer lacks is equal to nothing, and there is nothing behind which that would be so.
            let isPossible =
                switch test.expectation {
                case .value: true
                case .viewer: identity.viewer != nil
                case .claim(let name): !identity.claim(name).isEmpty
                case .behind(let rule): rule.constant(for: identity) != false
                }
            return isPossible ? nil : false
        }
    }
}

/// What a field of a record must be.
package struct AccessTest: Sendable {
    package enum Content: Sendable {
        case id
        /// A scalar, an enum value, or a list of these.
        case leaf
        case link
        /// A list of records, or a connection.
        case links
    }

    package enum Expectation: Sendable {
        /// Equal, or contained in a list. A link equals its record's id.
        case value(JSONValue)
        /// The viewer's id.
        case viewer
        /// A claim of the viewer or, if that is a list, one of its elements.
        case claim(String)
        /// A condition on the linked record.
        case behind(AccessRule)
    }

    package let field: String
    package let content: Content
    package let expectation: Expectation

    package init(field: String, content: Content, expectation: Expectation) {
        self.field = field
        self.content = content
        self.expectation = expectation
    }
}

/// Swift code that decides about a record.
package struct AccessHandler: Sendable {
    package let name: String
    /// What it is told of the viewer besides the id.
    package let claims: Set<String>
    /// Whether the record may be seen or changed; nil if that could not be found out: then it may not, whatever the
    /// rule around it says. Must depend only on what the call has.
    package let decide: @Sendable (AccessCall) -> Bool?

    package init(
        name: String, claims: Set<String> = [], decide: @escaping @Sendable (AccessCall) -> Bool?
    ) {
        self.name = name
        self.claims = claims
        self.decide = decide
    }
}

package struct AccessCall: Sendable {
    /// Nil if nobody is logged in.
    package let viewer: Viewer?
    package let record: RecordIndex
    package let snapshot: Snapshot
    /// Records what is read; nil if that is not tracked.
    package let reads: ReadLog?
}
