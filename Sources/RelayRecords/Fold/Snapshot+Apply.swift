extension Snapshot {
    /// Applies a write set. Only the store's writer may call this.
    /// - Parameter changes: what actually changed is added to it.
    package mutating func apply(_ writes: WriteSet, changes: inout ChangeSet) {
        var looked: TouchedRecords?
        apply(writes, changes: &changes, looked: &looked)
    }

    /// - Parameter looked: the records that are written, changed or not, are added to it.
    package mutating func apply(
        _ writes: WriteSet, changes: inout ChangeSet, looked: inout TouchedRecords?
    ) {
        writes.bytes.withUnsafeBytes { bytes in
            do throws(MalformedEvent) {
                var applier = WriteSetApplier(reader: ByteReader(bytes), symbols.shapes)
                defer { applier.putBack(symbols.shapes) }
                try applier.apply(to: &self, changes: &changes, looked: &looked)
            } catch {
                preconditionFailure("a WriteSet is checked when it is made: \(error)")
            }
        }
    }
}

extension Snapshot {
    /// Removes a record; afterwards it is known to be deleted, or unknown.
    fileprivate mutating func remove(
        _ record: RecordIndex, leaving slot: RecordSlot, changes: inout ChangeSet
    ) {
        let old = row(record)
        switch (self[record], slot) {
        case (.nonexistent, .nonexistent), (.unknown, .unknown): return
        default: set(record, slot)
        }
        // From unknown to deleted, or back, too: readers that lack it must look again.
        changes.delete(record)
        guard let old else { return }
        recordCount -= 1
        updateIndexes(record, old: old, new: nil, changes: &changes)
    }
}

/// Decodes a write set and applies it, field by field, without a tree in between.
private struct WriteSetApplier {
    var reader: ByteReader
    private var builder = RowBuilder()
    private var written: ContiguousArray<(slot: Int, key: NameIndex)> = []

    init(reader: ByteReader, _ shapes: ShapeTable) {
        self.reader = reader
        swap(&builder, &shapes.builder)
        swap(&written, &shapes.written)
    }

    mutating func putBack(_ shapes: ShapeTable) {
        swap(&builder, &shapes.builder)
        swap(&written, &shapes.written)
    }

    mutating func apply(
        to snapshot: inout Snapshot, changes: inout ChangeSet, looked: inout TouchedRecords?
    ) throws(MalformedEvent) {
        while !reader.isAtEnd {
            let operation = try reader.readByte()
            let record = snapshot.symbols.record(try reader.readText())
            looked?.insert(record)
            switch WriteOperation(rawValue: operation) {
            case .write: try write(record, to: &snapshot, changes: &changes)
            case .delete:
                snapshot.remove(record, leaving: .nonexistent, changes: &changes)
            case .forget:
                snapshot.remove(record, leaving: .unknown, changes: &changes)
            case nil: throw reader.malformed("a write, a delete or a forget")
            }
        }
    }

    private mutating func write(
        _ record: RecordIndex, to snapshot: inout Snapshot, changes: inout ChangeSet
    ) throws(MalformedEvent) {
        let symbols = snapshot.symbols
        let type = symbols.name(try reader.readText())
        let old = snapshot.row(record)
        builder.begin(old, type: type, shapes: symbols.shapes)
        written.removeAll(keepingCapacity: true)
        while let tag = try readTag() {
            let name = try reader.readText()
            // Such errors are JSON lists; for other tags it is not worth checking.
            if tag == .json, Symbols.isOfElementErrors(name) { symbols.noteElementErrors() }
            let key = symbols.name(name)
            let slot = builder.slot(for: key, shapes: symbols.shapes)
            if tag == .remove {
                let target = symbols.record(try reader.readText())
                remove(target, key, of: record, old, slot, snapshot.indexes)
            } else {
                try readValue(tag, into: slot, symbols: symbols)
            }
            written.append((slot, key))
        }
        let creation = old?.creation ?? snapshot.nextCreation
        var new = builder.finish(creation: creation, shapes: symbols.shapes)
        let isChanged = note(of: record, old: old, new: new, changes: &changes)
        guard isChanged else { return }
        new = builder.compacted(new, shapes: symbols.shapes)
        if old == nil {
            snapshot.nextCreation += 1
            snapshot.recordCount += 1
        }
        snapshot.set(record, .existent(new))
        snapshot.updateIndexes(record, old: old, new: new, changes: &changes)
    }

    /// Notes the fields whose value changes. False if the row can stay as it was.
    private func note(
        of record: RecordIndex, old: Row?, new: Row, changes: inout ChangeSet
    ) -> Bool {
        guard let old else {
            changes.create(record)
            for field in written { changes.change(field.key, of: record) }
            return true
        }
        var isChanged = old.type != new.type
        if isChanged { changes.create(record) }  // under another type: its readers read again
        for field in written {
            let isSame =
                field.slot < old.slotCount
                ? new.slot(field.slot, equals: old, field.slot) : new.tag(field.slot) == .absent
            guard !isSame else { continue }
            changes.change(field.key, of: record)
            isChanged = true
        }
        return isChanged
    }

    private mutating func readTag() throws(MalformedEvent) -> FieldTag? {
        guard let tag = FieldTag(rawValue: try reader.readByte()) else {
            throw reader.malformed("a field's tag")
        }
        return tag == .end ? nil : tag
    }

    private mutating func readValue(
        _ tag: FieldTag, into slot: Int, symbols: Symbols
    ) throws(MalformedEvent) {
        switch tag {
        case .end, .unset, .remove: builder.set(slot, .absent)
        case .null: builder.set(slot, .null)
        case .false: builder.set(slot, .false)
        case .true: builder.set(slot, .true)
        case .int:
            builder.set(slot, .int, word: UInt64(bitPattern: try reader.readSigned()))
        case .double: builder.set(slot, .double, word: try reader.readDouble().bitPattern)
        case .string: builder.set(slot, .string, text: try reader.readText())
        case .json: builder.set(slot, .json, text: try reader.readText())
        case .failed: builder.set(slot, .failed, text: try reader.readText())
        case .link:
            let target = symbols.record(try reader.readText())
            builder.set(slot, .link, word: UInt64(target.rawValue))
        case .links: builder.set(slot, LinkList(try readLinks(symbols)))
        case .append:
            let target = symbols.record(try reader.readText())
            builder.set(slot, (builder.list(slot) ?? .empty).appending(target))
        case .splice:
            let start = Int(clamping: try reader.readNumber())
            let deleted = Int(clamping: try reader.readNumber())
            let inserted = try readLinks(symbols)
            builder.set(
                slot,
                (builder.list(slot) ?? .empty)
                    .splicing(start: start, deleted: deleted, inserted: inserted))
        }
    }

    /// Removes the first link to a record from a list, without a walk through it if its place is known.
    private mutating func remove(
        _ target: RecordIndex, _ key: NameIndex, of record: RecordIndex, _ old: Row?, _ slot: Int,
        _ indexes: Indexes
    ) {
        let list = builder.list(slot) ?? .empty
        // The index knows the record as it was; an earlier write of the same set may have changed the list.
        if let old, slot < old.slotCount, old.tag(slot) == .links, old.links(slot) === list,
            indexes.knowsPlaces(in: key, of: old.type)
        {
            let position = indexes.position(of: target, in: key, of: record)
            builder.set(slot, position.map(list.removing(at:)) ?? list)
        } else {
            builder.set(slot, list.removing(target))
        }
    }

    private mutating func readLinks(_ symbols: Symbols) throws(MalformedEvent) -> [RecordIndex?] {
        let count = try reader.readCount()
        var links: [RecordIndex?] = []
        links.reserveCapacity(count)
        for _ in 0..<count {
            links.append(try reader.readByte() == 0 ? nil : symbols.record(try reader.readText()))
        }
        return links
    }
}
