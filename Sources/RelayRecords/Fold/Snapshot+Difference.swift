extension Snapshot {
    /// What changed in the given records from another state to this one.
    ///
    /// Both must be of the same store. A row that they share costs one comparison.
    package func difference(
        from old: Snapshot, in records: some Sequence<RecordIndex>
    ) -> ChangeSet {
        var changes = ChangeSet()
        for record in records {
            switch (old.row(record), row(record)) {
            case (nil, nil):
                // From unknown to deleted, or back: readers that lack it must look again.
                if !isSameState(old[record], self[record]) { changes.delete(record) }
            case (nil, .some):
                changes.create(record)
            case (.some, nil):
                changes.delete(record)
            case (let before?, let after?):
                guard before !== after else { continue }
                after.noteDifference(from: before, of: record, in: &changes)
            }
        }
        return changes
    }

    private func isSameState(_ one: RecordSlot, _ other: RecordSlot) -> Bool {
        switch (one, other) {
        case (.unknown, .unknown), (.nonexistent, .nonexistent): true
        default: false
        }
    }
}

extension Row {
    /// Notes the fields whose value differs from the earlier row.
    func noteDifference(from old: Row, of record: RecordIndex, in changes: inout ChangeSet) {
        if type != old.type { changes.create(record) }
        if shape === old.shape {
            for slot in 0..<slotCount where !self.slot(slot, equals: old, slot) {
                changes.change(shape.keys[slot], of: record)
            }
            return
        }
        for (slot, key) in shape.keys.enumerated() {
            let isSame =
                if let oldSlot = old.shape.slot(of: key) {
                    self.slot(slot, equals: old, oldSlot)
                } else {
                    tag(slot) == .absent
                }
            if !isSame { changes.change(key, of: record) }
        }
        for (oldSlot, key) in old.shape.keys.enumerated()
        where old.tag(oldSlot) != .absent && shape.slot(of: key) == nil {
            changes.change(key, of: record)
        }
    }
}
