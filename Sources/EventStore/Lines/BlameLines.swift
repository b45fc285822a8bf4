package import RelayJSON
@_spi(Rooms) import RelayRecords

/// How the entries of one blame are printed.
package struct BlameLines: Sendable {
    /// When the blame is of a whole record.
    private let namesField: Bool
    private let showsLayers: Bool

    /// - Parameter showsLayers: as given to ``History/blame(_:showsLayers:)``.
    package init(_ target: BlameTarget, showsLayers: Bool = false) {
        namesField = target.field == nil
        self.showsLayers = showsLayers
    }

    /// The form of `relay blame --json`.
    package func json(_ entry: BlameEntry) -> JSONValue {
        var object = JSONObject(present: [
            "sequence": JSONValue(entry.sequence),
            "time": JSONValue(
                entry.timeMicroseconds.map { RFC3339.text(microseconds: $0) }),
            "operation": JSONValue(entry.operation),
            "mutationId": JSONValue(entry.mutationID?.description),
            "viewer": JSONValue(entry.viewer),
        ])
        if namesField { object["field"] = .string(entry.field) }
        entry.change.add(to: &object, before: "before", after: "value")
        object["optimistic"] = .bool(entry.isOptimistic)
        if case .inherited(let isWriterKnown) = entry.kind {
            object["inherited"] = .bool(!isWriterKnown)
        }
        if showsLayers {
            object["layer"] = .string(entry.notation)
            object["status"] = .string(entry.status)
            object["shown"] = entry.shown?.json
            object["layersAbove"] = .array(entry.layersAbove.map { .string("e\($0)'") })
        }
        return .object(object)
    }

    /// The same for people.
    package func line(_ entry: BlameEntry) -> String {
        var line = "\(entry.sequence)".padded(to: 8)
        let time = entry.timeMicroseconds.map { RFC3339.text(microseconds: $0) } ?? "-"
        line += time.padded(to: 29)
        if showsLayers { line += entry.notation.padded(to: 10) }
        line += (entry.operation ?? "-").padded(to: 24)
        if namesField { line += entry.field.padded(to: 16) }
        line += change(of: entry)
        if let mutationID = entry.mutationID { line += "  (\(mutationID))" }
        if let viewer = entry.viewer { line += "  by \(viewer)" }
        if entry.isOptimistic { line += "  \(entry.status)" }
        if case .revoked(let reason) = entry.kind { line += ": \(reason)" }
        if showsLayers, !entry.layersAbove.isEmpty {
            let layers = entry.layersAbove.map { "e\($0)'" }.joined(separator: " ")
            line += "  under \(layers), which shows \(entry.shown?.json.text ?? "nothing")"
        }
        return line.printable
    }

    private func change(of entry: BlameEntry) -> String {
        let value = entry.change.after?.recordJSON.text ?? "nothing"
        return switch entry.kind {
        case .inherited(isWriterKnown: true): "(unknown) -> \(value)"
        case .inherited(isWriterKnown: false): "was \(value); what wrote it was dropped"
        default: entry.change.line
        }
    }
}

extension BlameEntry {
    /// As the documentation writes it: `e6`, `e5'`, `e5'/e6`.
    fileprivate var notation: String {
        switch kind {
        case .confirmed, .inherited: "e\(sequence)"
        case .optimistic, .revoked: "e\(layer ?? sequence)'"
        case .rebased: "e\(layer ?? sequence)'/e\(sequence)"
        }
    }

    fileprivate var status: String {
        switch kind {
        case .confirmed, .inherited: "confirmed"
        case .optimistic: "optimistic"
        case .rebased: "rebased"
        case .revoked: "revoked"
        }
    }
}
