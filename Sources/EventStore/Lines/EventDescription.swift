import Digests
import EventLog
package import RelayJSON
@_spi(Rooms) import RelayRecords

/// What is known of an event: all of it, or a part that fits on a page.
package struct EventDescription: Sendable {
    private let summary: EventSummary
    /// Nil when the state before the event cannot be rebuilt: for damage, or as the log begins between the two.
    private var changes: [FieldDifference]?
    /// How many changed records to leave out to go on with the others; nil when none is left.
    package private(set) var next: Int?
    /// Nil if the history is in memory only.
    private let frame: FrameInfo?

    /// - Parameters:
    ///   - skip: leaves out the changes of as many records.
    ///   - records: of how many records the changes are told.
    ///   - bytes: no changes are added to as many, in their form for programs.
    ///   - mayGoOn: asked now and then; the rest of the changes is left out when it says no.
    /// - Throws: the same as ``History/event(_:)``.
    package init(
        _ sequence: UInt64, in history: History, skip: Int = 0, records: Int = .max,
        bytes: Int = .max,
        mayGoOn: () -> Bool = { true }
    ) throws(EventStoreError) {
        summary = try history.summary(of: sequence)
        frame = try history.source.frame(containing: sequence)
        guard let all = try Self.changes(of: sequence, in: history) else { return }
        var found: [FieldDifference] = []
        var byteCount = 0
        for (place, id) in all.records.enumerated().dropFirst(skip) {
            let isFull = place - skip >= records || byteCount >= bytes
            if place > skip, isFull || (place % 256 == 0 && !mayGoOn()) {
                next = place
                break
            }
            let changes = all.differences(of: id)
            if bytes < .max { byteCount += changes.reduce(0) { $0 + $1.json.text.utf8.count } }
            found += changes
        }
        changes = found
    }

    private static func changes(
        of sequence: UInt64, in history: History
    ) throws(EventStoreError) -> StateDifference? {
        do throws(EventStoreError) {
            return try history.change(by: sequence)
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
        for (index, line) in changeLines.enumerated() {
            lines.append(index == 0 ? "changes".padded(to: 14) + line.dropFirst(14) : line)
        }
        return lines + frameLines
    }

    /// The changes for people, as they stand below the first one.
    private var changeLines: [String] {
        (changes ?? []).map { "".padded(to: 14) + $0.line.printable }
    }

    /// Where the bytes are; once all changes have been told.
    private var frameLines: [String] {
        guard let frame, next == nil else { return [] }
        var lines: [String] = []
        func add(_ name: String, _ value: String) {
            lines.append(name.padded(to: 14) + value.printable)
        }
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

extension EventDescription {
    /// What a page has for people that follows another one.
    var furtherLines: [String] { changeLines + frameLines }
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
