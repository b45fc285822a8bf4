import ArgumentParser
import Console
import EventLog
import EventStore
import RelayJSON
@_spi(Rooms) import RelayRecords

/// `relay log stats`: a log in figures.
struct LogStats: HistoryTool {
    static let configuration = CommandConfiguration(
        commandName: "stats",
        abstract: "Count a log's events by kind and operation, its bytes, records and checkpoints.",
        discussion: "Works offline and while a server is running; never writes.")

    @OptionGroup var log: LogArguments

    func run(on history: History, printingTo output: LineOutput) async throws {
        let statistics = try LogStatistics(history)
        if log.json { return try output.write(statistics.json.text) }
        for line in statistics.lines { try output.write(line) }
    }
}

private struct LogStatistics {
    private let history: History
    private let metadata: LogMetadata
    /// The end of the log; nil if damage hides it.
    private let head: ChainHash?
    private let segmentSizesBytes: [Int64]
    private let checkpoints: [UInt64]
    private let recordCount: Int
    private var kinds: [String: Int64] = [:]
    /// Responses and local updates: what happened, not what was asked for.
    private var operations: [String: Int64] = [:]
    private var firstTime: Int64?
    private var lastTime: Int64?

    init(_ history: History) throws {
        self.history = history
        let reader = try EventLogReader(history.directory)
        metadata = reader.metadata
        head = history.damage == nil ? try reader.head().hash : nil
        checkpoints = try reader.checkpoints.sequences()
        segmentSizesBytes = try reader.segmentFiles().map { Int64(clamping: $0.sizeBytes) }
        recordCount = try history.snapshot(at: history.last).recordCount
        try count()
    }

    private mutating func count() throws {
        guard let extent = history.extent else { return }
        let summaries = try history.summaries(in: extent)
        while let event = try summaries.next() {
            kinds[event.kind, default: 0] += 1
            if let operation = event.operation, ["response", "update"].contains(event.kind) {
                operations[operation, default: 0] += 1
            }
            firstTime = firstTime ?? event.timeMicroseconds
            lastTime = event.timeMicroseconds
        }
    }

    private var segmentBytes: Int64 { segmentSizesBytes.reduce(0, +) }

    /// The most frequent first.
    private func ranked(_ counts: [String: Int64]) -> [(key: String, value: Int64)] {
        counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    }

    var json: JSONValue {
        func object(_ counts: [String: Int64]) -> JSONValue {
            .object(JSONObject(ranked(counts).map { ($0.key, .int($0.value)) }))
        }
        return .object(
            JSONObject(present: [
                "storeId": .string("\(metadata.storeID)"),
                "epoch": .int(Int64(metadata.epoch)),
                "firstSequence": history.extent.map { JSONValue($0.lowerBound) },
                "lastSequence": JSONValue(history.last),
                "firstTime": JSONValue(firstTime.map(RFC3339.text(microseconds:))),
                "lastTime": JSONValue(lastTime.map(RFC3339.text(microseconds:))),
                "head": JSONValue(head?.description),
                "events": .int(Int64(history.extent?.count ?? 0)),
                "kinds": object(kinds), "operations": object(operations),
                "records": .int(Int64(recordCount)),
                "segments": .int(Int64(segmentSizesBytes.count)),
                "bytes": .int(segmentBytes),
                "checkpoints": .array(checkpoints.map { JSONValue($0) }),
            ]))
    }

    var lines: [String] {
        var lines: [String] = []
        func add(_ name: String, _ value: String) { lines.append(name.padded(to: 14) + value) }
        add("store", "\(metadata.storeID), epoch \(metadata.epoch)")
        if let extent = history.extent, let firstTime, let lastTime {
            add("events", "\(extent.count), from \(extent.lowerBound) to \(extent.upperBound)")
            add("from", RFC3339.text(microseconds: firstTime))
            add("to", RFC3339.text(microseconds: lastTime))
        } else {
            add("events", "none")
        }
        for (kind, count) in ranked(kinds) { add("  " + kind, "\(count)") }
        if !operations.isEmpty { lines.append("operations") }
        for (operation, count) in ranked(operations) { add("  " + operation, "\(count)") }
        add("records", "\(recordCount)")
        add("segments", "\(segmentSizesBytes.count), \(segmentBytes.of("byte")) on disk")
        add(
            "checkpoints",
            checkpoints.isEmpty ? "none" : checkpoints.map { "\($0)" }.joined(separator: ", "))
        if let head { add("head", "\(head)") }
        return lines
    }
}
