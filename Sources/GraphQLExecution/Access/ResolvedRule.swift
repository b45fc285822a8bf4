import RelayJSON
@_spi(Rooms) import RelayRecords

/// A rule for one identity and one state: what depends on these alone is decided.
indirect enum ResolvedRule {
    case constant(Bool)
    case all([ResolvedRule])
    case any([ResolvedRule])
    case not(ResolvedRule)
    case field(ResolvedTest)
    case handler(AccessHandler)
}

/// A test of a field, with the store's numbers.
struct ResolvedTest {
    indirect enum Expectation {
        case isNull
        case isOneOf([JSONValue])
        /// Those of the expected records that the store knows.
        case isRecord([RecordIndex])
        case behind(ResolvedRule)
    }

    /// Nil for the id.
    let key: NameIndex?
    let expectation: Expectation
}

extension ResolvedRule {
    init(_ rule: AccessRule, for identity: Identity, _ symbols: Symbols) {
        func resolved(_ rules: [AccessRule]) -> [ResolvedRule] {
            rules.map { ResolvedRule($0, for: identity, symbols) }
        }
        switch rule {
        case .all(let rules): self = .all(of: resolved(rules))
        case .any(let rules): self = .any(of: resolved(rules))
        case .not(let rule):
            let inner = ResolvedRule(rule, for: identity, symbols)
            if case .constant(let isMet) = inner {
                self = .constant(!isMet)
            } else {
                self = .not(inner)
            }
        case .viewer: self = .constant(identity.viewer != nil)
        case .claim(let name, let value):
            self = .constant(identity.claim(name).contains(value.canonical))
        case .field(let test): self = Self.resolved(test, for: identity, symbols)
        case .handler(let handler): self = .handler(handler)
        }
    }

    private static func all(of rules: [ResolvedRule]) -> ResolvedRule {
        var open: [ResolvedRule] = []
        for rule in rules {
            guard case .constant(let isMet) = rule else {
                open.append(rule)
                continue
            }
            if !isMet { return .constant(false) }
        }
        if open.isEmpty { return .constant(true) }
        return open.count == 1 ? open[0] : .all(open)
    }

    private static func any(of rules: [ResolvedRule]) -> ResolvedRule {
        var open: [ResolvedRule] = []
        for rule in rules {
            guard case .constant(let isMet) = rule else {
                open.append(rule)
                continue
            }
            if isMet { return .constant(true) }
        }
        if open.isEmpty { return .constant(false) }
        return open.count == 1 ? open[0] : .any(open)
    }

    private static func resolved(
        _ test: AccessTest, for identity: Identity, _ symbols: Symbols
    ) -> ResolvedRule {
        let expected: [JSONValue]
        switch test.expectation {
        case .value(.null):
            // A name that the store does not know is in no record.
            guard let key = symbols.findName(test.field) else { return .constant(true) }
            return .field(ResolvedTest(key: key, expectation: .isNull))
        case .value(let value): expected = [value]
        case .viewer: expected = identity.viewer.map { [.string($0.id)] } ?? []
        case .claim(let name): expected = identity.claim(name)
        case .behind(let rule):
            let inner = ResolvedRule(rule, for: identity, symbols)
            if case .constant(false) = inner { return inner }
            guard let key = symbols.findName(test.field) else { return .constant(false) }
            return .field(ResolvedTest(key: key, expectation: .behind(inner)))
        }
        if expected.isEmpty { return .constant(false) }
        switch test.content {
        case .leaf:
            guard let key = symbols.findName(test.field) else { return .constant(false) }
            return .field(ResolvedTest(key: key, expectation: .isOneOf(expected)))
        case .id, .link, .links:
            let records = expected.compactMap { $0.idText.flatMap { symbols.findRecord($0) } }
            if test.content.isID {
                // Even if none of them exists: one that is created may be behind a link.
                return .field(ResolvedTest(key: nil, expectation: .isRecord(records)))
            }
            // Even if none of them exists: one that is created may be linked.
            guard let key = symbols.findName(test.field) else { return .constant(false) }
            return .field(ResolvedTest(key: key, expectation: .isRecord(records)))
        }
    }
}

extension AccessTest.Content {
    fileprivate var isID: Bool { if case .id = self { true } else { false } }
}

extension Identity {
    /// The values of a claim, one if it is no list. Null is none.
    func claim(_ name: String) -> [JSONValue] {
        switch viewer?.claimValues[name] {
        case nil: []
        case .array(let values)?: values.filter { $0 != .null }
        case let value?: value == .null ? [] : [value]
        }
    }
}

extension JSONValue {
    /// An id may be a number in a claim.
    fileprivate var idText: String? {
        switch self {
        case .string(let text): text
        case .int(let number): String(number)
        default: nil
        }
    }
}
