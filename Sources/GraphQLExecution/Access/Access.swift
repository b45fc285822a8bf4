package import GraphQLLanguage
import RelayJSON
@_spi(Rooms) package import RelayRecords

/// The ways by which a record can leave the store. Each asks ``Access``.
package enum AccessExit: String, Sendable, CaseIterable {
    /// A field, a payload or an event refers to it.
    case link
    /// It is in a list or a connection, which is selected or counted.
    case list
    /// An argument names it.
    case lookup
    /// A condition of a list or a count names it.
    case filter
    /// A patch says what became of it.
    case patch
    /// A mutation's input names it.
    case input
    /// An event is about it.
    case event
}

/// Decides what one identity may see and do: every way out of the store asks it.
///
/// There is one for each execution, since it remembers what it has decided. For an identity that may do everything
/// there is none.
package final class Access {
    package let identity: Identity
    private let rules: AccessRules
    private var state: AccessState
    /// A state in which everything must be visible as well, if it exists there.
    private let present: AccessState?
    private var hidden: [AccessExit: Int] = [:]
    private var refused: [AccessRefusal: Int] = [:]

    /// - Parameters:
    ///   - snapshot: what is read.
    ///   - present: for a state that is not the present: the present. What a client expects may not open what is closed,
    ///     and neither may the past.
    package init?(
        _ identity: Identity, _ rules: AccessRules, on snapshot: Snapshot,
        present: Snapshot? = nil
    ) {
        if case .unrestricted = identity { return nil }
        if rules.isEmpty { return nil }
        self.identity = identity
        self.rules = rules
        state = AccessState(identity, rules, snapshot)
        self.present = present.map { AccessState(identity, rules, $0) }
    }

    deinit { if !hidden.isEmpty || !refused.isEmpty { rules.count(hidden, refused) } }

    /// The state that is read is another one.
    package func move(to snapshot: Snapshot) {
        state = AccessState(identity, rules, snapshot)
    }

    // MARK: Reading

    /// Whether a record exists for the identity.
    package func isVisible(
        _ record: RecordIndex, for exit: AccessExit, _ dependencies: inout Dependencies?
    ) -> Bool {
        guard let row = state.snapshot.row(record) else { return false }
        return isVisible(record, row, for: exit, &dependencies)
    }

    /// The same of a record with its row.
    func isVisible(
        _ record: RecordIndex, _ row: Row, for exit: AccessExit,
        _ dependencies: inout Dependencies?
    ) -> Bool {
        if state.isVisible(record, row, &dependencies), isVisibleNow(record, &dependencies) {
            return true
        }
        hidden[exit, default: 0] += 1
        return false
    }

    private func isVisibleNow(
        _ record: RecordIndex, _ dependencies: inout Dependencies?
    ) -> Bool {
        guard let present, let now = counterpart(of: record, in: present),
            let row = present.snapshot.row(now)
        else { return true }
        return present.isVisible(now, row, &dependencies)
    }

    package func isVisible(_ record: RecordIndex, for exit: AccessExit) -> Bool {
        var dependencies: Dependencies?
        return isVisible(record, for: exit, &dependencies)
    }

    /// Whether all records of a type are visible in the state that is read, which is the present.
    func isOpen(_ type: NameIndex) -> Bool { present == nil && state.seesAll(ofType: type) }

    /// Whether all records of these types are visible, whatever is in them.
    func seesAll(ofTypes types: [NameIndex]) -> Bool {
        types.allSatisfy { type in
            state.seesAll(ofType: type)
                && (present.map { present in
                    present.snapshot.symbols.findName(state.snapshot.symbols.nameString(type))
                        .map(present.seesAll) ?? true
                } ?? true)
        }
    }

    /// Whether a field has no rule in records of a type, or one that all of them meet.
    func readsAll(_ field: NameIndex, ofType type: NameIndex) -> Bool {
        state.readsAll(field, ofType: type) && present == nil
    }

    /// Whether a field of a record that is visible may be read.
    package func mayRead(
        _ field: NameIndex, of record: RecordIndex, _ dependencies: inout Dependencies?
    ) -> Bool {
        guard state.mayRead(field, of: record, &dependencies) else { return false }
        guard let present, let now = counterpart(of: record, in: present),
            let field = present.snapshot.symbols.findName(
                state.snapshot.symbols.nameString(field))
        else { return true }
        return present.mayRead(field, of: now, &dependencies)
    }

    /// The same record in the present; nil if it no longer exists.
    private func counterpart(of record: RecordIndex, in present: AccessState) -> RecordIndex? {
        let symbols = state.snapshot.symbols
        let now =
            symbols === present.snapshot.symbols
            ? record : present.snapshot.symbols.findRecord(symbols.idString(record))
        return now.flatMap { present.snapshot.row($0) == nil ? nil : $0 }
    }

    // MARK: Root fields and writing

    /// Whether a field of the query, mutation or subscription type may be used.
    package func mayUse(_ field: String, of operation: OperationType) -> Bool {
        guard let rule = rules.rule(ofRoot: field, operation) else { return true }
        return state.isMet(rule)
    }

    /// Whether something may be done to a record, as it is in a state.
    package func may(_ action: AccessAction, _ record: RecordIndex, in snapshot: Snapshot) -> Bool {
        AccessState(identity, rules, snapshot).may(action, record)
    }

    /// What is said of a field that may not be read or used.
    package func refusal(of field: FieldPlan) -> ExecutionError {
        let place: AccessRefusal.Place = if case .record? = field.rule { .field } else { .root }
        return refusal("Access to \(field.parentType).\(field.name) is denied.", of: place)
    }

    /// An explanation tells of records that nobody may have.
    package var explanationRefusal: ExecutionError {
        refusal("Only a client with an unnamed token can have events explained.", of: .root)
    }

    /// What is said of what may not be done.
    package func refusal(_ message: String, of place: AccessRefusal.Place) -> ExecutionError {
        let refusal = AccessRefusal(place: place, isLoggedIn: identity.viewer != nil)
        refused[refusal, default: 0] += 1
        return ExecutionError(message, code: refusal.code)
    }
}

/// What has been decided about one state.
final class AccessState {
    private final class OfType {
        let type: NameIndex
        let read: ResolvedRule
        let fields: [NameIndex: ResolvedRule]

        init(_ type: NameIndex, read: ResolvedRule, fields: [NameIndex: ResolvedRule]) {
            self.type = type
            self.read = read
            self.fields = fields
        }
    }

    let snapshot: Snapshot
    private let identity: Identity
    private let rules: AccessRules
    private var types: [NameIndex: OfType] = [:]
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
        isMet(ofType(row.type).read, by: record, row, &dependencies)
    }

    func mayRead(
        _ field: NameIndex, of record: RecordIndex, _ dependencies: inout Dependencies?
    ) -> Bool {
        guard let row = snapshot.row(record) else { return true }
        let ofType = ofType(row.type)
        guard !ofType.fields.isEmpty, let rule = ofType.fields[field] else { return true }
        return isMet(rule, by: record, row, &dependencies)
    }

    func may(_ action: AccessAction, _ record: RecordIndex) -> Bool {
        guard let row = snapshot.row(record) else { return false }
        let rules = rules.rules(ofType: snapshot.symbols.nameString(row.type))
        return isMet(rules.rule(for: action), by: record)
    }

    func isMet(_ rule: AccessRule, by record: RecordIndex) -> Bool {
        guard let row = snapshot.row(record) else { return false }
        var dependencies: Dependencies?
        return isMet(resolved(rule), by: record, row, &dependencies)
    }

    /// A rule that is about no record.
    func isMet(_ rule: AccessRule) -> Bool {
        if case .constant(true) = resolved(rule) { true } else { false }
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
            return handler.decide(
                AccessCall(
                    viewer: identity.viewer, record: record, snapshot: snapshot, reads: reads))
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
