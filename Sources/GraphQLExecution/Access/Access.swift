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
    private let state: AccessState
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
        guard rules.restrict(identity) else { return nil }
        self.identity = identity
        self.rules = rules
        state = AccessState(identity, rules, snapshot)
        self.present = present.map { AccessState(identity, rules, $0) }
    }

    deinit { if !hidden.isEmpty || !refused.isEmpty { rules.count(hidden, refused) } }

    /// The state that is read is another one.
    package func move(to snapshot: Snapshot) { state.move(to: snapshot) }

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

    enum Verdict {
        /// All records of its type are visible.
        case open
        case visible
        case hidden
    }

    /// The same with what is known of the others of its type.
    func verdict(
        _ record: RecordIndex, _ row: Row, for exit: AccessExit,
        _ dependencies: inout Dependencies?
    ) -> Verdict {
        guard present == nil else {
            return isVisible(record, row, for: exit, &dependencies) ? .visible : .hidden
        }
        let verdict = state.verdict(record, row, &dependencies)
        if case .hidden = verdict { hidden[exit, default: 0] += 1 }
        return verdict
    }

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

    /// Whether no record of these types is visible, now or later, whatever is in it.
    func seesNone(ofTypes types: [NameIndex]) -> Bool {
        !types.isEmpty && types.allSatisfy { state.seesNone(ofType: $0) }
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

    package func mayRead(_ field: NameIndex, of record: RecordIndex) -> Bool {
        var dependencies: Dependencies?
        return mayRead(field, of: record, &dependencies)
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

    /// Says what may be done to records of a state, and remembers their types' rules.
    package func judge(of snapshot: Snapshot) -> Judge {
        Judge(state: AccessState(identity, rules, snapshot))
    }

    package struct Judge {
        fileprivate let state: AccessState

        package func may(_ action: AccessAction, _ record: RecordIndex) -> Bool {
            state.may(action, record)
        }

        /// Whether no viewer with these claims may do something to a record of a type, whatever is in it.
        package func isForbidden(_ action: AccessAction, ofType type: String) -> Bool {
            state.isForbidden(action, ofType: type)
        }
    }

    /// Whether no viewer with these claims may do something to a record of a type, whatever is in it.
    package func isForbidden(_ action: AccessAction, ofType type: String) -> Bool {
        state.isForbidden(action, ofType: type)
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
