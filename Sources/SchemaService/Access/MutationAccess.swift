package import GraphQLExecution
import GraphQLLanguage
@_spi(Rooms) import RelayRecords

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

    /// Asked before anything is written: the store keeps the ids of records that were refused.
    /// - Throws: that no record of the type may be created.
    func checkCreation(ofType type: String) throws(ExecutionError) {
        guard asksTypes, let access, access.isForbidden(.create, ofType: type) else { return }
        throw refusal(.create, type, access)
    }

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
        guard asksTypes, let access, !access.may(action, record, in: snapshot) else { return }
        let type = snapshot.type(of: record).map(snapshot.symbols.nameString) ?? "record"
        throw access.refusal(
            "Could not run \(mutation): not allowed to \(action.rawValue) this \(type). Nothing was changed.",
            of: .mutation)
    }

    /// Asks the types' rules about everything that Swift code has written.
    func check(_ draft: Draft) throws(ExecutionError) {
        guard asksTypes, access != nil else { return }
        let (before, after) = (draft.base, draft.snapshot)
        var seen: Set<RecordIndex> = []
        let written =
            draft.changes.created + draft.changes.deleted + draft.changes.fields.map(\.record)
        for record in written where seen.insert(record).inserted {
            switch (before.row(record) != nil, after.row(record) != nil) {
            case (false, false): continue
            case (false, true): try check(.create, record, in: after)
            case (true, false): try check(.delete, record, in: before)
            case (true, true):
                try check(.update, record, in: before)
                try check(.update, record, in: after)
            }
        }
    }
}
