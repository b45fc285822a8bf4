@_spi(Rooms) package import RelayRecords

/// What was read of one record: the record's row, the selection, and what its links lead to.
///
/// Leaves are not copied: they stay in the row until they are requested. A node never changes, so a reader that
/// finds nothing changed reuses the earlier node.
package final class DataNode: @unchecked Sendable {
    // Unchecked: a row is never written after it was made.

    package enum Child {
        case null
        /// The field is unknown.
        case missing
        /// The field is `@catch(to: RESULT)`, and has these errors.
        case failed([FieldError])
        case node(DataNode)
        case list(DataList)
    }

    package let record: RecordIndex
    package let row: Row
    package let reading: FlatReading
    /// Where the reading's fields stand in the row; the reading holds it.
    let slots: Unmanaged<ReadingSlots>?
    package let children: ContiguousArray<Child>

    init(
        record: RecordIndex, row: Row, reading: FlatReading, slots: Unmanaged<ReadingSlots>?,
        children: ContiguousArray<Child>
    ) {
        self.slots = slots
        self.record = record
        self.row = row
        self.reading = reading
        self.children = children
    }

    /// The `__typename` of the record.
    package var typename: String {
        slots?._withUnsafeGuaranteedRef { $0.typename } ?? reading.typename(row.type)
    }

    /// Whether a node for another row of this record would be the same: equal values and identical
    /// children.
    func isSame(_ other: Row, _ others: ContiguousArray<Child>) -> Bool {
        for place in children.indices where !children[place].isSame(as: others[place]) {
            return false
        }
        return hasSameLeaves(in: other)
    }
}

/// What was read of a list of links.
package final class DataList: Sendable {
    package let elements: ContiguousArray<DataNode?>

    init(_ elements: ContiguousArray<DataNode?>) { self.elements = elements }

    func isSame(as other: DataList) -> Bool {
        elements.count == other.elements.count
            && zip(elements, other.elements).allSatisfy { $0 === $1 }
    }
}

extension DataNode.Child {
    fileprivate func isSame(as other: DataNode.Child) -> Bool {
        switch (self, other) {
        case (.null, .null), (.missing, .missing): true
        case (.failed(let errors), .failed(let others)): errors == others
        case (.node(let node), .node(let other)): node === other
        case (.list(let list), .list(let other)): list === other
        default: false
        }
    }
}

extension DataNode: Equatable {
    /// Equal selections with equal values, even in different rows.
    package static func == (left: DataNode, right: DataNode) -> Bool {
        if left === right { return true }
        guard left.record == right.record, left.reading === right.reading,
            left.hasSameLeaves(in: right.row)
        else { return false }
        return left.children.indices.allSatisfy { left.children[$0] == right.children[$0] }
    }

    fileprivate func hasSameLeaves(in other: Row) -> Bool {
        if row === other { return true }
        guard row.type == other.type else { return false }
        for field in reading.fields where field.kind == .scalar {
            switch (row.slot(of: field.key), other.slot(of: field.key)) {
            case (nil, nil): continue
            case (let slot?, let otherSlot?):
                if !row.slot(slot, equals: other, otherSlot) { return false }
                if field.catchTo != nil, !hasSameElementErrors(field, in: other) { return false }
            default: return false
            }
        }
        return true
    }
}

extension DataNode {
    /// The slot of the errors of a list's elements, if the list is a leaf that is `@catch`. Other lists have theirs
    /// among the errors of the whole reading.
    func caughtElementErrors(of field: Int, in row: Row) -> Int? {
        caughtElementErrors(of: reading.fields[field], in: row)
    }

    private func caughtElementErrors(of field: FlatReading.Field, in row: Row) -> Int? {
        guard field.catchTo != nil, let key = reading.symbols.elementErrorsKey(of: field.key),
            let slot = row.slot(of: key), row.tag(slot) == .json
        else { return nil }
        return slot
    }

    fileprivate func hasSameElementErrors(_ field: FlatReading.Field, in other: Row) -> Bool {
        switch (caughtElementErrors(of: field, in: row), caughtElementErrors(of: field, in: other))
        {
        case (nil, nil): true
        case (let slot?, let otherSlot?): row.slot(slot, equals: other, otherSlot)
        default: false
        }
    }
}

extension DataNode.Child: Equatable {}

extension DataList: Equatable {
    package static func == (left: DataList, right: DataList) -> Bool {
        left === right || left.elements == right.elements
    }
}
