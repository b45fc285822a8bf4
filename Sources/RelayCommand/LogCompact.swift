import ArgumentParser
import Console
import EventLog
import EventStore
import LogTools
import RelayJSON

/// `relay log compact`: forget how it began.
struct LogCompact: LogTool {
    static let configuration = CommandConfiguration(
        commandName: "compact",
        abstract: "Drop the beginning of a log, which a checkpoint makes unnecessary for a start.",
        discussion: """
            Whole segments are removed, and with them the past that they hold: the state stays, \
            but history before the first kept event can no longer be replayed or blamed. Without \
            --at everything is removed that the state at the end does not need. --dry-run says \
            what would be removed. No server may be running on the log.
            """)

    @OptionGroup var log: LogArguments

    @Option(
        help: ArgumentHelp(
            "Keep the events after this point: a sequence, a time, @-1000. (default: the end)",
            valueName: "point"))
    var at: String?

    @Flag(help: "Only say what would be removed; nothing is changed, and a server may be running.")
    var dryRun = false

    func validate() throws { try log.checkIsOwnDirectory() }

    func run(printingTo output: LineOutput) async throws {
        if !dryRun { try LogCompaction(log.directory).checkLock() }
        // Fails if there is no log; opening the store would make one.
        let history = try History(log.directory)
        let report = dryRun ? try plan(history) : try compact(history)
        if log.json { return try output.write(report.json(isPlan: dryRun).text) }
        let (segments, bytes) = (
            report.removedSegments.of("segment"), report.removedBytes.of("byte")
        )
        // Segments may be compressed before they go.
        try output.write(
            dryRun
                ? """
                Would remove \(segments), about \(bytes); the log would begin with event \(report.firstSequence). Nothing \
                was changed.
                """
                : "Removed \(segments), \(bytes); the log begins with event \(report.firstSequence)."
        )
    }

    private func compact(_ history: History) throws -> CompactionReport {
        guard let at else { return try EventStore.compact(log.directory) }
        return try LogCompaction(log.directory)
            .run(checkpoint: newestCheckpoint(through: history.sequence(of: at)))
    }

    private func plan(_ history: History) throws -> CompactionReport {
        let compaction = LogCompaction(log.directory)
        guard let at else { return try compaction.plan(checkpoint: history.last, isEnd: true) }
        return try compaction.plan(
            checkpoint: newestCheckpoint(through: history.sequence(of: at)))
    }

    private func newestCheckpoint(through sequence: UInt64) throws -> UInt64 {
        let newest = try EventStore.newestCheckpoint(of: log.directory, through: sequence)
        guard let newest else {
            throw CommandFailure(
                """
                No checkpoint of \(log.directory) that this version can use is at or before event \
                \(sequence), so every event is still needed. Nothing was changed.
                """)
        }
        return newest
    }
}

extension CompactionReport {
    fileprivate func json(isPlan: Bool) -> JSONValue {
        [
            "dryRun": .bool(isPlan), "firstSequence": JSONValue(firstSequence),
            "removedSegments": .int(Int64(removedSegments)),
            "removedBytes": JSONValue(removedBytes),
        ]
    }
}
