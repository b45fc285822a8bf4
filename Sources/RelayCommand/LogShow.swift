import ArgumentParser
import Console
import Digests
import EventLog
import EventStore
import RelayJSON
@_spi(Rooms) import RelayRecords

/// `relay log show`: all about one event.
struct LogShow: HistoryTool {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show one event: what was asked for, what it changed, where its bytes are.",
        discussion: "Works offline and while a server is running; never writes.")

    @OptionGroup var log: LogArguments

    @Argument(help: "The event's sequence, or another point: a time, @ for the last, @-3.")
    var point: String

    @Flag(help: "Print the payload's bytes as they are.")
    var raw = false

    @Flag(help: "Print the payload's bytes in hexadecimal.")
    var hex = false

    func validate() throws {
        if [log.json, raw, hex].count(where: \.self) > 1 {
            throw ValidationError("--json, --raw and --hex exclude each other.")
        }
    }

    func run(on history: History, printingTo output: LineOutput) async throws {
        let sequence = try history.sequence(of: point)
        if raw { return try output.write(bytes: history.event(sequence).body.payload) }
        if hex {
            for line in hexDump(try history.event(sequence).body.payload) {
                try output.write(line)
            }
            return
        }
        let event = try EventDescription(sequence, in: history)
        if log.json { return try output.write(event.json.text) }
        for line in event.lines { try output.write(line) }
    }

    /// Sixteen bytes a line: their offset, their values, their characters.
    private func hexDump(_ bytes: [UInt8]) -> [String] {
        stride(from: 0, to: bytes.count, by: 16).map { start in
            let row = bytes[start..<min(start + 16, bytes.count)]
            let values = row.map { $0.hexadecimal }.joined(separator: " ")
            let text = row.map { 0x20..<0x7F ~= $0 ? String(UnicodeScalar($0)) : "." }.joined()
            return UInt32(start).hexadecimal + "  " + values.padded(to: 49) + text
        }
    }
}

/// Everything that is known of an event.
private struct EventDescription {
    private let summary: EventSummary
    /// Nil when the state before the event cannot be rebuilt: for damage, or as the log begins between the two.
    private let changes: [FieldDifference]?
    private let frame: FrameInfo?

    init(_ sequence: UInt64, in history: History) throws {
        summary = try history.summary(of: sequence)
        changes = try Self.changes(of: sequence, in: history)
        frame = try EventLogReader(history.directory).frame(containing: sequence)
    }

    private static func changes(
        of sequence: UInt64, in history: History
    ) throws -> [FieldDifference]? {
        do throws(EventStoreError) {
            return try history.changes(by: sequence)
        } catch {
            if [.log(.damaged), .outOfRange].contains(error.code) { return nil }
            throw error
        }
    }

    var json: JSONValue {
        var object = summary.json.object ?? [:]
        object["mutation"] = summary.ends.map { JSONValue($0) }
        object["field"] = JSONValue(summary.intent?.field)
        object["arguments"] = summary.intent?.arguments
        if let reason = summary.reason { object["reason"] = .string(reason) }
        object["changes"] = changes.map { .array($0.map(\.json)) }
        object["frame"] = frame.map(\.json)
        return .object(object)
    }

    var lines: [String] {
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
