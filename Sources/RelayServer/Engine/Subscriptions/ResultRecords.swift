import RelayJSON

/// The records of one result, each field in the form that seed files have: what patches are made from.
struct ResultRecords: Sendable, Equatable {
    static let rootID = "client:root"
    static let typeKey = "__typename"

    /// By id, then by storage key.
    private(set) var records: [String: [String: JSONValue]] = [:]

    /// The record is there, even if none of its fields is.
    mutating func begin(_ id: String) {
        if records[id] == nil { records[id] = [:] }
    }

    mutating func set(_ key: String, _ value: JSONValue, of id: String) {
        records[id, default: [:]][key] = value
    }

    /// The patch that brings a client from another result's records to these: `{id: {key: VALUE} or null}`, ids
    /// and keys sorted. Nil when there is nothing to change.
    ///
    /// A record that is in neither result is none of the patch's business, and one that only this result has
    /// left stays as it is: other operations of the client may still show it.
    /// - Parameter isDeleted: whether a record is gone from the store.
    func patch(from old: ResultRecords, isDeleted: (String) -> Bool) -> [UInt8]? {
        var changes: [(id: String, fields: [String: JSONValue]?)] = []
        for (id, fields) in records {
            let known = old.records[id]
            let changed = fields.filter { known?[$0.key] != $0.value }
            if known == nil || !changed.isEmpty {
                changes.append((id, Self.shortened(changed, known ?? [:])))
            }
        }
        for id in old.records.keys where records[id] == nil {
            // A client's own record stands for a place, and nothing stands there any more.
            if id.hasPrefix("client:") || isDeleted(id) { changes.append((id, nil)) }
        }
        if changes.isEmpty { return nil }
        changes.sort { $0.id < $1.id }
        var writer = JSONWriter()
        for (place, change) in changes.enumerated() {
            writer.raw(UInt8(ascii: place == 0 ? "{" : ","))
            writer.write(change.id)
            writer.raw(UInt8(ascii: ":"))
            if let fields = change.fields {
                write(fields, to: &writer)
            } else {
                writer.writeNull()
            }
        }
        writer.raw(UInt8(ascii: "}"))
        return writer.bytes
    }

    private func write(_ fields: [String: JSONValue], to writer: inout JSONWriter) {
        if fields.isEmpty { return writer.raw("{}") }
        for (place, field) in fields.sorted(by: { $0.key < $1.key }).enumerated() {
            writer.raw(UInt8(ascii: place == 0 ? "{" : ","))
            writer.write(field.key)
            writer.raw(UInt8(ascii: ":"))
            writer.write(field.value)
        }
        writer.raw(UInt8(ascii: "}"))
    }

    /// Lists that have changed in one place say so instead of being sent whole.
    private static func shortened(
        _ fields: [String: JSONValue], _ known: [String: JSONValue]
    ) -> [String: JSONValue] {
        var fields = fields
        for (key, value) in fields {
            guard let new = value["refs"]?.array, let old = known[key]?["refs"]?.array,
                let splice = splice(from: old, to: new)
            else { continue }
            fields[key] = splice
        }
        return fields
    }

    /// `{"splice": [start, deleted, [ids…]]}`; nil when the whole list is shorter.
    private static func splice(from old: [JSONValue], to new: [JSONValue]) -> JSONValue? {
        var start = 0
        while start < old.count, start < new.count, old[start] == new[start] { start += 1 }
        var end = 0
        while end < old.count - start, end < new.count - start,
            old[old.count - 1 - end] == new[new.count - 1 - end]
        {
            end += 1
        }
        let inserted = new[start..<(new.count - end)]
        guard inserted.count + 2 < new.count else { return nil }
        return [
            "splice": [
                .int(Int64(start)), .int(Int64(old.count - end - start)), .array(Array(inserted)),
            ]
        ]
    }
}
