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
            case .object(let fields):
                begin(id)
                for (key, value) in fields { try apply(value, to: ExactText(key), of: id) }
            default: throw PatchMismatch()
            }
        }
    }

    private mutating func apply(
        _ value: JSONValue, to key: ExactText, of id: ExactText
    ) throws(PatchMismatch) {
        if value["unset"] != nil {
            guard records[id]?.removeValue(forKey: key) != nil else { throw PatchMismatch() }
        } else if let splice = value["splice"] {
            set(key, ["refs": .array(try spliced(records[id]?[key], splice))], of: id)
        } else {
            set(key, value, of: id)
        }
    }

    /// The links of a list after `[start, deleted, [ids…]]`.
    private func spliced(
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
