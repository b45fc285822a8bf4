package import RelayArtifacts
import RelayJSON

/// One record of a ``Draft``.
package final class DraftRecordProxy: RecordProxy {
    package let dataID: DataID
    package let source: DraftProxy

    init(source: DraftProxy, dataID: DataID) {
        self.source = source
        self.dataID = dataID
    }

    package var typeName: String {
        source.row(dataID).map { source.draft.snapshot.symbols.nameString($0.type) } ?? ""
    }

    package subscript(_ name: String, args: (any VariableDataConvertible)?) -> Any? {
        get { value(key(name, args))?.plain }
        set {
            guard let value = FieldValue(plain: newValue) else {
                let type = newValue.map { "\(Swift.type(of: $0))" } ?? "nil"
                source.fail("Field \"\(name)\" of \"\(dataID)\" cannot hold a \(type).")
                return
            }
            if !value.isFinite {
                // JSON has no such numbers: written as text, it would be read as null.
                source.fail("Field \"\(name)\" of \"\(dataID)\" cannot hold NaN or infinity.")
                return
            }
            source.write(dataID, [(key(name, args), value)])
        }
    }

    package func getLinkedRecord(
        _ name: String, args: (any VariableDataConvertible)?
    ) -> (any RecordProxy)? {
        guard case .link(let id) = value(key(name, args)) else { return nil }
        return source[id]
    }

    package func getLinkedRecords(
        _ name: String, args: (any VariableDataConvertible)?
    ) -> [(any RecordProxy)?]? {
        guard case .links(let ids) = value(key(name, args)) else { return nil }
        return ids.map { id in id.flatMap { source[$0] } }
    }

    package func getOrCreateLinkedRecord(
        _ name: String, typeName: String, args: (any VariableDataConvertible)?
    ) -> any RecordProxy {
        if let record = getLinkedRecord(name, args: args) { return record }
        let id = dataID.clientID(storageKey: key(name, args))
        let record = source.create(dataID: id, typeName: typeName)
        setLinkedRecord(name, args: args, record: record)
        return record
    }

    package func setLinkedRecord(
        _ name: String, args: (any VariableDataConvertible)?, record: (any RecordProxy)?
    ) {
        let value = record.map { FieldValue.link($0.dataID) } ?? .null
        source.write(dataID, [(key(name, args), value)])
    }

    package func setLinkedRecords(
        _ name: String, args: (any VariableDataConvertible)?, records: [(any RecordProxy)?]
    ) {
        source.write(dataID, [(key(name, args), .links(records.map { $0?.dataID }))])
    }

    package func copyFields(from record: any RecordProxy) {
        guard let other = (record as? DraftRecordProxy)?.source,
            let index = other.find(record.dataID),
            let fields = other.draft.snapshot.recordJSON(index)?.fields
        else {
            source.fail("The fields of \"\(record.dataID)\" cannot be copied: it does not exist.")
            return
        }
        copy(fields)
    }

    /// Takes over what another record has, but for its identity.
    package func copyFields(from record: RecordJSON) { copy(record.fields) }

    private func copy(_ fields: [(key: String, value: FieldValue)]) {
        source.write(dataID, fields.filter { $0.key != "id" && $0.key != Snapshot.invalidatedKey })
    }

    package func invalidateRecord() { source.invalidate(dataID) }

    package func connection(
        _ key: String, filters: (any VariableDataConvertible)?
    ) -> (any ConnectionProxy)? {
        source.connections.connection(of: self, key: key, filters: filters)
    }

    private func key(_ name: String, _ args: (any VariableDataConvertible)?) -> String {
        let symbols = source.draft.snapshot.symbols
        return storageKey(name, args, distinguishesNull: symbols.distinguishesNull)
    }

    package func value(_ key: String) -> FieldValue? {
        guard let record = source.find(dataID) else { return nil }
        return source.draft.snapshot.fieldValue(key, of: record)
    }
}

extension FieldValue {
    /// Whether JSON can express it.
    fileprivate var isFinite: Bool {
        switch self {
        case .double(let number): number.isFinite
        case .json(let json): json.isFinite
        default: true
        }
    }

    /// A leaf in Swift's own types; nil for a link.
    var plain: Any? {
        switch self {
        case .null, .failed: VariableValue.null
        case .bool(let value): value
        case .int(let value): Int(value)
        case .double(let value): value
        case .string(let value): value
        case .json(let value): value.plain
        case .link, .links, .unset, .append, .remove, .splice: nil
        }
    }

    /// - Returns: nil for a value that no field can hold.
    init?(plain value: Any?) {
        guard let value else {
            self = .unset
            return
        }
        // The usual types, by exact type: a cast to a protocol costs more than the write.
        let type = type(of: value)
        if type == String.self, let text = value as? String {
            self = .string(text)
        } else if type == Int.self, let number = value as? Int {
            self = .int(Int64(number))
        } else if type == Bool.self, let flag = value as? Bool {
            self = .bool(flag)
        } else if type == Double.self, let number = value as? Double {
            self = .double(number)
        } else {
            guard let json = JSONValue(plain: value) else { return nil }
            self = FieldValue(leaf: json)
        }
    }
}

extension JSONValue {
    /// The value in Swift's own types, null as `VariableValue.null`.
    package var plain: Any {
        switch self {
        case .null: VariableValue.null
        case .bool(let value): value
        case .int(let value): Int(value)
        case .double(let value): value
        case .string(let value): value
        case .array(let values): values.map(\.plain)
        case .object(let object):
            Dictionary(object.members.map { ($0.key, $0.value.plain) }) { _, last in last }
        }
    }

    /// The JSON for values of Swift's own types; nil if one of them has none.
    package init?(plain value: Any) {
        switch value {
        case let value as JSONValue: self = value
        case let value as any VariableValueConvertible: self = value.variableValue.json
        case let value as DataID: self = .string(value.rawValue)
        case let value as Substring: self = .string(String(value))
        case let value as any BinaryInteger:
            guard let whole = Int64(exactly: value) else { return nil }
            self = .int(whole)
        case let value as any BinaryFloatingPoint: self = .double(Double(value))
        case let value as [Any?]:
            var elements: [JSONValue] = []
            for element in value {
                guard let json = element.map(JSONValue.init(plain:)) ?? .null else { return nil }
                elements.append(json)
            }
            self = .array(elements)
        case let value as [String: Any?]:
            var object = JSONObject()
            for (key, member) in value.sorted(by: { $0.key < $1.key }) {
                guard let json = member.map(JSONValue.init(plain:)) ?? .null else { return nil }
                object[key] = json
            }
            self = .object(object)
        case let value as any RawRepresentable:
            guard let raw = JSONValue(plain: value.rawValue) else { return nil }
            self = raw
        // By name, because the server does not use Foundation.
        case let value where "\(type(of: value))" == "NSNull": self = .null
        default: return nil
        }
    }
}
