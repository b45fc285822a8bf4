import ArgumentParser
import Console
import EventLog
import EventStore
import PostgreSQL
import RelayJSON
import SharedJournal

import struct ArgumentParser.Argument

/// `relay journal import`: a directory's log in PostgreSQL.
struct JournalImportCommand: LogTool {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Put the log of a directory into PostgreSQL, where several servers can use it.",
        discussion: """
            No server may be running on the directory. Every byte of the log is checked first. \
            Events, hashes and cursors stay what they are, and so does the directory. The tables \
            are made; a journal that is there already is left alone. When an import was \
            interrupted, the same one again goes on where it ended.
            """)

    @Argument(help: ArgumentHelp("The log's directory.", valueName: "dir"))
    var directory: String

    @OptionGroup var journal: JournalArguments

    func run(printingTo output: LineOutput) async throws {
        let address = try journal.address()
        let progress = ProgressBar("Importing \(directory)")
        var work = JournalImport(directory, to: address, abandonment: try Abandonment())
        work.progress = { progress.show($0, of: $1) }
        let report = try work.run(cursorKey: CursorKey.stored(in: directory))
        ProgressBar.clear()
        if journal.json { return try output.write(report.json.text) }
        let events =
            report.head.sequence < report.firstSequence
            ? "no events" : "events \(report.firstSequence) to \(report.head.sequence)"
        let resumed = report.resumedAfter.map { ", continued after event \($0)" } ?? ""
        try output.write("Imported \(directory) into \(address): \(events)\(resumed).")
        try output.write("head  \(report.head.hash)")
    }
}

extension JournalImport.Report {
    fileprivate var json: JSONValue {
        .object(
            JSONObject(present: [
                "store": .string("\(storeID)"), "firstSequence": JSONValue(firstSequence),
                "sequence": JSONValue(head.sequence), "epoch": .int(Int64(head.epoch)),
                "head": .string("\(head.hash)"), "frames": .int(Int64(frames)),
                "bytes": .int(Int64(byteCount)),
                "resumedAfter": resumedAfter.map { JSONValue($0) },
            ]))
    }
}
