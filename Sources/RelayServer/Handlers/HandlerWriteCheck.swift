import GraphQLExecution
import GraphQLLanguage
import RelayJSON
import RelayStore

/// Looks at what Swift code has written before it is committed, so that nothing enters the log that the
/// schema does not allow: a handler's mistake is one client's error, not everybody's.
struct HandlerWriteCheck: Sendable {
    /// The root field, for messages.
    let mutation: String
    let types: ServiceTypes

    /// - Throws: what does not fit the schema; two records with one `@unique` value are a `CONFLICT`.
    func check(_ draft: Draft) throws(ExecutionError) {
        let snapshot = draft.snapshot
        for record in draft.changes.created {
            guard let type = type(of: record, in: snapshot) else { continue }
            for field in type.fields where field.type.isNonNull {
                try checkPresence(of: field, type, record, snapshot)
            }
        }
        var seen: Set<ChangeSet.Field> = []
        for change in draft.changes.fields where seen.insert(change).inserted {
            guard let row = snapshot.row(change.record),
                let type = type(of: change.record, in: snapshot)
            else { continue }
            let name = snapshot.symbols.nameString(change.key)
            guard let field = type.field(name) else {
                throw refuse("\"\(type.name)\" has no field \"\(name)\"", nil)
            }
            try check(field, type, change, row, snapshot)
            try checkUnique(field, type, change, row, draft)
        }
    }

    /// Nil for a record that is gone again.
    private func type(of record: RecordIndex, in snapshot: Snapshot) -> NamedType? {
        guard let name = snapshot.type(of: record) else { return nil }
        return types.schema.type(named: snapshot.symbols.nameString(name))
    }

    private func checkPresence(
        of field: SchemaField, _ type: NamedType, _ record: RecordIndex, _ snapshot: Snapshot
    ) throws(ExecutionError) {
        switch types.kind(of: field) {
        case .leaf, .link: break
        default: return
        }
        switch snapshot.fieldValue(field.name, of: record) {
        case nil, .null: throw refuse("\(type.name).\(field.name) must not be null", nil)
        default: return
        }
    }

    private func check(
        _ field: SchemaField, _ type: NamedType, _ change: ChangeSet.Field, _ row: Row,
        _ snapshot: Snapshot
    ) throws(ExecutionError) {
        let path = "\(type.name).\(field.name)"
        guard let slot = row.slot(of: change.key) else { return }
        switch (types.kind(of: field), row.tag(slot)) {
        case (_, .null):
            if field.type.isNonNull { throw refuse("\(path) must not be null", nil) }
        case (.leaf, _):
            if let leaf = row.leaf(slot), types.schema.storable(leaf, as: field.type) != nil {
                return
            }
            let value = row.leaf(slot)?.text ?? "a link"
            throw refuse(
                "\(path) is \(types.schema.print(field.type)), and \(value) is none", nil)
        case (.link(let target), .link):
            try check(row.link(slot), fits: target, path, snapshot)
        case (.links(let target), .links):
            // What was added last: lists may be long, and mutations are to cost what they touch.
            if let last = row.links(slot).previous(from: .max)?.record {
                try check(last, fits: target, path, snapshot)
            }
        case (.connection(let connection), .links):
            if let last = row.links(slot).previous(from: .max)?.record {
                try check(last, fits: connection.node, path, snapshot)
            }
        case (.id, _), (.found, _), (nil, _):
            throw refuse("\(path) is not stored", nil)
        default:
            throw refuse("\(path) is \(types.schema.print(field.type))", nil)
        }
    }

    private func check(
        _ record: RecordIndex, fits target: TypeID, _ path: String, _ snapshot: Snapshot
    ) throws(ExecutionError) {
        guard let type = type(of: record, in: snapshot) else {
            throw refuse(
                "\(path) links to \"\(snapshot.symbols.idString(record))\", which does not exist",
                .notFound)
        }
        guard types.recordTypes(of: target).contains(type.id) else {
            throw refuse("\(path) cannot link to a \(type.name)", nil)
        }
    }

    private func checkUnique(
        _ field: SchemaField, _ type: NamedType, _ change: ChangeSet.Field, _ row: Row,
        _ draft: Draft
    ) throws(ExecutionError) {
        guard field.applied(.unique) != nil, let slot = row.slot(of: change.key),
            let value = row.leaf(slot), let text = value.recordName
        else { return }
        // The one that had it before, and the one of this draft that took it last.
        for state in [draft.base, draft.snapshot] {
            guard
                let holder = state.indexes.record(of: row.type, where: change.key, is: text),
                holder != change.record,
                draft.snapshot.fieldValue(field.name, of: holder)
                    == draft.snapshot.fieldValue(field.name, of: change.record)
            else { continue }
            throw refuse(
                "there is another \(type.name) whose \(field.name) is \(value.text)", .conflict)
        }
    }

    private func refuse(_ problem: String, _ code: ErrorCode?) -> ExecutionError {
        ExecutionError(
            "Could not run \(mutation): \(problem). Nothing was changed.", code: code)
    }
}
