import ArgumentParser
import EventStore
import RelayJSON
import RelayStore

/// `relay blame`: who wrote it?
struct Blame: HistoryTool {
    static let configuration = CommandConfiguration(
        abstract: "Show every write of a record or of one of its fields, the newest first.",
        discussion: "Works offline and beside a running server; never writes.")

    @OptionGroup var log: LogArguments

    @Argument(help: ArgumentHelp("A record's id, or ID.field.", valueName: "record[.field]"))
    var path: String

    func run(on history: History, printingTo output: LineOutput) async throws {
        let symbols = try history.snapshot(at: history.last).symbols
        let path = try RecordPath(path) { symbols.findRecord($0) != nil }
        let entries = try history.blame(path.record, field: path.field)
        guard !entries.isEmpty else {
            throw CommandFailure("No event of \(log.directory) ever wrote \(self.path).")
        }
        let namesField = path.field == nil
        for entry in entries {
            try output.write(
                log.json
                    ? entry.json(namingField: namesField).text
                    : entry.line(namingField: namesField))
        }
    }
}
