package import RelayJSON
@_spi(Rooms) import RelayRecords

extension EventSummary {
    /// So many ids of records are in a line for programs; the seed of a large store has many more.
    package static let shownRecords = 1_000

    /// The form of `relay log list --json`.
    package var json: JSONValue {
        .object(
            JSONObject(present: [
                "sequence": JSONValue(sequence),
                "time": .string(RFC3339.text(microseconds: timeMicroseconds)),
                "kind": .string(kind),
                "operation": JSONValue(operation),
                "mutationId": JSONValue(mutationID?.description),
                "viewer": JSONValue(viewer),
                "records": .array(records.prefix(Self.shownRecords).map(JSONValue.string)),
                "recordCount": records.count > Self.shownRecords
                    ? .int(Int64(records.count)) : Optional.none,
            ]))
    }

    /// The same for people, in columns.
    package var line: String {
        var line = "\(sequence)".padded(to: 8)
        line += RFC3339.text(microseconds: timeMicroseconds).padded(to: 29)
        line += kind.padded(to: 12)
        line += (operation ?? "-").padded(to: 24)
        let shown = records.prefix(4).joined(separator: " ")
        line += records.count > 4 ? "\(shown) and \(records.count - 4) more" : shown
        while line.last == " " { line.removeLast() }
        if let mutationID { line += "  (\(mutationID))" }
        return line.printable
    }
}

extension FieldDifference {
    /// The form of `relay diff --json`.
    package var json: JSONValue {
        var object: JSONObject = ["record": .string(record), "field": .string(field)]
        change.add(to: &object, before: "before", after: "after")
        return .object(object)
    }

    /// The same for people.
    package var line: String {
        "\(record).\(field)".printable.padded(to: 32) + change.line.printable
    }
}

extension FieldChange {
    /// Adds its keys. What is not there has none, and null is null; a list has a "change" in their place.
    package func add(to object: inout JSONObject, before: String, after: String) {
        switch self {
        case .value(let old, let new):
            if let old { object[before] = old.recordJSON }
            if let new { object[after] = new.recordJSON }
        case .links: object["change"] = json
        }
    }

    /// Of a list: `{"splice": [start, deleted, [ids…]]}`.
    package var json: JSONValue {
        switch self {
        case .value(_, let after): after?.recordJSON ?? ["unset": true]
        case .links(let start, let removed, let inserted):
            FieldValue.splice(start: start, deleted: removed.count, inserted).recordJSON
        }
    }

    /// The same for people: both values, or what came to a list and went.
    package var line: String {
        switch self {
        case .value(let before, let after): "\(text(before)) -> \(text(after))"
        case .links(let start, let removed, let inserted):
            (["at \(start):"] + marked("-", removed) + marked("+", inserted))
                .joined(separator: " ")
        }
    }

    private static let shownCount = 8

    private func marked(_ mark: String, _ ids: [DataID?]) -> [String] {
        let shown = ids.prefix(Self.shownCount).map { mark + ($0?.rawValue ?? "null") }
        return ids.count > shown.count
            ? shown + ["\(mark)\(ids.count - shown.count) more"] : shown
    }

    private func text(_ value: FieldValue?) -> String { value?.recordJSON.text ?? "nothing" }
}

extension JSONValue {
    /// A text; nil when there is none.
    package init?(_ text: String?) {
        guard let text else { return nil }
        self = .string(text)
    }

    /// A sequence, a count, an offset.
    package init(_ number: UInt64) { self = .int(Int64(clamping: number)) }
}

extension JSONObject {
    /// Has the values that are there: an absent one leaves its key out, as null would be a value.
    package init(present members: KeyValuePairs<String, JSONValue?>) {
        self.init()
        for (key, value) in members { self[key] = value }
    }
}

extension String {
    /// Filled with spaces, at least two, so that columns begin below each other.
    package func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(2, width - count))
    }
}
