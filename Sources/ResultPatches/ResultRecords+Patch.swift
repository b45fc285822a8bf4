import RelayJSON

/// A patch that does not fit the records it is for: the server interprets the operation differently.
struct PatchMismatch: Error {}

extension ResultRecords {
    /// Applies a patch, `extensions.relay.records` (docs/websocket.md).
    /// - Throws: if it changes something that does not exist; the records are then partly changed.
    mutating func apply(_ patch: JSONObject) throws(PatchMismatch) {
        for (id, fields) in patch {
            let id = ExactText(id)
            switch fields {
            case .null: records[id] = nil
            case .object(let changes):
                var fields = records.removeValue(forKey: id) ?? [:]
                for (key, value) in changes {
                    let key = ExactText(key)
                    fields[key] = try Self.changed(fields[key], by: value)
                }
                records[id] = fields
            default: throw PatchMismatch()
            }
        }
    }

    /// - Returns: nil for a field that is gone.
    private static func changed(
        _ field: JSONValue?, by value: JSONValue
    ) throws(PatchMismatch) -> JSONValue? {
        if value["unset"] != nil {
            guard field != nil else { throw PatchMismatch() }
            return nil
        }
        guard let splice = value["splice"] else { return value }
        return ["refs": .array(try spliced(field, splice))]
    }

    /// The links of a list after `[start, deleted, [ids…]]`.
    private static func spliced(
        _ list: JSONValue?, _ splice: JSONValue
    ) throws(PatchMismatch) -> [JSONValue] {
        guard var links = list?["refs"]?.array, let splice = splice.array, splice.count == 3,
            let start = splice[0].int.flatMap({ Int(exactly: $0) }),
            let deleted = splice[1].int.flatMap({ Int(exactly: $0) }), let added = splice[2].array,
            0...links.count ~= start, 0...(links.count - start) ~= deleted
        else { throw PatchMismatch() }
        links.replaceSubrange(start..<start + deleted, with: added)
        return links
    }
}
