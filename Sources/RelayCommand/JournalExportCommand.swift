import ArgumentParser
import Console
import EventLog
import EventStore
import PostgreSQL
import RelayJSON
import SharedJournal

import struct ArgumentParser.Argument

/// `relay journal export`: a journal as a directory's log.
struct JournalExportCommand: LogTool {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Make a directory's log of a journal, on which a single server can run.",
        discussion: """
            The log has the same events and the same hashes. Every frame is checked before it is \
            written. Servers may go on meanwhile; what they append later is not in the log. Until \
            it is complete, the log is in DIR.incomplete, and an export that was interrupted goes \
            on there.
            """)

    @OptionGroup var journal: JournalArguments

    @Argument(help: ArgumentHelp("The new directory: missing or empty.", valueName: "dir"))
    var directory: String

    func run(printingTo output: LineOutput) async throws {
        let address = try journal.address()
        let progress = ProgressBar("Exporting \(address)")
        var work = JournalExport(address, to: directory)
        work.progress = { progress.show($0, of: $1) }
        let (head, history) = try work.run(abandonment: Abandonment())
        try CursorKey.store(history.cursorKey, in: directory)
        ProgressBar.clear()
        if journal.json {
            let report: JSONValue = [
                "directory": .string(directory), "store": .string("\(history.storeID)"),
                "firstSequence": JSONValue(history.firstSequence),
                "sequence": JSONValue(head.sequence), "epoch": .int(Int64(head.epoch)),
                "head": .string("\(head.hash)"),
            ]
            return try output.write(report.text)
        }
        try output.write(
            "Exported \(address) through event \(head.sequence) into \(directory).")
        try output.write("head  \(head.hash)")
    }
}
