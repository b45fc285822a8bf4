import Digests
import EventLog
package import RelayJSON
@_spi(Rooms) import RelayRecords

/// Everything that is known of an event.
package struct EventDescription: Sendable {
    private let summary: EventSummary
    /// Nil when the state before the event cannot be rebuilt: for damage, or as the log begins between the two.
    private let changes: [FieldDifference]?
    /// Nil if the history is in memory only.
    private let frame: FrameInfo?

    /// - Throws: the same as ``History/event(_:)``.
    package init(_ sequence: UInt64, in history: History) throws(EventStoreError) {
        summary = try history.summary(of: sequence)
        changes = try Self.changes(of: sequence, in: history)
        frame = try history.source.frame(containing: sequence)
    }

    private static func changes(
        of sequence: UInt64, in history: History
    ) throws(EventStoreError) -> [FieldDifference]? {
        do throws(EventStoreError) {
            return try history.changes(by: sequence)
        } catch {
            if [.log(.damaged), .outOfRange].contains(error.code) { return nil }
            throw error
        }
    }

    /// The form of `relay log show --json`.
    package var json: JSONValue {
        var object = summary.json.object ?? [:]
        object["mutation"] = summary.ends.map { JSONValue($0) }
        object["field"] = JSONValue(summary.intent?.field)
        object["arguments"] = summary.intent?.arguments
        if let reason = summary.reason { object["reason"] = .string(reason) }
        object["changes"] = changes.map { .array($0.map(\.json)) }
        object["frame"] = frame.map(\.json)
        return .object(object)
    }

    /// The same for people.
    package var lines: [String] {
        var lines: [String] = []
        func add(_ name: String, _ value: String?) {
            if let value { lines.append(name.padded(to: 14) + value.printable) }
        }
        add("sequence", "\(summary.sequence)")
        add("time", RFC3339.text(microseconds: summary.timeMicroseconds))
        add("kind", summary.kind)
        add("operation", summary.operation)
        add("mutation", summary.ends.map { "event \($0)" })
        add("mutation id", summary.mutationID?.description)
        add("viewer", summary.viewer)
        add("field", summary.intent?.field)
        add("arguments", summary.intent?.arguments.text)
        add("reason", summary.reason)
        if changes == nil {
            add("changes", "unknown: the state before the event cannot be rebuilt")
        }
        for (index, change) in (changes ?? []).enumerated() {
            lines.append((index == 0 ? "changes" : "").padded(to: 14) + change.line.printable)
        }
        guard let frame else { return lines }
        add("segment", frame.segment)
        add(
            "frame",
            "\(frame.byteCount) bytes at byte \(frame.offset), events "
                + "\(frame.sequences.lowerBound) to \(frame.sequences.upperBound), "
                + "epoch \(frame.epoch)")
        add("crc32", frame.checksumText)
        add("chain", "\(frame.chain)")
        return lines
    }
}

extension FrameInfo {
    fileprivate var checksumText: String { checksum.hexadecimal }

    fileprivate var json: JSONValue {
        [
            "segment": .string(segment), "offset": JSONValue(offset),
            "bytes": .int(Int64(byteCount)),
            "firstSequence": JSONValue(sequences.lowerBound),
            "lastSequence": JSONValue(sequences.upperBound),
            "epoch": .int(Int64(epoch)), "crc32": .string(checksumText),
            "chain": .string("\(chain)"),
        ]
    }
}
