import GraphQLExecution
import RelayJSON
@_spi(Rooms) import RelayRecords
import SchemaService

extension MutationRequest {
    /// What the client's optimistic response says about records, as revocable writes: the fields of the
    /// records in it, and the edge of a new record at the end of its list.
    ///
    /// Others see what is expected, so nobody expects anything of what is not theirs to change. What cannot come true,
    /// or would not be allowed, is not expected at all.
    /// - Parameters:
    ///   - arguments: with ids in place of unique values.
    ///   - payload: knows the parent and the list of a payload's edge.
    func optimisticWrites(
        for field: FieldPlan, _ arguments: JSONObject, _ payload: PayloadSource,
        on head: Snapshot, _ access: MutationAccess
    ) -> WriteSet? {
        guard let value = optimisticResponse?[field.responseName] else { return nil }
        var writer = WriteSetWriter()
        var written: Set<DataID> = []
        var trial = Trial(on: head)
        let now = access.judge(of: head)
        for record in field.expectedRecords(in: value, head.symbols) {
            // The answer may show more records than the mutation changes.
            if let known = head.existing(record.id.rawValue) {
                guard now.sees(known), now.mayUpdate(known) else { continue }
            } else if !now.mayCreate(ofType: record.type) {
                return nil
            }
            guard record.fields.allSatisfy({ now.mayExpect($0.value) }) else { return nil }
            writer.write(record.id, type: record.type, fields: record.fields)
            trial.write(record.id, type: record.type, fields: record.fields)
            written.insert(record.id)
        }
        if let node = field.expectedNode(in: value, head.symbols), let list = payload.list,
            let finder = payload.parent, let named = arguments.mutationInput[finder.input],
            let parent = finder.find(named, in: head),
            let type = head.type(of: parent), written.contains(node),
            now.sees(parent), head.existing(node.rawValue) == nil || now.mayUpdate(parent)
        {
            writer.write(
                head.dataID(parent), type: head.symbols.nameString(type),
                fields: CollectionOfOne((head.symbols.nameString(list), .append(node))))
        }
        return writer.writeSet.isEmpty || !trial.isAllowed(access) ? nil : writer.writeSet
    }
}

/// Finds out whether what is expected could come true. The store never forgets an id, so those of new records are replaced
/// by others, which are always the same.
private struct Trial {
    private let head: Snapshot
    private var writer = WriteSetWriter()
    private var written: [DataID] = []
    private var standIns: [DataID: DataID] = [:]

    init(on head: Snapshot) { self.head = head }

    mutating func write(
        _ id: DataID, type: String, fields: [(key: String, value: FieldValue)]
    ) {
        var replaced = fields
        for (place, field) in fields.enumerated() {
            if case .link(let linked) = field.value {
                replaced[place].value = .link(standIn(for: linked))
            }
        }
        let id = standIn(for: id)
        writer.write(id, type: type, fields: replaced)
        written.append(id)
    }

    private mutating func standIn(for id: DataID) -> DataID {
        if head.existing(id.rawValue) != nil { return id }
        // No id that is made has a NUL.
        let new = standIns[id] ?? DataID("\u{0}expected:\(standIns.count)")
        standIns[id] = new
        return new
    }

    func isAllowed(_ access: MutationAccess) -> Bool {
        var expected = head
        var changes = ChangeSet()
        expected.apply(writer.writeSet, changes: &changes)
        let then = access.judge(of: expected)
        return changes.fields.allSatisfy { expected.isAlone(with: $0, since: head) }
            && written.allSatisfy { id in
                guard let record = expected.existing(id.rawValue) else { return true }
                return head.row(record) == nil ? then.mayCreate(record) : then.mayUpdate(record)
            }
    }
}

extension Snapshot {
    /// Whether no other record has a value, if it is to be unique.
    fileprivate func isAlone(with field: ChangeSet.Field, since head: Snapshot) -> Bool {
        guard let row = row(field.record), let slot = row.slot(of: field.key) else { return true }
        let text: String
        switch row.leaf(slot) {
        case .string(let value)?: text = value
        case .int(let value)?: text = String(value)
        default: return true
        }
        return [head, self].allSatisfy { state in
            guard
                let holder = state.indexes.record(of: row.type, where: field.key, is: text),
                holder != field.record
            else { return true }
            let key = symbols.nameString(field.key)
            return fieldValue(key, of: holder) != fieldValue(key, of: field.record)
        }
    }
}
