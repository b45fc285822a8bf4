import ArgumentParser
import EventLog
import RelayJSON

/// `relay log repair`: a damaged log becomes one that can be opened.
struct LogRepairCommand: LogTool {
    static let configuration = CommandConfiguration(
        commandName: "repair",
        abstract: "Cut a damaged log before its first damage.",
        discussion: """
            Keeps every event before the damage; what is cut off is kept beside it under another \
            name, and nothing is done to a log that is not damaged. The epoch rises, so clients \
            learn that what they saw may be gone. No server may be running on the log.
            """)

    @OptionGroup var log: LogArguments

    func run(printingTo output: LineOutput) async throws {
        let report = try LogRepair(log.directory).run()
        if log.json { return try output.write(report.json.text) }
        for sentence in report.sentences { try output.write(sentence) }
    }
}

extension RepairReport {
    fileprivate var json: JSONValue {
        [
            "repaired": .bool(epoch != nil),
            "lastSequence": JSONValue(lastSequence),
            "lastLost": JSONValue(lastLost),
            "damage": JSONValue(damage?.description),
            "rebuilt": .array(rebuilt.map(JSONValue.string)),
            "copies": .array(copies.map(JSONValue.string)),
            "epoch": epoch.map { .int(Int64($0)) } ?? .null,
        ]
    }
}
