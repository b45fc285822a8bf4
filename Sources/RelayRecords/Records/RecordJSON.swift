package import RelayJSON

/// One record as a line of a seed file, an export or `replay … state`: `{"id": …, "type": …,
/// "fields": {name: VALUE}}`, where VALUE is a scalar, null, `{"ref": id}`, `{"refs": [id…]}` or
/// `{"value": any JSON}`.
package struct RecordJSON: Sendable, Hashable {
    package var id: DataID
    package var type: String
    package var fields: [(key: String, value: FieldValue)]

    package static func == (left: RecordJSON, right: RecordJSON) -> Bool {
        left.json == right.json
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(json) }
}

/// Why a line is not a record.
package struct RecordJSONError: Error, Hashable, CustomStringConvertible {
    package var message: String

    package var description: String { message }
}

// MARK: Reading

extension RecordJSON {
    /// Parses one line.
    package init(line: some Sequence<UInt8>) throws(RecordJSONError) {
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONValue(parsing: line)
        } catch {
            throw RecordJSONError(message: "\(error)")
        }
        guard let id = value["id"]?.string, !id.isEmpty else {
            throw RecordJSONError(message: "A record needs an \"id\" that is a string.")
        }
        guard let type = value["type"]?.string, !type.isEmpty else {
            throw RecordJSONError(message: "Record \"\(id)\" needs a \"type\" that is a string.")
        }
        self.init(id: DataID(id), type: type, fields: [])
        guard let members = (value["fields"] ?? [:]).object else {
            throw RecordJSONError(message: "\"fields\" of record \"\(id)\" must be an object.")
        }
        for (key, value) in members {
            guard let value = FieldValue(recordJSON: value) else {
                throw RecordJSONError(
                    message: """
                        Field "\(key)" of record "\(id)" must be a scalar, null, {"ref": id}, \
                        {"refs": [id, …]} or {"value": …}, not \(value.text).
                        """)
            }
            self.fields.append((key, value))
        }
    }
}

extension FieldValue {
    fileprivate init?(recordJSON value: JSONValue) {
        switch value {
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .int(let value): self = .int(value)
        case .double(let value): self = .double(value)
        case .string(let value): self = .string(value)
        case .array: return nil
        case .object(let object):
            guard object.count == 1 else { return nil }
            if let id = object["ref"]?.string {
                self = .link(DataID(id))
            } else if let ids = object["refs"]?.array {
                var links: [DataID?] = []
                for id in ids {
                    switch id {
                    case .null: links.append(nil)
                    case .string(let id): links.append(DataID(id))
                    default: return nil
                    }
                }
                self = .links(links)
            } else if let value = object["value"] {
                self = FieldValue(leaf: value)
            } else {
                return nil
            }
        }
    }
}

// MARK: Writing

extension RecordJSON {
    package var json: JSONValue {
        [
            "id": .string(id.rawValue), "type": .string(type),
            "fields": .object(JSONObject(fields.map { ($0.key, $0.value.recordJSON) })),
        ]
    }
}

extension FieldValue {
    /// The form of a value in records, patches and diffs.
    package var recordJSON: JSONValue {
        func list(_ ids: [DataID?]) -> JSONValue {
            .array(ids.map { $0.map { .string($0.rawValue) } ?? .null })
        }
        return switch self {
        case .null, .failed: .null
        case .bool(let value): .bool(value)
        case .int(let value): .int(value)
        case .double(let value): .double(value)
        case .string(let value): .string(value)
        case .json(let value): ["value": value]
        case .link(let id): ["ref": .string(id.rawValue)]
        case .links(let ids): ["refs": list(ids)]
        case .unset: ["unset": true]
        case .append(let id): ["splice": [.int(.max), 0, .array([.string(id.rawValue)])]]
        case .remove(let id): ["remove": .string(id.rawValue)]
        case .splice(let start, let deleted, let ids):
            ["splice": [.int(Int64(start)), .int(Int64(deleted)), list(ids)]]
        }
    }
}

extension Snapshot {
    /// A record that exists, with its fields in the order in which they were created.
    package func recordJSON(_ record: RecordIndex) -> RecordJSON? {
        defer { withExtendedLifetime(parts) {} }
        guard let row = row(record) else { return nil }
        var fields: [(key: String, value: FieldValue)] = []
        for (slot, key) in row.shape.keys.enumerated() {
            guard let value = fieldValue(slot, of: row) else { continue }
            fields.append((symbols.nameString(key), value))
        }
        return RecordJSON(
            id: DataID(symbols.idString(record)), type: symbols.nameString(row.type),
            fields: fields)
    }

    /// The value of one field of a record; nil if it is unknown.
    package func fieldValue(_ key: String, of record: RecordIndex) -> FieldValue? {
        defer { withExtendedLifetime(parts) {} }
        guard let row = row(record), let name = symbols.findName(key),
            let slot = row.slot(of: name)
        else { return nil }
        return fieldValue(slot, of: row)
    }

    /// The list of links in a field; nil if it holds anything else.
    package func links(_ key: String, of record: RecordIndex) -> LinkList? {
        defer { withExtendedLifetime(parts) {} }
        guard let row = row(record), let name = symbols.findName(key),
            let slot = row.slot(of: name), row.tag(slot) == .links
        else { return nil }
        return row.links(slot)
    }

    private func fieldValue(_ slot: Int, of row: Row) -> FieldValue? {
        func id(_ record: RecordIndex) -> DataID { DataID(symbols.idString(record)) }
        func json() -> JSONValue { row.withText(slot) { (try? JSONValue(parsing: $0)) ?? .null } }
        return switch row.tag(slot) {
        case .absent: nil
        case .null: .null
        case .false: .bool(false)
        case .true: .bool(true)
        case .int: .int(row.int(slot))
        case .double: .double(row.double(slot))
        case .string: .string(row.withText(slot) { String(decoding: $0, as: UTF8.self) })
        case .json: .json(json())
        case .failed: .failed(json())
        case .link: .link(id(row.link(slot)))
        case .links: .links(row.links(slot).records.map { $0.map(id) })
        }
    }
}
