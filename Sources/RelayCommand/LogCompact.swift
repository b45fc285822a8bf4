import ArgumentParser
import EventLog
import EventStore
import RelayJSON

/// `relay log compact`: forget how it began.
struct LogCompact: LogTool {
    static let configuration = CommandConfiguration(
        commandName: "compact",
        abstract: "Drop a log's beginning, which a checkpoint makes unnecessary for starting.",
        discussion: """
            Whole segments go, and with them the past that they held: the state stays, and history \
            before the first kept event can no longer be replayed or blamed. Without --at everything \
            goes that the state at the end does not need. No server may be running on the log.
            """)

    @OptionGroup var log: LogArguments

    @Option(
        help: ArgumentHelp(
            "Keep the events after this point: a sequence, a time, @-1000. (default: the end)",
            valueName: "point"))
    var at: String?

    func run(printingTo output: LineOutput) async throws {
        // Says that there is no log, where opening the store would make one.
        let history = try History(log.directory)
        let report =
            if let at {
                try LogCompaction(log.directory)
                    .run(checkpoint: newestCheckpoint(through: history.sequence(of: at)))
            } else {
                try EventStore.compact(log.directory)
            }
        if log.json { return try output.write(report.json.text) }
        try output.write(
            """
            Removed \(report.removedSegments.of("segment")), \(report.removedBytes.of("byte")); the \
            log begins with event \(report.firstSequence).
            """)
    }

    private func newestCheckpoint(through sequence: UInt64) throws -> UInt64 {
        let checkpoints = try EventLogReader(log.directory).checkpoints.sequences()
        guard let newest = checkpoints.last(where: { $0 <= sequence }) else {
            throw CommandFailure(
                """
                No checkpoint of \(log.directory) is at or before event \(sequence), so every event \
                is still needed. Nothing was changed.
                """)
        }
        return newest
    }
}

extension CompactionReport {
    fileprivate var json: JSONValue {
        [
            "firstSequence": JSONValue(firstSequence),
            "removedSegments": .int(Int64(removedSegments)),
            "removedBytes": JSONValue(removedBytes),
        ]
    }
}
