import ArgumentParser
import Console
import EventLog
import EventStore
import LogTools
import RelayJSON

/// `relay log repair`: a damaged log becomes one that can be opened.
struct LogRepairCommand: LogTool {
    static let configuration = CommandConfiguration(
        commandName: "repair",
        abstract: "Repair a damaged log for a server to start on, losing as little as possible.",
        discussion: """
            Keeps the events that lead to the newest state that can be recovered: those before the \
            damage, or, if a later checkpoint is good, those after it; then no change is lost, but \
            the earlier events can no longer be read. With --keep history it keeps the longest run of \
            events instead, and the state that they lead to. --plan says what either would keep, and \
            changes nothing. What is removed is kept next to the log under names that end in \
            ".torn"; an undamaged log is not changed. The epoch rises, so clients learn that what \
            they saw may be gone. No server may be running on the log, except for --plan.
            """)

    @OptionGroup var log: LogArguments

    @Option(
        help: """
            What to keep where not both can be kept: "state", the newest, or "history", the longest.
            """)
    var keep = RepairGoal.state

    @Flag(
        help: """
            Only say what would be kept, what would be lost and which files would change; exit code 2 \
            when there is something to repair.
            """)
    var plan = false

    func validate() throws { try log.checkIsOwnDirectory() }

    func run(printingTo output: LineOutput) async throws {
        let report =
            plan
            ? try EventStore.planRepair(log.directory, keeping: keep)
            : try EventStore.repair(log.directory, keeping: keep)
        if log.json {
            try output.write(report.json.text)
        } else {
            for sentence in report.sentences { try output.write(sentence) }
        }
        if plan, report.epoch != nil { throw ExitCode.foundSomething }
    }
}

extension RepairGoal: ExpressibleByArgument {}

extension RepairReport {
    fileprivate var json: JSONValue {
        var object: JSONObject = [
            "damaged": .bool(epoch != nil), "repaired": .bool(epoch != nil && !isPlan),
            "firstSequence": JSONValue(firstSequence), "lastSequence": JSONValue(lastSequence),
        ]
        if let checkpoint { object["checkpoint"] = JSONValue(checkpoint) }
        if let lost { object["lost"] = Self.json(lost) }
        if let forgotten { object["forgotten"] = Self.json(forgotten) }
        if let alternative {
            var other: JSONObject = [
                "keep": .string(alternative.goal.rawValue),
                "firstSequence": JSONValue(alternative.firstSequence),
                "lastSequence": JSONValue(alternative.lastSequence),
            ]
            if let checkpoint = alternative.checkpoint {
                other["checkpoint"] = JSONValue(checkpoint)
            }
            object["alternative"] = .object(other)
        }
        object["endIsCertain"] = .bool(isEndCertain)
        object["damages"] = .array(damages.map(\.json))
        object["rebuilt"] = .array(rebuilt.map(JSONValue.string))
        object["copies"] = .array(copies.map(JSONValue.string))
        if let epoch { object["epoch"] = .int(Int64(epoch)) }
        return .object(object)
    }

    private static func json(_ events: ClosedRange<UInt64>) -> JSONValue {
        ["from": JSONValue(events.lowerBound), "through": JSONValue(events.upperBound)]
    }
}

extension LogDamage {
    /// Where it is and what is wrong.
    var json: JSONValue {
        var object: JSONObject = ["file": .string(file), "offset": JSONValue(offset)]
        if let length { object["length"] = JSONValue(length) }
        if let sequence { object["sequence"] = JSONValue(sequence) }
        object["reason"] = .string(reason)
        return .object(object)
    }
}
