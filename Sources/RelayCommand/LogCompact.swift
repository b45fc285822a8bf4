import ArgumentParser
import EventLog
import EventStore
import RelayJSON
import RelayStore

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
        let history = try History(log.directory)
        let checkpoint = try at.map { try newestCheckpoint(through: history.sequence(of: $0)) }
        let sequence = try checkpoint ?? makeCheckpoint(of: history)
        let report = try LogCompaction(log.directory).run(checkpoint: sequence)
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

    /// Makes one of the newest state. The directory is a log, so this makes no new one.
    private func makeCheckpoint(of history: History) throws -> UInt64 {
        guard history.extent != nil else {
            throw CommandFailure("\(log.directory) is empty: there is nothing to drop.")
        }
        let store = try EventStore.open(log.directory)
        defer { store.journal.close() }
        try store.journal.checkpoint(store.snapshot)
        return store.snapshot.sequence
    }
}

extension CompactionReport {
    fileprivate var json: JSONValue {
        [
            "firstSequence": .int(Int64(clamping: firstSequence)),
            "removedSegments": .int(Int64(removedSegments)),
            "removedBytes": .int(Int64(clamping: removedBytes)),
        ]
    }
}
