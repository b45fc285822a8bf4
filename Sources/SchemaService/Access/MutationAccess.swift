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

    /// - Throws: that the mutation may not be used at all.
    package init(_ access: Access?, _ field: FieldPlan, _ rules: AccessRules) throws(ExecutionError)
    {
        self.access = access
        mutation = field.name
        asksTypes = rules.rule(ofRoot: field.name, .mutation) == nil
        if let access, !access.mayUse(field.name, of: .mutation) {
            throw access.refusal(of: field)
        }
    }

    /// Everything is allowed.
    package init(unrestricted mutation: String) {
        access = nil
        self.mutation = mutation
        asksTypes = false
    }

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
        guard let access, !mayCreate(ofType: type) else { return }
        throw refusal(.create, type, access)
    }

    /// Whether a record exists for whoever sends the mutation, or only since it runs. A mutation with a rule of its own
    /// may lead to what he does not see.
    func sees(_ record: RecordIndex, since base: Snapshot) -> Bool {
        guard asksTypes, let access, base.row(record) != nil else { return true }
        return access.isVisible(record, for: .input)
    }

    // MARK: What is expected

    // Others see it before the mutation has shown what it does, so records that exist are judged by their types even if the
    // mutation has a rule of its own.

    package func mayUpdate(_ record: RecordIndex, in snapshot: Snapshot) -> Bool {
        access?.isVisible(record, for: .input) ?? true && may(.update, record, in: snapshot)
    }

    package func may(
        _ action: AccessAction, _ record: RecordIndex, in snapshot: Snapshot
    ) -> Bool {
        access?.may(action, record, in: snapshot) ?? true
    }

    package func mayCreate(_ record: RecordIndex, in snapshot: Snapshot) -> Bool {
        !asksTypes || may(.create, record, in: snapshot)
    }

    package func mayCreate(ofType type: String) -> Bool {
        guard asksTypes, let access else { return true }
        return !access.isForbidden(.create, ofType: type)
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
        for record in draft.writtenRecords {
            switch (before.row(record) != nil, after.row(record) != nil) {
            case (false, false): continue
            case (false, true): try check(.create, record, in: after, access, now)
            case (true, false): try check(.delete, record, in: before, access, then)
            case (true, true):
                try check(.update, record, in: before, access, then)
                try check(.update, record, in: after, access, now)
            }
        }
    }
}

extension Draft {
    /// Each once, in the order in which they were written.
    fileprivate var writtenRecords: [RecordIndex] {
        var seen: Set<RecordIndex> = []
        return (changes.created + changes.deleted + changes.fields.map(\.record))
            .filter { seen.insert($0).inserted }
    }
}
