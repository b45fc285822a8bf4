import GraphQLLanguage
import RelayJSON
@_spi(Rooms) package import RelayRecords

/// Why records cannot be served under a new schema.
package struct IncompatibleSchema: Error, Hashable, Sendable, CustomStringConvertible {
    /// One sentence for each type or field that the records do not fit.
    package let reasons: [String]
    /// The names of the schema and the log, for people.
    package var schemaName: String?
    package var logName: String?

    package var description: String {
        let schema = schemaName.map { " \($0)" } ?? ""
        let log = logName.map { " \($0)" } ?? ""
        return
            "The schema\(schema) does not fit the records in the log\(log), which stay as they are:\n"
            + reasons.joined(separator: "\n")
    }
}

extension ServiceSchema {
    /// Checks that records written under another schema can be served under this one.
    ///
    /// They can if every stored value is valid for its field's new type, non-null fields have values, and
    /// unique values are unique. So new types and nullable fields may be added, fields may be removed (their
    /// values stay in the log), and a type may become wider.
    /// - Parameters:
    ///   - old: the schema under which the records were written; fields that are the same in both are not
    ///     checked. Nil if it cannot be read: then all fields are checked.
    ///   - records: the newest state.
    /// - Throws: everything that does not fit.
    package func check(
        _ records: Snapshot, writtenUnder old: ServiceSchema?
    ) throws(IncompatibleSchema) {
        var checks: [NameIndex: TypeCheck] = [:]
        var order: [NameIndex] = []
        for record in records.recordsInCreationOrder() {
            guard let type = records.type(of: record) else { continue }
            if checks[type] == nil {
                let name = records.symbols.nameString(type)
                checks[type] = TypeCheck(name, types, writtenUnder: old?.types)
                order.append(type)
            }
            checks[type]?.look(at: record, in: records)
        }
        let reasons = order.compactMap { checks[$0]?.reasons }.flatMap(\.self)
        if !reasons.isEmpty { throw IncompatibleSchema(reasons: reasons) }
    }
}

/// What is wrong with the records of one type.
private struct TypeCheck {
    let name: String
    /// Nil if the new schema has no such stored type.
    var fields: [FieldCheck]?
    var findings = Findings()

    init(_ name: String, _ new: ServiceTypes, writtenUnder old: ServiceTypes?) {
        self.name = name
        guard let type = new.schema.type(named: name), new.isStored(type.id) else { return }
        let oldType = old?.schema.type(named: name)
        fields = type.fields.compactMap { field in
            FieldCheck(field, of: type, new, oldField: oldType?.field(field.name), old)
        }
    }

    mutating func look(at record: RecordIndex, in snapshot: Snapshot) {
        guard fields != nil else { return findings.note(record, snapshot) }
        for index in fields?.indices ?? 0..<0 { fields?[index].look(at: record, in: snapshot) }
    }

    var reasons: [String] {
        if let fields { return fields.flatMap(\.reasons) }
        return [
            """
            Type "\(name)" is gone or does not implement Node any more, and there are records of it: \
            \(findings).
            """
        ]
    }
}

/// Records with the same problem: how many, and the first of them.
private struct Findings: CustomStringConvertible {
    private(set) var count = 0
    private var example = ""

    mutating func note(_ record: RecordIndex, _ snapshot: Snapshot, _ value: FieldValue? = nil) {
        count += 1
        guard count == 1 else { return }
        example = "\"\(snapshot.symbols.idString(record))\""
        if let value { example += " with \(value.recordJSON.text)" }
    }

    /// `"a"`, or `"a" and 2 more`
    var description: String { count == 1 ? example : "\(example) and \(count - 1) more" }
}

/// What is wrong with one field of the records of one type.
private struct FieldCheck {
    private let field: SchemaField
    private let path: String
    private let kind: RecordFieldKind
    private let types: ServiceTypes
    /// The field's previous type, if it has changed.
    private let oldType: String?
    private var misfits = Findings()
    private var missing = Findings()
    private var repeated = Findings()
    private var uniqueValues: Set<JSONValue> = []

    /// Nil if the field means the same under both schemas, or stores nothing.
    init?(
        _ field: SchemaField, of type: NamedType, _ new: ServiceTypes,
        oldField: SchemaField?, _ old: ServiceTypes?
    ) {
        guard let kind = new.kind(of: field) else { return nil }
        switch kind {
        case .id, .found: return nil
        case .leaf, .link, .links, .connection: break
        }
        if let old, let oldField, old.meaning(of: oldField) == new.meaning(of: field) { return nil }
        self.field = field
        self.kind = kind
        path = "\"\(type.name).\(field.name)\""
        types = new
        let before = oldField.flatMap { field in old.map { $0.schema.print(field.type) } }
        oldType = before == new.schema.print(field.type) ? nil : before
    }

    mutating func look(at record: RecordIndex, in snapshot: Snapshot) {
        let value = snapshot.fieldValue(field.name, of: record)
        switch value {
        case nil, .null, .failed:
            switch kind {
            case .leaf, .link: if field.type.isNonNull { missing.note(record, snapshot) }
            default: break
            }
        case let value?:
            guard fits(value, in: snapshot) else { return misfits.note(record, snapshot, value) }
            if field.applied(.unique) != nil, let leaf = value.leaf,
                !uniqueValues.insert(leaf).inserted
            {
                repeated.note(record, snapshot, value)
            }
        }
    }

    private func fits(_ value: FieldValue, in snapshot: Snapshot) -> Bool {
        switch (kind, value) {
        case (.leaf, _):
            guard let leaf = value.leaf,
                let storable = types.schema.storable(leaf, as: field.type)
            else { return false }
            // A list is read as written; a single value is converted when it is read.
            return field.type.listItem == nil || storable == leaf
        case (.link(let target), .link(let id)):
            return isRecord(id, of: target, in: snapshot)
        case (.links(let node), .links(let ids)):
            return ids.allSatisfy { $0.map { isRecord($0, of: node, in: snapshot) } ?? true }
        case (.connection(let connection), .links(let ids)):
            return ids.allSatisfy {
                $0.map { isRecord($0, of: connection.node, in: snapshot) } ?? true
            }
        default:
            return false
        }
    }

    /// Whether a link may point there; a missing record is allowed.
    private func isRecord(_ id: DataID, of type: TypeID, in snapshot: Snapshot) -> Bool {
        guard let record = snapshot.existing(id.rawValue), let name = snapshot.type(of: record)
        else { return true }
        guard let found = types.schema.type(named: snapshot.symbols.nameString(name)) else {
            return false
        }
        return types.recordTypes(of: type).contains(found.id)
    }

    var reasons: [String] {
        let now = types.schema.print(field.type)
        let change = oldType.map { "was \($0) and is \(now)" } ?? "is \(now)"
        var reasons: [String] = []
        if misfits.count > 0 {
            reasons.append("\(path) \(change), which does not fit \(misfits).")
        }
        if missing.count > 0 {
            reasons.append("\(path) \(change), and it is missing in \(missing).")
        }
        if repeated.count > 0 {
            reasons.append("\(path) is @unique, and its value is repeated in \(repeated).")
        }
        return reasons
    }
}

extension ServiceTypes {
    /// Everything that determines which values a field can hold: if the texts are equal, so are the values.
    fileprivate func meaning(of field: SchemaField) -> String {
        let type = schema[field.namedType]
        var parts = [schema.print(field.type)]
        parts += type.values.map(\.name)
        let node = kind(of: field)?.node ?? type.id
        parts += recordTypes(of: node).map { schema[$0].name }
        if field.applied(.unique) != nil { parts.append("@unique") }
        if case .found? = kind(of: field) { parts.append("found") }
        return parts.joined(separator: " ")
    }
}
