import ArgumentParser
import Console
import EventStore
import RelayJSON
@_spi(Rooms) import RelayRecords

/// `relay blame`: who wrote it?
struct Blame: HistoryTool {
    static let configuration = CommandConfiguration(
        abstract: "Show every write of a record or of one of its fields, the newest first.",
        discussion: """
            Changes to a list are shown as what was removed and added: "at 3: -a +b". In a \
            compacted log the last lines give the values with which its states begin, and what \
            wrote them, if that event is still there. Works offline and while a server is running; \
            never writes.
            """)

    @OptionGroup var log: LogArguments

    @Argument(help: ArgumentHelp("A record's id, or ID.field.", valueName: "record[.field]"))
    var path: String

    @Flag(
        help: """
            Also show how unconfirmed values changed: rebased when something else was confirmed \
            below them, revoked when their mutation failed; and what was shown in place of a \
            confirmed value. e6 is event 6, e5' what mutation 5 shows, e5'/e6 its rebase by event \
            6.
            """)
    var optimistic = false

    func run(on history: History, printingTo output: LineOutput) async throws {
        let report = try history.blame(BlameTarget.targets(path), showsLayers: optimistic)
        guard let report else { throw CommandFailure("There is no record \(path).") }
        guard !report.entries.isEmpty else {
            throw CommandFailure("No event of \(log.directory) ever wrote \(path).")
        }
        let form = BlameForm(namesField: report.target.field == nil, showsLayers: optimistic)
        for entry in report.entries {
            try output.write(log.json ? form.json(entry).text : form.line(entry))
        }
    }
}

/// How the entries of one blame are printed.
private struct BlameForm {
    /// When the blame is of a whole record.
    let namesField: Bool
    let showsLayers: Bool

    /// The form of `relay blame --json`.
    func json(_ entry: BlameEntry) -> JSONValue {
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
    func line(_ entry: BlameEntry) -> String {
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
