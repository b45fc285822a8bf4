package import RelayJSON
@_spi(Rooms) package import RelayRecords

/// Why an identity may do things with a record, or may not: for people who write rules.
///
/// Every verdict on a rule is ``Access``'s own. What the program's Swift code decides is not known here.
package struct AccessExplanation: Sendable {
    package enum Verdict: Sendable, Hashable {
        case yes, no
        /// Swift code decides.
        case undecided
    }

    package enum Subject: Sendable, Hashable {
        case action(AccessAction)
        /// Reading a field that has a rule.
        case field(String)
    }

    package enum Reason: Sendable {
        case rule(ExplainedRule)
        /// The schema has `@access(default: OPEN)`, and the type no `@access`.
        case openByDefault
        /// The type has no `@access`.
        case closedByDefault
        /// The type's `@access` has no such rule.
        case unstated
    }

    package struct Entry: Sendable {
        package let subject: Subject
        package let verdict: Verdict
        package let reason: Reason
        /// The record does not exist for the identity, so that the rule is not asked.
        package let isHidden: Bool
    }

    package let type: String
    /// First the actions, then the fields with rules by their names.
    package let entries: [Entry]

    /// - Parameters:
    ///   - record: nil is returned if it does not exist.
    ///   - rules: those in which handlers need not be there: they are not called.
    package init?(
        of record: RecordIndex, for identity: Identity, _ rules: AccessRules, in snapshot: Snapshot
    ) {
        guard let name = snapshot.type(of: record).map(snapshot.symbols.nameString) else {
            return nil
        }
        let ofType = rules.rules(ofType: name)
        let walk = AccessWalk(identity, rules, snapshot)
        func entry(_ subject: Subject, _ reason: Reason, in record: Verdict = .yes) -> Entry {
            let verdict: Verdict =
                switch reason {
                case .rule(let rule): rule.verdict
                case .openByDefault: .yes
                case .closedByDefault, .unstated: .no
                }
            return Entry(
                subject: subject, verdict: .all([record, verdict]), reason: reason,
                isHidden: record == .no)
        }
        let isOpenByDefault =
            rules.isOpenByDefault
            && AccessAction.allCases.allSatisfy { ofType.rule(for: $0).isOpen }
        func reason(_ action: AccessAction) -> Reason {
            guard let rule = ofType.actions[action] else {
                return ofType.actions.isEmpty ? .closedByDefault : .unstated
            }
            if isOpenByDefault { return .openByDefault }
            return .rule(walk.explain(rule, of: record))
        }
        let read = entry(.action(.read), reason(.read))
        type = name
        entries =
            [
                read, entry(.action(.create), reason(.create)),
                entry(.action(.update), reason(.update), in: read.verdict),
                entry(.action(.delete), reason(.delete), in: read.verdict),
            ]
            + ofType.fields.sorted { $0.key < $1.key }.map { field, rule in
                entry(
                    .field(field), .rule(walk.explain(rule, of: record)), in: read.verdict)
            }
    }
}

/// A rule with what became of it.
package struct ExplainedRule: Sendable {
    package indirect enum Content: Sendable {
        case all([ExplainedRule])
        case any([ExplainedRule])
        case not(ExplainedRule)
        /// - Parameter found: nil if the viewer has no such claim.
        case claim(String, JSONValue, found: JSONValue?)
        case viewer
        case field(FieldFinding)
        case handler(String)
    }

    package let content: Content
    package let verdict: AccessExplanation.Verdict
}

/// What a rule found in a field.
package struct FieldFinding: Sendable {
    package enum Expectation: Sendable {
        case value(JSONValue)
        case viewer(id: String?)
        /// - Parameter values: none if the viewer has no such claim.
        case claim(String, values: [JSONValue])
        /// That it leads to a record, which it does not.
        case record
    }

    /// From the record that the rule is about, over links.
    package let path: [String]
    package let expectation: Expectation
    /// The record that has the field, if it is behind a link.
    package fileprivate(set) var linked: String?
    /// Whether it is a list, which has to contain what is expected.
    package fileprivate(set) var isList = false
    /// The field's value, links as ids; nil if it has none. Of a long list the beginning.
    package fileprivate(set) var value: JSONValue?
    /// Elements of the list that are not in ``value``.
    package fileprivate(set) var leftOut = 0
    /// It links to a record that does not exist.
    package fileprivate(set) var isDangling = false
}

extension AccessExplanation.Verdict {
    fileprivate init(_ isMet: Bool) { self = isMet ? .yes : .no }

    fileprivate static func all(_ verdicts: [Self]) -> Self {
        verdicts.contains(.no) ? .no : verdicts.contains(.undecided) ? .undecided : .yes
    }

    fileprivate static func any(_ verdicts: [Self]) -> Self {
        verdicts.contains(.yes) ? .yes : verdicts.contains(.undecided) ? .undecided : .no
    }

    fileprivate var opposite: Self {
        switch self {
        case .yes: .no
        case .no: .yes
        case .undecided: .undecided
        }
    }
}

/// Walks through a rule, and asks at every step what is decided.
private struct AccessWalk {
    private static let listLimit = 20

    private let identity: Identity
    private let state: AccessState
    private let snapshot: Snapshot

    init(_ identity: Identity, _ rules: AccessRules, _ snapshot: Snapshot) {
        self.identity = identity
        self.snapshot = snapshot
        state = AccessState(identity, rules, snapshot)
    }

    /// - Parameter path: the links that led to the record.
    func explain(
        _ rule: AccessRule, of record: RecordIndex, path: [String] = []
    ) -> ExplainedRule {
        let content: ExplainedRule.Content
        let known: AccessExplanation.Verdict
        switch rule {
        case .all(let rules):
            let parts = rules.map { explain($0, of: record, path: path) }
            (content, known) = (.all(parts), .all(parts.map(\.verdict)))
        case .any(let rules):
            let parts = rules.map { explain($0, of: record, path: path) }
            (content, known) = (.any(parts), .any(parts.map(\.verdict)))
        case .not(let rule):
            let part = explain(rule, of: record, path: path)
            (content, known) = (.not(part), part.verdict.opposite)
        case .claim(let name, let value):
            content = .claim(name, value, found: identity.viewer?.claimValues[name])
            known = .undecided
        case .viewer: (content, known) = (.viewer, .undecided)
        case .handler(let handler): (content, known) = (.handler(handler.name), .undecided)
        case .field(let test):
            if case .behind(let rule) = test.expectation, let linked = link(test.field, of: record)
            {
                // Its lines say what they are about by their paths.
                let part = explain(rule, of: linked, path: path + [test.field])
                (content, known) = (part.content, part.verdict)
            } else {
                let finding = finding(test, of: record, path)
                (content, known) = (
                    .field(finding), finding.leadsNowhere ? .no : .undecided
                )
            }
        }
        // Where no Swift code is asked, the server's own answer.
        var mentions = AccessMentions()
        mentions.add(rule)
        let verdict =
            mentions.asksHandlers
            ? known : AccessExplanation.Verdict(state.isMet(rule, by: record))
        return ExplainedRule(content: content, verdict: verdict)
    }

    /// The record behind a link, if there is one.
    private func link(_ field: String, of record: RecordIndex) -> RecordIndex? {
        guard let row = snapshot.row(record), let key = snapshot.symbols.findName(field),
            let slot = row.slot(of: key), row.tag(slot) == .link
        else { return nil }
        let linked = row.link(slot)
        return snapshot.row(linked) == nil ? nil : linked
    }

    private func finding(
        _ test: AccessTest, of record: RecordIndex, _ path: [String]
    ) -> FieldFinding {
        let expectation: FieldFinding.Expectation =
            switch test.expectation {
            case .value(let value): .value(value)
            case .viewer: .viewer(id: identity.viewerID)
            case .claim(let name): .claim(name, values: identity.claim(name))
            case .behind: .record
            }
        var finding = FieldFinding(path: path + [test.field], expectation: expectation)
        let id = snapshot.symbols.idString(record)
        if !path.isEmpty { finding.linked = id }
        if case .id = test.content {
            finding.value = .string(id)
            return finding
        }
        switch snapshot.fieldValue(test.field, of: record) {
        case nil: break
        case .link(let id)?:
            finding.value = .string(id.rawValue)
            finding.isDangling = snapshot.existing(id.rawValue) == nil
        case .links(let all)?:
            // Others count as none.
            let ids = all.filter { id in id.map { snapshot.existing($0.rawValue) != nil } ?? true }
            finding.isList = true
            finding.leftOut = max(0, ids.count - Self.listLimit)
            finding.value = .array(
                ids.prefix(Self.listLimit).map { $0.map { .string($0.rawValue) } ?? .null })
        case .json(.array(let values))?:
            finding.isList = true
            finding.leftOut = max(0, values.count - Self.listLimit)
            finding.value = .array(Array(values.prefix(Self.listLimit)))
        case .json(let value)?: finding.value = value
        case let value?: finding.value = value.recordJSON
        }
        return finding
    }
}

extension FieldFinding {
    fileprivate var leadsNowhere: Bool { if case .record = expectation { true } else { false } }
}
