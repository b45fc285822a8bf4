import GraphQLExecution
package import RelayJSON
@_spi(Rooms) package import RelayRecords

/// Finds the record that an input field names, by its id or by the value of a unique field.
package struct RecordFinder: Sendable {
    /// The root field, for messages.
    let mutation: String
    /// The possible types of the record, for messages.
    let typeName: String
    /// `id`, and the unique fields, for messages.
    let keys: [String]
    let lookup: Lookup

    package var input: String { lookup.argument }

    /// The record that `input` names; nil if the input field is absent or null.
    /// - Throws: `NOT_FOUND` if there is no such record.
    func record(
        in input: JSONObject, _ snapshot: Snapshot, _ access: MutationAccess
    ) throws(ExecutionError) -> RecordIndex? {
        guard let value = input[self.input], value != .null else { return nil }
        return try record(value, snapshot, access)
    }

    /// The record, which must be named.
    /// - Throws: also if the input field is absent or null, which its type should have ruled out.
    func requiredRecord(
        in input: JSONObject, _ snapshot: Snapshot, _ access: MutationAccess
    ) throws(ExecutionError) -> RecordIndex {
        try record(input[self.input] ?? .null, snapshot, access)
    }

    /// The record that a value names.
    func record(
        _ value: JSONValue, _ snapshot: Snapshot, _ access: MutationAccess
    ) throws(ExecutionError) -> RecordIndex {
        guard let found = access.find(value, lookup, in: snapshot) else {
            throw refusal(of: value)
        }
        return found
    }

    /// There is no such record, or none for whoever asks.
    func refusal(of value: JSONValue) -> ExecutionError {
        MutationRefusal.notFound(value, type: typeName, keys: keys)
            .error(in: mutation, input: input)
    }

    package func find(_ value: JSONValue, in snapshot: Snapshot) -> RecordIndex? {
        value.recordName.flatMap { snapshot.find($0, lookup) }
    }
}

extension JSONValue {
    /// The text by which a record may be found.
    var recordName: String? {
        switch self {
        case .string(let text): text
        case .int(let number): String(number)
        default: nil
        }
    }
}

extension Snapshot {
    package func dataID(_ record: RecordIndex) -> DataID { DataID(symbols.idString(record)) }
}
