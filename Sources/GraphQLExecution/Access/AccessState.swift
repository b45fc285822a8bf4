import RelayJSON
@_spi(Rooms) package import RelayRecords

/// What has been decided about one state.
final class AccessState {
    private struct OfType {
        /// The rule for reading.
        let read: AccessProgram.Target
        let fields: [NameIndex: AccessProgram.Target]
        /// It is met by nothing, and would not be in any other state.
        let isClosed: Bool
    }

    private let identity: Identity
    private let rules: AccessRules
    private let program: AccessProgram
    private var types: [NameIndex: OfType] = [:]
    /// Rules for writing.
    private var actions: [AccessAction: [NameIndex: AccessProgram.Target]] = [:]
    /// The shape that was seen last, and the rule for reading: records of one type come one after the other.
    @exclusivity(unchecked) private var lastShape: UnsafeRawPointer?
    @exclusivity(unchecked) private var lastRead = AccessProgram.Target.unmet

    var snapshot: Snapshot { program.snapshot }

    init(_ identity: Identity, _ rules: AccessRules, _ snapshot: Snapshot) {
        self.identity = identity
        self.rules = rules
        program = AccessProgram(identity, snapshot)
    }

    /// Forgets everything.
    func move(to snapshot: Snapshot) {
        types = [:]
        actions = [:]
        lastShape = nil
        program.move(to: snapshot)
    }

    private func ofType(_ type: NameIndex) -> OfType {
        if let known = types[type] { return known }
        let rules = rules.rules(ofType: snapshot.symbols.nameString(type))
        var fields: [NameIndex: AccessProgram.Target] = [:]
        for (name, rule) in rules.fields {
            guard let key = snapshot.symbols.findName(name) else { continue }
            fields[key] = program.add(rule)
        }
        let rule = rules.rule(for: .read)
        let made = OfType(
            read: program.add(rule), fields: fields, isClosed: rule.constant(for: identity) == false
        )
        types[type] = made
        return made
    }

    func seesAll(ofType type: NameIndex) -> Bool { ofType(type).read == .met }

    func seesNone(ofType type: NameIndex) -> Bool { ofType(type).isClosed }

    func readsAll(_ field: NameIndex, ofType type: NameIndex) -> Bool {
        ofType(type).fields[field].map { $0 == .met } ?? true
    }

    func isVisible(
        _ record: RecordIndex, _ row: Row, _ dependencies: inout Dependencies?
    ) -> Bool {
        program.isMet(readRule(of: row), by: record, row, &dependencies)
    }

    func verdict(
        _ record: RecordIndex, _ row: Row, _ dependencies: inout Dependencies?
    ) -> Access.Verdict {
        let rule = readRule(of: row)
        if rule == .met { return .open }
        return program.isMet(rule, by: record, row, &dependencies) ? .visible : .hidden
    }

    /// A shape is known by its address: the program holds the state, and so the shapes of its rows.
    @inline(__always)
    private func readRule(of row: Row) -> AccessProgram.Target {
        let shape = row.shapeIdentity
        if shape != lastShape {
            lastRead = ofType(row.type).read
            lastShape = shape
        }
        return lastRead
    }

    func mayRead(
        _ field: NameIndex, of record: RecordIndex, _ dependencies: inout Dependencies?
    ) -> Bool {
        guard let row = snapshot.row(record),
            let rule = ofType(row.type).fields[field]
        else { return true }
        return program.isMet(rule, by: record, row, &dependencies)
    }

    func may(_ action: AccessAction, _ record: RecordIndex) -> Bool {
        guard let row = snapshot.row(record) else { return false }
        var dependencies: Dependencies?
        return program.isMet(rule(for: action, ofType: row.type), by: record, row, &dependencies)
    }

    private func rule(for action: AccessAction, ofType type: NameIndex) -> AccessProgram.Target {
        if let known = actions[action]?[type] { return known }
        let rules = rules.rules(ofType: snapshot.symbols.nameString(type))
        let added = program.add(rules.rule(for: action))
        actions[action, default: [:]][type] = added
        return added
    }

    /// Whether no viewer with these claims may do something to a record of a type, whatever is in it.
    func isForbidden(_ action: AccessAction, ofType type: String) -> Bool {
        if let type = snapshot.symbols.findName(type) {
            return rule(for: action, ofType: type) == .unmet
        }
        // No record has the type yet.
        return program.add(rules.rules(ofType: type).rule(for: action)) == .unmet
    }

    func isMet(_ rule: AccessRule, by record: RecordIndex) -> Bool {
        guard let row = snapshot.row(record) else { return false }
        var dependencies: Dependencies?
        return program.isMet(program.add(rule), by: record, row, &dependencies)
    }

    /// A rule that is about no record.
    func isMet(_ rule: AccessRule) -> Bool { program.add(rule) == .met }
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
