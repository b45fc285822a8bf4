import GraphQLExecution
import RelayJSON
@_spi(Rooms) import RelayRecords

/// How one field of an input becomes one field of a record.
struct FieldWrite: Sendable {
    enum Content: Sendable {
        /// The value as it is.
        case leaf
        /// The value as it is, provided that no other record has it.
        case unique(Lookup.UniqueKey)
        /// The record that the value names.
        case link(RecordFinder)
        /// The records that the values of a list name, without duplicates.
        case links(RecordFinder)
    }

    /// The root field, for messages.
    let mutation: String
    let input: String
    let key: String
    /// The record's type and the field's type as written, for messages.
    let typeName: String
    let fieldType: String
    let isNonNull: Bool
    let content: Content

    /// The value to write; nil if the input does not set it.
    /// - Throws: if the value cannot be stored.
    func value(
        in input: JSONObject, _ snapshot: Snapshot, _ access: MutationAccess
    ) throws(ExecutionError) -> FieldValue? {
        guard let given = input[self.input] else { return nil }
        if given == .null, isNonNull {
            throw refuse(.null(field: "\(typeName).\(key)", type: fieldType))
        }
        switch content {
        case .leaf, .unique: return FieldValue(leaf: given)
        case .link(let finder):
            if given == .null { return .null }
            return .link(snapshot.dataID(try finder.record(given, snapshot, access)))
        case .links(let finder):
            var records: [RecordIndex] = []
            var seen: Set<RecordIndex> = []
            for element in given.array ?? [] {
                let record = try finder.record(element, snapshot, access)
                if seen.insert(record).inserted { records.append(record) }
            }
            return .links(records.map(snapshot.dataID))
        }
    }

    /// - Parameter record: the record to write to; nil for a new one.
    /// - Throws: `CONFLICT` if another record has the value already.
    func checkUniqueness(
        in input: JSONObject, for record: RecordIndex?, _ snapshot: Snapshot
    ) throws(ExecutionError) {
        guard case .unique(let unique) = content, let given = input[self.input],
            let text = given.recordName,
            let holder = snapshot.indexes.record(of: unique.type, where: unique.key, is: text),
            holder != record
        else { return }
        throw refuse(.taken(given, type: typeName, field: key))
    }

    private func refuse(_ refusal: MutationRefusal) -> ExecutionError {
        refusal.error(in: mutation, input: input)
    }
}

extension [FieldWrite] {
    /// All writes given by an input.
    func values(
        in input: JSONObject, _ snapshot: Snapshot, _ access: MutationAccess
    ) throws(ExecutionError) -> [(key: String, value: FieldValue)] {
        var values: [(key: String, value: FieldValue)] = []
        values.reserveCapacity(count)
        for write in self {
            if let value = try write.value(in: input, snapshot, access) {
                values.append((write.key, value))
            }
        }
        return values
    }

    /// - Parameter record: the record to write to; nil for a new one.
    /// - Throws: `CONFLICT` if another record has one of the unique values already.
    func checkUniqueness(
        in input: JSONObject, for record: RecordIndex?, _ snapshot: Snapshot
    ) throws(ExecutionError) {
        for write in self { try write.checkUniqueness(in: input, for: record, snapshot) }
    }
}
