extension Snapshot {
    /// The changed fields as data: applied to the earlier state, they lead to this one.
    /// - Parameter base: the earlier state; a list that grew is written as its additions, not whole.
    func writeSet(of changes: ChangeSet, since base: Snapshot) -> WriteSet {
        var writer = WriteSetWriter()
        // A record that a response made twice, under two types, is written once, in its final form.
        var created: Set<RecordIndex> = []
        for record in changes.created where created.insert(record).inserted {
            guard let row = row(record) else { continue }
            writer.begin(symbols.id(record), type: symbols.nameText(row.type))
            for slot in 0..<row.slotCount where row.tag(slot) != .absent || base.row(record) != nil
            {
                write(slot, of: row, since: base.row(record), to: &writer)
            }
            // Under another type, and compacted: what was removed has no slot.
            if let before = base.row(record) {
                for (slot, key) in before.shape.keys.enumerated()
                where before.tag(slot) != .absent && row.shape.slot(of: key) == nil {
                    writer.field(.unset, symbols.nameText(key))
                }
            }
            writer.end()
        }
        var open: RecordIndex?
        // A field may have been written twice. Additions to a list must be written once.
        var lists: Set<ChangeSet.Field> = []
        for field in changes.fields where !created.contains(field.record) {
            guard let row = row(field.record) else { continue }
            let slot = row.shape.slot(of: field.key)
            if let slot, row.tag(slot) == .links, !lists.insert(field).inserted { continue }
            if open != field.record {
                if open != nil { writer.end() }
                writer.begin(symbols.id(field.record), type: symbols.nameText(row.type))
                open = field.record
            }
            if let slot {
                write(slot, of: row, since: base.row(field.record), to: &writer)
            } else {
                // Removed, and the row was compacted.
                writer.field(.unset, symbols.nameText(field.key))
            }
        }
        if open != nil { writer.end() }
        for record in changes.deleted where row(record) == nil {
            if case .nonexistent = self[record] {
                writer.delete(symbols.id(record))
            } else {
                writer.forget(symbols.id(record))
            }
        }
        return writer.writeSet
    }

    private func write(
        _ slot: Int, of row: Row, since base: Row?, to writer: inout WriteSetWriter
    ) {
        let key = row.shape.keys[slot]
        let name = symbols.nameText(key)
        switch row.tag(slot) {
        case .absent: writer.field(.unset, name)
        case .null: writer.field(.null, name)
        case .false: writer.field(.false, name)
        case .true: writer.field(.true, name)
        case .int: writer.field(name, int: row.int(slot))
        case .double: writer.field(name, double: row.double(slot))
        case .string: row.withText(slot) { writer.field(.string, name, text: $0) }
        case .json: row.withText(slot) { writer.field(.json, name, text: $0) }
        case .failed: row.withText(slot) { writer.field(.failed, name, text: $0) }
        case .link: writer.field(.link, name, text: symbols.id(row.link(slot)))
        case .links:
            let before = base?.slot(of: key).flatMap { base?.tag($0) == .links ? $0 : nil }
            write(
                row.links(slot), key: name, since: before.flatMap { base?.links($0) }, to: &writer)
        }
    }

    private func write(
        _ list: LinkList, key: UnsafeBufferPointer<UInt8>, since base: LinkList?,
        to writer: inout WriteSetWriter
    ) {
        let records = list.records
        guard let base, !base.isEmpty, base.count == base.end else {
            writer.field(.links, key)
            writer.links(records, symbols)
            return
        }
        let before = base.records
        var prefix = 0
        while prefix < min(before.count, records.count), before[prefix] == records[prefix] {
            prefix += 1
        }
        var suffix = 0
        let limit = min(before.count, records.count) - prefix
        while suffix < limit,
            before[before.count - 1 - suffix] == records[records.count - 1 - suffix]
        {
            suffix += 1
        }
        writer.field(.splice, key)
        writer.range(start: prefix, deleted: before.count - prefix - suffix)
        writer.links(records[prefix..<records.count - suffix], symbols)
    }
}
