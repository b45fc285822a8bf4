import HashTreeCollections

/// A look-up that a snapshot keeps beside its records.
package enum IndexDefinition: Hashable, Sendable {
    /// All records of a type, in the order in which they came to be.
    case records(type: String)
    /// Records of a type by the value of a field that no two of them share.
    case unique(type: String, key: String)
}

/// The look-ups of a snapshot: kept up to date record by record, shared between copies like the records.
///
/// They follow from the records and are not part of the state: no event, checkpoint or hash has them.
package struct Indexes: Sendable {
    private struct UniqueKey: Hashable {
        let type: NameIndex
        let key: NameIndex
    }

    private var recordsByType: [NameIndex: LinkList] = [:]
    private var recordsByValue: [UniqueKey: TreeDictionary<String, RecordIndex>] = [:]
    /// The unique fields of each type.
    private var uniqueKeys: [NameIndex: [NameIndex]] = [:]
    private var isEmpty = true

    init(_ definitions: [IndexDefinition], symbols: Symbols) {
        for definition in Set(definitions) {
            isEmpty = false
            switch definition {
            case .records(let type):
                recordsByType[symbols.name(type)] = .empty
            case .unique(let type, let key):
                let unique = UniqueKey(type: symbols.name(type), key: symbols.name(key))
                recordsByValue[unique] = [:]
                uniqueKeys[unique.type, default: []].append(unique.key)
            }
        }
    }

    /// All records of a type, in creation order; nil when no such index was asked for.
    package func records(of type: NameIndex) -> LinkList? { recordsByType[type] }

    /// The record of a type whose unique field has this value.
    package func record(
        of type: NameIndex, where key: NameIndex, is value: String
    ) -> RecordIndex? {
        recordsByValue[UniqueKey(type: type, key: key)]?[value]
    }

    /// Takes in that a record changed, came to be (`old` nil) or was deleted (`new` nil).
    mutating func update(_ record: RecordIndex, old: Row?, new: Row?) {
        if isEmpty { return }
        if old?.type != new?.type {
            if let type = old?.type, let list = recordsByType[type] {
                recordsByType[type] = list.removing(record)
            }
            if let type = new?.type, let list = recordsByType[type] {
                recordsByType[type] = list.appending(record)
            }
        }
        if let old, let keys = uniqueKeys[old.type] {
            for key in keys {
                remove(record, UniqueKey(type: old.type, key: key), old, unless: new)
            }
        }
        if let new, let keys = uniqueKeys[new.type] {
            for key in keys {
                guard let value = Self.text(of: key, in: new) else { continue }
                recordsByValue[UniqueKey(type: new.type, key: key)]?[value] = record
            }
        }
    }

    private mutating func remove(
        _ record: RecordIndex, _ unique: UniqueKey, _ old: Row, unless new: Row?
    ) {
        guard let value = Self.text(of: unique.key, in: old),
            recordsByValue[unique]?[value] == record
        else { return }
        if let new, new.type == unique.type, Self.text(of: unique.key, in: new) == value { return }
        recordsByValue[unique]?[value] = nil
    }

    /// A scalar as the text under which it is found.
    private static func text(of key: NameIndex, in row: Row) -> String? {
        guard let slot = row.slot(of: key) else { return nil }
        return switch row.tag(slot) {
        case .string: row.withText(slot) { String(decoding: $0, as: UTF8.self) }
        case .int: String(row.int(slot))
        default: nil
        }
    }
}
