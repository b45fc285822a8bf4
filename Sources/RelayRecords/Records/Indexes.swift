import HashTreeCollections
import RelayJSON

/// A look-up that a snapshot maintains for its records.
package enum IndexDefinition: Hashable, Sendable {
    /// All records of a type, in creation order.
    case records(type: String)
    /// Records of a type by the value of a field that is unique among them.
    case unique(type: String, key: String)
    /// Where a record is in a list that is a field of the records of a type.
    case places(type: String, key: String)
    /// How many links of a field lead to a record that matches.
    case count(CountDefinition)
}

/// The look-ups of a snapshot: updated record by record, and shared between copies like the records.
///
/// They are derived from the records and not part of the state: no event, checkpoint or hash includes them.
package struct Indexes: Sendable {
    private struct FieldOfType: Hashable {
        let type: NameIndex
        let key: NameIndex
    }

    /// A link's position is its record's place in creation order, so a cursor keeps its meaning after a
    /// restart.
    private var recordsByType: [NameIndex: LinkList] = [:]
    private var recordsByValue: [FieldOfType: TreeDictionary<ExactText, RecordIndex>] = [:]
    /// Bytes of the longest value that was ever among them.
    private var longestValue = 0
    /// Records with a value that a later one has taken too, in that order. Only within a draft: committed
    /// values are unique.
    private var displaced: [FieldOfType: [ExactText: [RecordIndex]]] = [:]
    /// The unique fields of each type.
    private var uniqueKeys: [NameIndex: [NameIndex]] = [:]
    /// The fields of each type whose links are indexed in reverse.
    private var placedKeys: [NameIndex: [NameIndex]] = [:]
    private var places = LinkPlaces()
    private var counts: [LinkCount] = []
    /// The requested look-ups.
    let definitions: [IndexDefinition]
    /// Whether there are none.
    private(set) var isEmpty = true

    init(_ definitions: [IndexDefinition], symbols: Symbols) {
        self.definitions = definitions
        for definition in Set(definitions) {
            isEmpty = false
            switch definition {
            case .records(let type):
                recordsByType[symbols.name(type)] = .empty
            case .unique(let type, let key):
                let unique = FieldOfType(type: symbols.name(type), key: symbols.name(key))
                recordsByValue[unique] = [:]
                uniqueKeys[unique.type, default: []].append(unique.key)
            case .places(let type, let key):
                place(FieldOfType(type: symbols.name(type), key: symbols.name(key)))
            case .count(let definition):
                let count = LinkCount(definition, symbols)
                counts.append(count)
                place(FieldOfType(type: count.type, key: count.key))
            }
        }
    }

    private mutating func place(_ field: FieldOfType) {
        if placedKeys[field.type]?.contains(field.key) == true { return }
        placedKeys[field.type, default: []].append(field.key)
    }

    // MARK: Reading

    /// All records of a type, in creation order; nil if there is no such index.
    package func records(of type: NameIndex) -> LinkList? { recordsByType[type] }

    /// The record of a type whose unique field has this value.
    package func record(
        of type: NameIndex, where key: NameIndex, is value: String
    ) -> RecordIndex? {
        // A stranger's text may have millions of bytes.
        if value.utf8.count > longestValue { return nil }
        return recordsByValue[FieldOfType(type: type, key: key)]?[ExactText(value)]
    }

    /// Whether ``position(of:in:of:)`` knows the lists in this field of records of a type.
    package func knowsPlaces(in key: NameIndex, of type: NameIndex) -> Bool {
        placedKeys[type]?.contains(key) ?? false
    }

    /// The first place of a record in a list of another one, if any.
    package func position(
        of record: RecordIndex, in key: NameIndex, of owner: RecordIndex
    ) -> Int? {
        places.position(of: record, in: .init(owner: owner, key: key))
    }

    /// The count with this name (``CountDefinition/name``) of a record; nil if it is not maintained.
    package func count(_ name: NameIndex, of owner: RecordIndex) -> Int? {
        counts.first { $0.name == name }.map { $0.counts[owner] ?? 0 }
    }

    // MARK: Writing

    /// Updates for a record that was changed, created (`old` nil) or deleted (`new` nil).
    /// - Parameters:
    ///   - rows: all records, this one as it is now.
    ///   - changes: the counts that changed are added to it.
    mutating func update(
        _ record: RecordIndex, old: Row?, new: Row?, rows: RowTree,
        changes: inout ChangeSet
    ) {
        if isEmpty { return }
        if old?.type != new?.type {
            if let old { list(old, record, isIn: false) }
            if let new { list(new, record, isIn: true) }
        }
        updateValues(record, old, new)
        if placedKeys.isEmpty { return }
        recount(record, old, new, rows, &changes)
        updateLinks(record, old, new, rows, &changes)
    }

    /// The same without counts.
    mutating func update(
        _ record: RecordIndex, old: Row?, new: Row?, rows: RowTree
    ) {
        if isEmpty { return }
        var changes = ChangeSet()
        update(record, old: old, new: new, rows: rows, changes: &changes)
    }

    private mutating func list(_ row: Row, _ record: RecordIndex, isIn: Bool) {
        guard let list = recordsByType[row.type] else { return }
        let position = Int(row.creation)
        guard isIn else {
            recordsByType[row.type] = list.removing(at: position)
            return
        }
        recordsByType[row.type] = list.inserting(record, at: position)
    }

    private mutating func updateValues(_ record: RecordIndex, _ old: Row?, _ new: Row?) {
        if let old, let keys = uniqueKeys[old.type] {
            for key in keys {
                remove(record, FieldOfType(type: old.type, key: key), old, unless: new)
            }
        }
        if let new, let keys = uniqueKeys[new.type] {
            for key in keys {
                guard let value = Self.text(of: key, in: new) else { continue }
                if let old, old.type == new.type, Self.text(of: key, in: old) == value { continue }
                add(record, FieldOfType(type: new.type, key: key), value)
            }
        }
    }

    private mutating func add(_ record: RecordIndex, _ unique: FieldOfType, _ value: ExactText) {
        if let other = recordsByValue[unique]?[value], other != record {
            displaced[unique, default: [:]][value, default: []].append(other)
        }
        recordsByValue[unique]?[value] = record
        longestValue = max(longestValue, value.text.utf8.count)
    }

    private mutating func remove(
        _ record: RecordIndex, _ unique: FieldOfType, _ old: Row, unless new: Row?
    ) {
        guard let value = Self.text(of: unique.key, in: old) else { return }
        if let new, new.type == unique.type, Self.text(of: unique.key, in: new) == value { return }
        if recordsByValue[unique]?[value] == record {
            let before = displaced[unique]?[value]?.popLast()
            recordsByValue[unique]?[value] = before
        } else {
            displaced[unique]?[value]?.removeAll { $0 == record }
        }
        if displaced[unique]?[value]?.isEmpty == true { displaced[unique]?[value] = nil }
    }

    /// Updates counts for a record that may have started or stopped matching.
    private mutating func recount(
        _ record: RecordIndex, _ old: Row?, _ new: Row?, _ rows: RowTree,
        _ changes: inout ChangeSet
    ) {
        for index in counts.indices {
            let (before, after) = (counts[index].matches(old), counts[index].matches(new))
            if before == after { continue }
            let (count, places) = (counts[index], places)
            places.forEachList(of: record) { list, times in
                guard list.key == count.key, rows.row(list.owner)?.type == count.type else {
                    return
                }
                counts[index].add(after ? times : -times, to: list.owner)
                changes.derive(count.name, of: list.owner)
            }
        }
    }

    /// Updates for a record whose lists have changed.
    private mutating func updateLinks(
        _ record: RecordIndex, _ old: Row?, _ new: Row?, _ rows: RowTree,
        _ changes: inout ChangeSet
    ) {
        for type in Set([old?.type, new?.type].compactMap(\.self)) {
            for key in placedKeys[type] ?? [] {
                let before = old?.type == type ? old?.list(key) : nil
                let after = new?.type == type ? new?.list(key) : nil
                if before === after { continue }
                let list = LinkPlaces.List(owner: record, key: key)
                let counted = counts.indices.filter {
                    counts[$0].key == key && counts[$0].type == type
                }
                (after ?? .empty).forEachDifference(from: before ?? .empty) { position, node in
                    places.remove(node, from: list, at: position)
                    count(-1, node, of: record, counted, rows, &changes)
                } added: { position, node in
                    places.insert(node, in: list, at: position)
                    count(1, node, of: record, counted, rows, &changes)
                }
            }
        }
    }

    private mutating func count(
        _ number: Int, _ node: RecordIndex, of owner: RecordIndex, _ counted: [Int],
        _ rows: RowTree, _ changes: inout ChangeSet
    ) {
        for index in counted where counts[index].matches(rows.row(node)) {
            counts[index].add(number, to: owner)
            changes.derive(counts[index].name, of: owner)
        }
    }

    /// A scalar as the text that it is found by.
    private static func text(of key: NameIndex, in row: Row) -> ExactText? {
        guard let slot = row.slot(of: key) else { return nil }
        return switch row.tag(slot) {
        case .string: row.withText(slot) { ExactText(String(decoding: $0, as: UTF8.self)) }
        case .int: ExactText(String(row.int(slot)))
        default: nil
        }
    }
}

extension Row {
    fileprivate func list(_ key: NameIndex) -> LinkList? {
        guard let slot = slot(of: key), tag(slot) == .links else { return nil }
        return links(slot)
    }
}

extension LinkList {
    /// With a link inserted at a position, before those after it; nearly always there are none.
    fileprivate func inserting(_ record: RecordIndex, at position: Int) -> LinkList {
        if position >= end { return appending(record, at: position) }
        var builder = LinkListBuilder()
        var isIn = false
        forEachLink { other, link in
            if other > position, !isIn {
                builder.append(record, at: position)
                isIn = true
            }
            builder.append(link, at: other)
        }
        if !isIn { builder.append(record, at: position) }
        return builder.finish(end: end)
    }
}
