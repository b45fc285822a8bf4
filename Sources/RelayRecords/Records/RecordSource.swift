import RelayJSON

/// All records of a store at one point, as a value: to be kept in a file, for example, and passed to a
/// store of the next process.
///
///     let bytes = try JSONEncoder().encode(try store.source)
///     let store = Store(source: try JSONDecoder().decode(RecordSource.self, from: bytes))
///
/// Encoded, a record is `{"id": …, "type": …, "fields": {…}}`, as in the files that `relay log import` reads;
/// the ids of deleted records are included, because a deleted record is not an unknown one. A store that must
/// survive a crash has a journal instead (`Store(journal:)` of the product `EventStore`).
public struct RecordSource: Codable, Sendable {
    private var records: [RecordJSON]
    private var deleted: [DataID]

    /// No records.
    public init() {
        records = []
        deleted = []
    }

    package init(_ snapshot: Snapshot) {
        records = snapshot.recordsInCreationOrder().compactMap { snapshot.recordJSON($0) }
        deleted = snapshot.deletedIDs().map { DataID($0) }
    }

    /// How many records exist.
    public var count: Int { records.count }

    /// The ids of the records that exist, in creation order.
    public var recordIDs: [DataID] { records.map(\.id) }

    /// The state of a store that has these records and no history.
    package var snapshot: Snapshot {
        var draft = Draft(on: Snapshot(), keepsPayloads: false)
        for record in records { draft.write(record.id, type: record.type, fields: record.fields) }
        for id in deleted { draft.delete(id) }
        return draft.snapshot
    }

    private enum CodingKeys: String, CodingKey {
        case records
        case deletedRecordIDs
    }

    /// - Throws: `DecodingError` for anything that is not a record, with the reason.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        records = try container.decode([CodableJSON].self, forKey: .records).map { record in
            do throws(RecordJSONError) {
                return try RecordJSON(line: record.value.bytes)
            } catch {
                throw DecodingError.dataCorruptedError(
                    forKey: .records, in: container, debugDescription: error.message)
            }
        }
        deleted = try container.decodeIfPresent([DataID].self, forKey: .deletedRecordIDs) ?? []
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(records.map { CodableJSON($0.json) }, forKey: .records)
        try container.encode(deleted, forKey: .deletedRecordIDs)
    }
}

/// Any JSON, for coders of any format.
private struct CodableJSON: Codable {
    let value: JSONValue

    init(_ value: JSONValue) { self.value = value }

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    init(from decoder: any Decoder) throws {
        if let object = try? decoder.container(keyedBy: Name.self) {
            let members = try object.allKeys.sorted { $0.stringValue < $1.stringValue }
                .map { ($0.stringValue, try object.decode(CodableJSON.self, forKey: $0).value) }
            value = .object(JSONObject(members))
            return
        }
        if var array = try? decoder.unkeyedContainer() {
            var elements: [JSONValue] = []
            while !array.isAtEnd { elements.append(try array.decode(CodableJSON.self).value) }
            value = .array(elements)
            return
        }
        let scalar = try decoder.singleValueContainer()
        if scalar.decodeNil() {
            value = .null
        } else if let bool = try? scalar.decode(Bool.self) {
            value = .bool(bool)
        } else if let int = try? scalar.decode(Int64.self) {
            value = .int(int)
        } else if let double = try? scalar.decode(Double.self) {
            value = .double(double)
        } else {
            value = .string(try scalar.decode(String.self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        switch value {
        case .object(let object):
            var container = encoder.container(keyedBy: Name.self)
            for (key, member) in object.members {
                try container.encode(CodableJSON(member), forKey: Name(stringValue: key))
            }
        case .array(let elements):
            var container = encoder.unkeyedContainer()
            for element in elements { try container.encode(CodableJSON(element)) }
        case .null:
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        case .bool(let value):
            var container = encoder.singleValueContainer()
            try container.encode(value)
        case .int(let value):
            var container = encoder.singleValueContainer()
            try container.encode(value)
        case .double(let value):
            var container = encoder.singleValueContainer()
            try container.encode(value)
        case .string(let value):
            var container = encoder.singleValueContainer()
            try container.encode(value)
        }
    }
}
