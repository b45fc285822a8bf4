import ArgumentParser
import Console
import EventLog
import EventStore
import PostgreSQL
import RelayJSON
import SharedJournal

/// `relay journal verify`: is every frame of a journal what was appended?
struct JournalVerifyCommand: LogTool {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Check every frame of a journal.",
        discussion: """
            Reads all frames: checksums, sequences, the chain of hashes, terms, and whether the \
            journal has what its servers say they have read from it. Prints the head hash, which \
            identifies the history: a log with the same head hash is the same. Exit code 2 when \
            something is damaged or missing; never writes.
            """)

    @OptionGroup var journal: JournalArguments

    func run(printingTo output: LineOutput) async throws {
        let address = try journal.address()
        let progress = ProgressBar("Checking \(address)")
        let connection = try JournalConnection(address, abandonment: try Abandonment())
        let found = try connection.verify { progress.show($0, of: $1) }
        ProgressBar.clear()
        if journal.json {
            try output.write(found.json.text)
        } else {
            for line in found.lines { try output.write(line) }
        }
        try output.flush()
        if let damage = found.damage {
            complain("Error: \(damage)")
            throw ExitCode.foundSomething
        }
    }
}

extension JournalVerification {
    fileprivate var json: JSONValue {
        .object(
            JSONObject(present: [
                "intact": .bool(damage == nil),
                "head": [
                    "sequence": JSONValue(head.sequence), "epoch": .int(Int64(head.epoch)),
                    "hash": .string("\(head.hash)"),
                ],
                "firstSequence": JSONValue(history.firstSequence), "events": JSONValue(events),
                "frames": JSONValue(frames), "bytes": JSONValue(byteCount),
                "term": JSONValue(term), "damage": damage.map { .string($0.message) },
            ]))
    }

    fileprivate var lines: [String] {
        let extent =
            events == 0 ? "no events" : "events \(history.firstSequence) to \(head.sequence)"
        return [
            "\(damage == nil ? "intact" : "damaged")  "
                + [extent, frames.of("frame"), byteCount.of("byte")].joined(separator: ", "),
            "head    \(head.hash)  event \(head.sequence), epoch \(head.epoch)",
        ]
    }
}
