import RelayJSON
@_spi(Rooms) package import RelayRecords

/// What has been decided about one state.
final class AccessState {
    private final class OfType {
        let type: NameIndex
        let read: ResolvedRule
        let fields: [NameIndex: ResolvedRule]
        /// The rule in numbers alone, if it is of the usual kind: asking it counts no references.
        let shortcut: Shortcut
        /// Of the record behind the link, which many records have in common. Nothing else reads them while they are written.
        @exclusivity(unchecked) var lastLinked: RecordIndex?
        @exclusivity(unchecked) var isLastMet = false

        init(_ type: NameIndex, read: ResolvedRule, fields: [NameIndex: ResolvedRule]) {
            self.type = type
            self.read = read
            self.fields = fields
            shortcut = Shortcut(read)
        }
    }

    private enum Shortcut {
        case constant(Bool)
        /// A link to this record.
        case link(NameIndex, RecordIndex)
        /// Something about the record behind a link.
        case behind(NameIndex)
        case none

        init(_ rule: ResolvedRule) {
            switch rule {
            case .constant(let isMet): self = .constant(isMet)
            case .field(let test):
                switch (test.key, test.expectation) {
                case (let key?, .isRecord(let records)) where records.count == 1:
                    self = .link(key, records[0])
                case (let key?, .behind): self = .behind(key)
                default: self = .none
                }
            case .all, .any, .not, .handler: self = .none
            }
        }
    }

    let snapshot: Snapshot
    private let identity: Identity
    private let rules: AccessRules
    private var types: [NameIndex: OfType] = [:]
    /// Swift code could not decide about the record that is being asked about.
    private var hasFailed = false
    /// Records of one type come one after the other. Nothing else reads it while it is written.
    @exclusivity(unchecked) private var last: OfType?

    init(_ identity: Identity, _ rules: AccessRules, _ snapshot: Snapshot) {
        self.identity = identity
        self.rules = rules
        self.snapshot = snapshot
    }

    private func ofType(_ type: NameIndex) -> OfType {
        if let last, last.type == type { return last }
        if let known = types[type] {
            last = known
            return known
        }
        let rules = rules.rules(ofType: snapshot.symbols.nameString(type))
        var fields: [NameIndex: ResolvedRule] = [:]
        for (name, rule) in rules.fields {
            guard let key = snapshot.symbols.findName(name) else { continue }
            fields[key] = resolved(rule)
        }
        let made = OfType(type, read: resolved(rules.rule(for: .read)), fields: fields)
        types[type] = made
        last = made
        return made
    }

    private func resolved(_ rule: AccessRule) -> ResolvedRule {
        ResolvedRule(rule, for: identity, snapshot.symbols)
    }

    func seesAll(ofType type: NameIndex) -> Bool {
        if case .constant(true) = ofType(type).read { true } else { false }
    }

    func readsAll(_ field: NameIndex, ofType type: NameIndex) -> Bool {
        switch ofType(type).fields[field] {
        case nil, .constant(true)?: true
        default: false
        }
    }

    func isVisible(
        _ record: RecordIndex, _ row: Row, _ dependencies: inout Dependencies?
    ) -> Bool {
        decide(ofType(row.type).read, by: record, row, &dependencies)
    }

    func verdict(
        _ record: RecordIndex, _ row: Row, _ dependencies: inout Dependencies?
    ) -> Access.Verdict {
        let ofType = ofType(row.type)
        if case .constant(let isMet) = ofType.shortcut { return isMet ? .open : .hidden }
        let isMet: Bool
        if dependencies == nil, let known = known(ofType, row) {
            isMet = known
        } else {
            isMet = decide(ofType.read, by: record, row, &dependencies)
            if case .behind(let key) = ofType.shortcut, let slot = row.slot(of: key),
                row.tag(slot) == .link
            {
                ofType.lastLinked = row.link(slot)
                ofType.isLastMet = isMet
            }
        }
        return isMet ? .visible : .hidden
    }

    /// What the shortcut says; nil if it says nothing.
    @inline(__always)
    private func known(_ ofType: OfType, _ row: Row) -> Bool? {
        switch ofType.shortcut {
        case .link(let key, let expected):
            guard let slot = row.slot(of: key) else { return false }
            // It may be a list.
            return row.tag(slot) == .link ? row.link(slot) == expected : nil
        case .behind(let key):
            guard let slot = row.slot(of: key), row.tag(slot) == .link,
                let linked = ofType.lastLinked, row.link(slot) == linked
            else { return nil }
            return ofType.isLastMet
        case .constant, .none: return nil
        }
    }

    func mayRead(
        _ field: NameIndex, of record: RecordIndex, _ dependencies: inout Dependencies?
    ) -> Bool {
        guard let row = snapshot.row(record) else { return true }
        let ofType = ofType(row.type)
        guard !ofType.fields.isEmpty, let rule = ofType.fields[field] else { return true }
        return decide(rule, by: record, row, &dependencies)
    }

    func may(_ action: AccessAction, _ record: RecordIndex) -> Bool {
        guard let row = snapshot.row(record) else { return false }
        let rules = rules.rules(ofType: snapshot.symbols.nameString(row.type))
        return isMet(rules.rule(for: action), by: record)
    }

    /// Whether nobody like the identity may do something to a record of a type, whatever is in it.
    func isForbidden(_ action: AccessAction, ofType type: String) -> Bool {
        if case .constant(false) = resolved(rules.rules(ofType: type).rule(for: action)) {
            return true
        }
        return false
    }

    func isMet(_ rule: AccessRule, by record: RecordIndex) -> Bool {
        guard let row = snapshot.row(record) else { return false }
        var dependencies: Dependencies?
        return decide(resolved(rule), by: record, row, &dependencies)
    }

    /// A rule that is about no record.
    func isMet(_ rule: AccessRule) -> Bool {
        if case .constant(true) = resolved(rule) { true } else { false }
    }

    /// Whether a whole rule is met. Swift code that fails allows nothing, not even below a `not`.
    private func decide(
        _ rule: ResolvedRule, by record: RecordIndex, _ row: Row,
        _ dependencies: inout Dependencies?
    ) -> Bool {
        hasFailed = false
        return isMet(rule, by: record, row, &dependencies) && !hasFailed
    }

    private func isMet(
        _ rule: ResolvedRule, by record: RecordIndex, _ row: Row,
        _ dependencies: inout Dependencies?
    ) -> Bool {
        switch rule {
        case .constant(let isMet): return isMet
        case .all(let rules):
            for rule in rules where !isMet(rule, by: record, row, &dependencies) { return false }
            return true
        case .any(let rules):
            for rule in rules where isMet(rule, by: record, row, &dependencies) { return true }
            return false
        case .not(let rule): return !isMet(rule, by: record, row, &dependencies)
        case .field(let test): return isMet(test, by: record, row, &dependencies)
        case .handler(let handler):
            let reads = dependencies == nil ? nil : ReadLog()
            defer { if let reads { dependencies?.insert(reads, for: self) } }
            let decision = handler.decide(
                AccessCall(
                    viewer: identity.viewer, record: record, snapshot: snapshot, reads: reads))
            if decision == nil { hasFailed = true }
            return decision ?? false
        }
    }

    private func isMet(
        _ test: ResolvedTest, by record: RecordIndex, _ row: Row,
        _ dependencies: inout Dependencies?
    ) -> Bool {
        guard let key = test.key else {
            guard case .isRecord(let expected) = test.expectation else { return false }
            return expected.contains(record)
        }
        dependencies?.insert(record, test.keys, for: test)
        guard let slot = row.slot(of: key) else {
            if case .isNull = test.expectation { return true }
            return false
        }
        switch test.expectation {
        case .isNull:
            guard row.tag(slot) == .link else { return row.holds(.null, under: key) }
            // It may be deleted, or created.
            dependencies?.insert(row.link(slot), [], for: test)
            return snapshot.row(row.link(slot)) == nil
        case .isOneOf(let values):
            if row.tag(slot) == .json, let elements = row.leaf(slot)?.array {
                return elements.contains { values.contains($0.canonical) }
            }
            return values.contains { row.holds($0, under: key) }
        case .isRecord(let expected):
            switch row.tag(slot) {
            case .link: return expected.contains(row.link(slot))
            case .links:
                return expected.contains { snapshot.position(of: $0, in: key, of: record) != nil }
            default: return false
            }
        case .behind(let rule):
            guard row.tag(slot) == .link else { return false }
            let linked = row.link(slot)
            if let known = test.known(linked) { return known }
            // If it does not exist, it may be created.
            dependencies?.insert(linked, [], for: test)
            let isMet =
                snapshot.row(linked).map { self.isMet(rule, by: linked, $0, &dependencies) }
                ?? false
            test.know(linked, isMet)
            return isMet
        }
    }
}

extension Snapshot {
    /// The position of a record in another record's list; indexed for the lists that mutations add to, and those that
    /// rules look at.
    package func position(
        of record: RecordIndex, in key: NameIndex, of parent: RecordIndex
    ) -> Int? {
        guard let row = row(parent) else { return nil }
        if indexes.knowsPlaces(in: key, of: row.type) {
            return indexes.position(of: record, in: key, of: parent)
        }
        guard let slot = row.slot(of: key), row.tag(slot) == .links else { return nil }
        return row.links(slot).position(of: record)
    }
}
