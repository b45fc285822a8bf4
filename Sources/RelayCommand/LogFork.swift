import ArgumentParser
import Console
import EventLog
import EventStore
import RelayJSON

/// `relay log fork`: a log that begins like another.
struct LogFork: HistoryTool {
    static let configuration = CommandConfiguration(
        commandName: "fork",
        abstract: "Copy a log up to one point into a new directory, on which a server can run.",
        discussion: """
            The copy diverges from there: its epoch is higher, so cursors tell the two apart. The \
            original is only read, and a server may write to it meanwhile.
            """)

    @OptionGroup var log: LogArguments

    @Option(
        help: ArgumentHelp(
            "The last event of the copy: a sequence, a time, @-3.", valueName: "point"))
    var at: String

    @Argument(help: ArgumentHelp("The new directory: missing or empty.", valueName: "newdir"))
    var destination: String

    func run(on history: History, printingTo output: LineOutput) async throws {
        try history.fork(at: history.sequence(of: at), to: destination)
        let copy = try EventLogReader(destination)
        let head = try copy.head()
        if log.json {
            let report: JSONValue = [
                "directory": .string(destination), "sequence": JSONValue(head.sequence),
                "epoch": .int(Int64(copy.metadata.epoch)), "head": .string("\(head.hash)"),
            ]
            return try output.write(report.text)
        }
        try output.write(
            """
            Copied \(log.name) through event \(head.sequence) into \(destination), \
            epoch \(copy.metadata.epoch).
            """)
    }
}
