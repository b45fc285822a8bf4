import EventStore
import RelayJSON
import RelayStore

extension EventSummary {
    /// The form of `relay log list --json`.
    var json: JSONValue {
        [
            "sequence": JSONValue(sequence),
            "time": .string(RFC3339.text(microseconds: timeMicroseconds)),
            "kind": .string(kind),
            "operation": JSONValue(operation),
            "mutationId": JSONValue(mutationID?.description),
            "records": .array(records.map(JSONValue.string)),
        ]
    }

    /// The same for people, in columns.
    var line: String {
        var line = "\(sequence)".padded(to: 8)
        line += RFC3339.text(microseconds: timeMicroseconds).padded(to: 29)
        line += kind.padded(to: 12)
        line += (operation ?? "-").padded(to: 24)
        let shown = records.prefix(4).joined(separator: " ")
        line += records.count > 4 ? "\(shown) and \(records.count - 4) more" : shown
        while line.last == " " { line.removeLast() }
        if let mutationID { line += "  (\(mutationID))" }
        return line
    }
}

extension FieldDifference {
    /// The form of `relay diff --json`.
    var json: JSONValue {
        [
            "record": .string(record), "field": .string(field),
            "before": before?.recordJSON ?? .null, "after": after?.recordJSON ?? .null,
        ]
    }

    /// The same for people.
    var line: String {
        "\(record).\(field)".padded(to: 32) + describeChange(from: before, to: after)
    }
}

/// A value before and after, for people.
func describeChange(from before: FieldValue?, to after: FieldValue?) -> String {
    func text(_ value: FieldValue?) -> String { value?.recordJSON.text ?? "nothing" }
    return "\(text(before)) -> \(text(after))"
}

extension JSONValue {
    /// A text, or null.
    init(_ text: String?) { self = text.map(JSONValue.string) ?? .null }

    /// A sequence, a count, an offset; or null.
    init(_ number: UInt64?) { self = number.map { .int(Int64(clamping: $0)) } ?? .null }
}

extension String {
    /// Filled with spaces, at least two, so that columns begin below each other.
    func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(2, width - count))
    }
}

extension BinaryInteger {
    /// With what is counted: "1 segment", "2 segments".
    func of(_ noun: String) -> String { "\(self) \(noun)\(self == 1 ? "" : "s")" }
}
