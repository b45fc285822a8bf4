import ArgumentParser
import Console
import EventLog
import EventStore
import LogTools
import RelayJSON

/// `relay log verify`: is every byte of a log what was written?
struct LogVerify: LogTool {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Check every byte of a log.",
        discussion: """
            Reads all segments and checkpoints: checksums, the chain of hashes, gaps, and whether the \
            log begins and ends where it is recorded. Prints the head hash, which identifies the \
            history: two logs with the same head hash are the same. Says what nothing in the \
            directory can tell, and what was not checked. Exit code 2 when something is damaged or \
            missing; never writes.
            """)

    @OptionGroup var log: LogArguments

    @Flag(help: "Also fold all events again, and compare with the state in each checkpoint.")
    var deep = false

    func run(printingTo output: LineOutput) async throws {
        let directory = try LogPlace(log.directory).directory()
        let report = try verify(directory)
        let checkpoints =
            deep && report.isIntact ? try CheckpointFindings(History(directory)) : nil
        let notChecked = report.unknowns + (checkpoints == nil ? [Self.shallow] : [])
        if log.json {
            var object = report.json
            object["notChecked"] = .array(notChecked.map(JSONValue.string))
            if let checkpoints { for (key, value) in checkpoints.json { object[key] = value } }
            try output.write(JSONValue.object(object).text)
        } else {
            for line in report.lines(withCheckpoints: checkpoints == nil) {
                try output.write(line)
            }
            for line in checkpoints?.lines ?? [] { try output.write(line) }
            for sentence in notChecked { try output.write("unknown".padded(to: 10) + sentence) }
        }
        try output.flush()
        if let damage = report.damages.first {
            complain(
                """
                Error: \(log.name) is damaged: \(damage). \
                "relay log repair --plan" says what a repair keeps.
                """)
            throw ExitCode.foundSomething
        }
        if let fault = checkpoints?.fault {
            complain("Error: \(log.name): \(fault)")
            throw ExitCode.foundSomething
        }
    }

    private static let shallow =
        "Whether the events lead to the states that the checkpoints hold: --deep folds them all."

    private func verify(_ directory: String) throws -> LogVerification {
        let progress = ProgressBar("Checking \(log.name)")
        defer { ProgressBar.clear() }
        return try EventStore.verify(directory) { progress.show($0, of: $1) }
    }
}

extension LogVerification {
    fileprivate var json: JSONObject {
        JSONObject(present: [
            "intact": .bool(isIntact),
            "head": [
                "sequence": JSONValue(head.sequence), "epoch": .int(Int64(head.epoch)),
                "hash": .string("\(head.hash)"),
            ],
            "firstSequence": sequences.map { JSONValue($0.lowerBound) },
            "events": JSONValue(events), "frames": JSONValue(frames),
            "segments": .int(Int64(segments)), "bytes": JSONValue(byteCount),
            "tornBytes": JSONValue(tornBytes), "certainThrough": JSONValue(certainThrough),
            "checkpoints": .array(
                checkpoints.map {
                    ["sequence": JSONValue($0.sequence), "outcome": .string($0.verdict.word)]
                }),
            "damages": .array(damages.map(\.json)),
        ])
    }

    fileprivate func lines(withCheckpoints: Bool) -> [String] {
        let extent = sequences.map { "events \($0.lowerBound) to \($0.upperBound)" } ?? "no events"
        var lines = [
            "\(isIntact ? "intact" : "damaged")  "
                + [extent, frames.of("frame"), segments.of("segment"), byteCount.of("byte")]
                .joined(separator: ", "),
            "head    \(head.hash)  event \(head.sequence), epoch \(head.epoch)",
        ]
        lines += damages.map { "damage  \($0)" }
        if withCheckpoints {
            lines += checkpoints.map { "checkpoint \($0.sequence)  \($0.verdict.word)" }
        }
        if tornBytes > 0 {
            lines.append(
                """
                torn    \(tornBytes) bytes of an unfinished write at the end, which the next start \
                sets aside
                """)
        }
        return lines
    }
}

extension CheckpointFinding.Verdict {
    fileprivate var word: String {
        switch self {
        case .usable: "whole"
        case .otherVersion: "otherVersion"
        case .damaged: "damaged"
        }
    }
}
