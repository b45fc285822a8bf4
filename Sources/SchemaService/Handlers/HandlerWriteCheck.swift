import GraphQLExecution
import GraphQLLanguage
import RelayJSON
@_spi(Rooms) import RelayRecords

/// Checks what Swift code has written before it is committed, so that nothing enters the log that the schema
/// does not allow: a handler's mistake is an error for one client, not for all.
///
/// The cost depends on what was written, not on the length of the lists that something was added to.
struct HandlerWriteCheck: Sendable {
    /// The root field, for messages.
    let mutation: String
    let types: ServiceTypes

    /// - Parameter access: a record that is new in a link must exist for whoever sends the mutation.
    /// - Throws: what does not fit the schema.
    func check(_ draft: Draft, _ access: MutationAccess) throws(ExecutionError) {
        let snapshot = draft.snapshot
        // A record that was created and deleted again has no row.
        for record in draft.changes.created where snapshot.row(record) != nil {
            let type = try storedType(of: record, in: snapshot)
            for field in type.fields where field.type.isNonNull {
                try checkPresence(of: field, type, record, snapshot)
            }
        }
        var seen: Set<ChangeSet.Field> = []
        for change in draft.changes.fields where seen.insert(change).inserted {
            guard let row = snapshot.row(change.record) else { continue }
            let type = try storedType(of: change.record, in: snapshot)
            let name = snapshot.symbols.nameString(change.key)
            guard let field = type.field(name) else {
                // A change that left nothing may belong to an earlier record with this id.
                if row.holdsNothing(under: change.key) { continue }
                throw refuse("\"\(type.name)\" has no field \"\(name)\"")
            }
            try check(field, type, change, row, draft, access)
        }
    }

    /// - Throws: `CONFLICT` if two records have the same `@unique` value. Whoever may not write learns nothing of that.
    func checkUniqueness(_ draft: Draft) throws(ExecutionError) {
        var seen: Set<ChangeSet.Field> = []
        for change in draft.changes.fields where seen.insert(change).inserted {
            guard let row = draft.snapshot.row(change.record),
                let type = type(of: change.record, in: draft.snapshot),
                let field = type.field(draft.snapshot.symbols.nameString(change.key))
            else { continue }
            try checkUnique(field, type, change, row, draft)
        }
    }

    /// The type of an existing record.
    /// - Throws: if records cannot have it.
    private func storedType(
        of record: RecordIndex, in snapshot: Snapshot
    ) throws(ExecutionError) -> NamedType {
        let id = snapshot.symbols.idString(record)
        if id == DataID.rootID.rawValue {
            throw refuse("there is no root record on a server; records stand in fields of records")
        }
        if let type = type(of: record, in: snapshot) { return type }
        let name = snapshot.type(of: record).map(snapshot.symbols.nameString) ?? ""
        let near = nearest(name, among: types.stored.map(\.name))
        throw refuse("there is no stored type \"\(name)\" for record \"\(id)\".\(near)")
    }

    /// Nil if the record does not exist, or its type is not stored.
    private func type(of record: RecordIndex, in snapshot: Snapshot) -> NamedType? {
        guard let name = snapshot.type(of: record),
            let type = types.schema.type(named: snapshot.symbols.nameString(name)),
            types.isStored(type.id)
        else { return nil }
        return type
    }

    private func checkPresence(
        of field: SchemaField, _ type: NamedType, _ record: RecordIndex, _ snapshot: Snapshot
    ) throws(ExecutionError) {
        switch types.kind(of: field) {
        case .leaf, .link: break
        default: return
        }
        switch snapshot.fieldValue(field.name, of: record) {
        case nil, .null: throw refuse("\(type.name).\(field.name) must not be null")
        default: return
        }
    }

    // MARK: One field

    private func check(
        _ field: SchemaField, _ type: NamedType, _ change: ChangeSet.Field, _ row: Row,
        _ draft: Draft, _ access: MutationAccess
    ) throws(ExecutionError) {
        let path = "\(type.name).\(field.name)"
        let kind = types.kind(of: field)
        guard let slot = row.slot(of: change.key), row.tag(slot) != .absent else {
            return try checkUnset(field, kind, path)
        }
        switch kind {
        case .id, .found, nil: throw refuse("\(path) is not stored")
        default: break
        }
        switch (kind, row.tag(slot)) {
        case (_, .null):
            if field.type.isNonNull { throw refuse("\(path) must not be null") }
        case (.leaf, _):
            if let leaf = row.leaf(slot), types.schema.storable(leaf, as: field.type) != nil {
                return
            }
            let value = row.leaf(slot)?.described ?? "a link"
            throw refuse("\(path) is \(types.schema.print(field.type)), and \(value) is none")
        case (.link(let target), .link):
            // An existing link may point to a record that is gone.
            if draft.base.fieldValue(field.name, of: change.record)
                == draft.snapshot.fieldValue(field.name, of: change.record)
            {
                return
            }
            try check(row.link(slot), fits: target, path, draft, access)
        case (.links(let node), .links):
            try checkLinks(of: change, row.links(slot), fit: node, path, draft, access)
        case (.connection(let connection), .links):
            try checkLinks(of: change, row.links(slot), fit: connection.node, path, draft, access)
        default:
            throw refuse("\(path) is \(types.schema.print(field.type))")
        }
    }

    /// Unset links and connections are empty.
    private func checkUnset(
        _ field: SchemaField, _ kind: RecordFieldKind?, _ path: String
    ) throws(ExecutionError) {
        switch kind {
        case .leaf where field.type.isNonNull, .link where field.type.isNonNull:
            throw refuse("\(path) must not be null")
        default: return
        }
    }

    /// Checks the links that were added, wherever in the list they are. An existing link may point to a
    /// record that is gone, and may be moved.
    private func checkLinks(
        of change: ChangeSet.Field, _ links: LinkList, fit target: TypeID, _ path: String,
        _ draft: Draft, _ access: MutationAccess
    ) throws(ExecutionError) {
        let before = draft.base.links(change.key, of: change.record)
        var added: [RecordIndex?] = []
        links.forEachLinkAdded(since: before) { added.append($0) }
        let targets = types.recordTypes(of: target)
        for record in added {
            if let record, let type = type(of: record, in: draft.snapshot),
                targets.contains(type.id), access.sees(record, since: draft.base)
            {
                continue
            }
            if before.records.contains(record) { continue }
            guard let record else {
                throw refuse("\(path) is a list of records, in which null has no place")
            }
            try check(record, fits: target, path, draft, access)
        }
    }

    private func check(
        _ record: RecordIndex, fits target: TypeID, _ path: String, _ draft: Draft,
        _ access: MutationAccess
    ) throws(ExecutionError) {
        let snapshot = draft.snapshot
        guard snapshot.row(record) != nil, access.sees(record, since: draft.base) else {
            // The code may have found it by itself, so its id is not told to those from whom records are hidden.
            let id = access.hidesRecords ? "" : " (\"\(snapshot.symbols.idString(record))\")"
            throw refuse("\(path) links to a record\(id) that does not exist", .notFound)
        }
        let type = try storedType(of: record, in: snapshot)
        guard types.recordTypes(of: target).contains(type.id) else {
            throw refuse("\(path) cannot link to a \(type.name)")
        }
    }

    private func checkUnique(
        _ field: SchemaField, _ type: NamedType, _ change: ChangeSet.Field, _ row: Row,
        _ draft: Draft
    ) throws(ExecutionError) {
        guard field.applied(.unique) != nil, let slot = row.slot(of: change.key),
            let value = row.leaf(slot), let text = value.recordName
        else { return }
        // The previous holder of the value, and the record of this draft that took it last.
        for state in [draft.base, draft.snapshot] {
            guard
                let holder = state.indexes.record(of: row.type, where: change.key, is: text),
                holder != change.record,
                draft.snapshot.fieldValue(field.name, of: holder)
                    == draft.snapshot.fieldValue(field.name, of: change.record)
            else { continue }
            throw refuse(
                "there is another \(type.name) whose \(field.name) is \(value.described)", .conflict
            )
        }
    }

    private func refuse(_ problem: String, _ code: ErrorCode? = nil) -> ExecutionError {
        let end = problem.last.map { ".?".contains($0) } == true ? "" : "."
        return ExecutionError(
            "Could not run \(mutation): \(problem)\(end) Nothing was changed.", code: code)
    }
}

extension Row {
    fileprivate func holdsNothing(under key: NameIndex) -> Bool {
        slot(of: key).map { tag($0) == .absent } ?? true
    }
}
