package import GraphQLExecution
import GraphQLLanguage
import RelayJSON
@_spi(Rooms) package import RelayRecords

/// What whoever sends a mutation may see and change.
package struct MutationAccess {
    /// Nil: everything.
    let access: Access?
    /// The root field of the mutation.
    let mutation: String
    /// The mutation's own rule stands in place of those of the types that it writes.
    let asksTypes: Bool
    private let rules: AccessRules

    /// - Throws: that the mutation may not be used at all.
    package init(_ access: Access?, _ field: FieldPlan, _ rules: AccessRules) throws(ExecutionError)
    {
        self.access = access
        self.rules = rules
        mutation = field.name
        asksTypes = rules.rule(ofRoot: field.name, .mutation) == nil
        if let access, !access.mayUse(field.name, of: .mutation) {
            throw access.refusal(of: field)
        }
    }

    /// Everything is allowed.
    package init(unrestricted mutation: String) {
        access = nil
        rules = .none
        self.mutation = mutation
        asksTypes = false
    }

    /// Whether there may be records that do not exist for whoever sends the mutation.
    var hidesRecords: Bool { access != nil }

    /// The record that a value names, if it exists for whoever sends the mutation.
    func find(_ value: JSONValue, _ lookup: Lookup, in snapshot: Snapshot) -> RecordIndex? {
        guard let text = value.recordName else { return nil }
        guard let access else { return snapshot.find(text, lookup) }
        var dependencies: Dependencies?
        return access.find(text, lookup, for: .input, in: snapshot, &dependencies)
    }

    /// Asked before anything is written.
    /// - Throws: that no record of the type may be created.
    func checkCreation(ofType type: String) throws(ExecutionError) {
        guard asksTypes, let access else { return }
        if access.isForbidden(.create, ofType: type) { throw refusal(.create, type, access) }
    }

    /// Whether a record exists for whoever sends the mutation, or only since it runs. A mutation with a rule of its own
    /// may lead to what he does not see.
    func sees(_ record: RecordIndex, since base: Snapshot) -> Bool {
        guard asksTypes, let access, base.row(record) != nil else { return true }
        return access.isVisible(record, for: .input)
    }

    /// Whether whoever sends the mutation may read a field of a record.
    func mayRead(_ field: NameIndex, of record: RecordIndex) -> Bool {
        access?.mayRead(field, of: record) ?? true
    }

    // MARK: What is expected

    package func judge(of snapshot: Snapshot) -> Judge {
        Judge(
            access: access, asksTypes: asksTypes, snapshot: snapshot,
            judge: access?.judge(of: snapshot))
    }

    /// What may be expected of the records of a state.
    ///
    /// Others see it before the mutation has shown what it does, so records that exist are judged by their types even if the
    /// mutation has a rule of its own.
    package struct Judge {
        fileprivate let access: Access?
        fileprivate let asksTypes: Bool
        fileprivate let snapshot: Snapshot
        fileprivate let judge: Access.Judge?

        package func mayUpdate(_ record: RecordIndex) -> Bool {
            judge?.may(.update, record) ?? true
        }

        package func mayCreate(_ record: RecordIndex) -> Bool {
            !asksTypes || judge?.may(.create, record) ?? true
        }

        package func mayCreate(ofType type: String) -> Bool {
            !asksTypes || !(judge?.isForbidden(.create, ofType: type) ?? false)
        }

        /// - Parameter record: of the state that the mutation begins with.
        package func sees(_ record: RecordIndex) -> Bool {
            access?.isVisible(record, for: .input) ?? true
        }

        /// Whether a value may be expected: a link to a record that exists leads to one that is visible.
        package func mayExpect(_ value: FieldValue) -> Bool {
            guard case .link(let id) = value, let record = snapshot.existing(id.rawValue) else {
                return true
            }
            return sees(record)
        }
    }

    // MARK: Checks

    private func refusal(
        _ action: AccessAction, _ type: String, _ access: Access
    ) -> ExecutionError {
        access.refusal(
            "Could not run \(mutation): not allowed to \(action.rawValue) this \(type). Nothing was changed.",
            of: .mutation)
    }

    /// - Throws: that this may not be done to the record, as it is in the state.
    func check(
        _ action: AccessAction, _ record: RecordIndex, in snapshot: Snapshot
    ) throws(ExecutionError) {
        guard asksTypes, let access else { return }
        try check(action, record, in: snapshot, access, access.judge(of: snapshot))
    }

    private func check(
        _ action: AccessAction, _ record: RecordIndex, in snapshot: Snapshot, _ access: Access,
        _ judge: Access.Judge
    ) throws(ExecutionError) {
        if judge.may(action, record) { return }
        let type = snapshot.type(of: record).map(snapshot.symbols.nameString) ?? "record"
        throw refusal(action, type, access)
    }

    /// Asks whether everything that Swift code has written exists for whoever sends the mutation.
    /// - Throws: `NOT_FOUND`, which names nothing: the code may have found the record by itself.
    func checkVisibility(ofWhatIsWrittenIn draft: Draft) throws(ExecutionError) {
        guard asksTypes, access != nil else { return }
        for record in draft.writtenRecords where !sees(record, since: draft.base) {
            throw ExecutionError(
                "Could not run \(mutation): a record that it would change does not exist. Nothing was changed.",
                code: .notFound)
        }
    }

    /// Asks the types' rules about everything that Swift code has written.
    func check(_ draft: Draft) throws(ExecutionError) {
        guard asksTypes, let access else { return }
        let (before, after) = (draft.base, draft.snapshot)
        let (then, now) = (access.judge(of: before), access.judge(of: after))
        lazy var listing = draft.recordsThatOnlyListNewOnes { !rules.mayLook(at: $0) }
        for record in draft.writtenRecords {
            switch (before.row(record) != nil, after.row(record) != nil) {
            case (false, false): continue
            case (false, true): try check(.create, record, in: after, access, now)
            case (true, false): try check(.delete, record, in: before, access, then)
            case (true, true):
                if then.may(.update, record), now.may(.update, record) { continue }
                if listing.contains(record) { continue }
                try check(.update, record, in: before, access, then)
                try check(.update, record, in: after, access, now)
            }
        }
    }
}

extension Draft {
    /// The records of which nothing has changed but that new records are in their lists. As with `@create(into:)`, that asks
    /// nothing of them.
    /// - Parameter isPlain: whether a list gives nobody rights: code may choose the ids of new records.
    fileprivate func recordsThatOnlyListNewOnes(
        _ isPlain: (_ list: String) -> Bool
    ) -> Set<RecordIndex> {
        var (listing, changed): (Set<RecordIndex>, Set<RecordIndex>) = ([], [])
        for field in changes.fields {
            if isPlain(snapshot.symbols.nameString(field.key)), onlyListsNewRecords(field) {
                listing.insert(field.record)
            } else {
                changed.insert(field.record)
            }
        }
        return listing.subtracting(changed)
    }

    private func onlyListsNewRecords(_ field: ChangeSet.Field) -> Bool {
        func list(in state: Snapshot) -> LinkList? {
            guard let row = state.row(field.record) else { return nil }
            guard let slot = row.slot(of: field.key), row.tag(slot) != .absent else {
                return .empty
            }
            return row.tag(slot) == .links ? row.links(slot) : nil
        }
        guard let before = list(in: base), let after = list(in: snapshot) else { return false }
        guard let splice = after.splice(from: before) else { return true }
        return splice.removed.isEmpty
            && splice.inserted.allSatisfy { $0.map { base.row($0) == nil } ?? false }
    }

    /// Each once, in the order in which they were written.
    fileprivate var writtenRecords: [RecordIndex] {
        var seen: Set<RecordIndex> = []
        return (changes.created + changes.deleted + changes.fields.map(\.record))
            .filter { seen.insert($0).inserted }
    }
}
