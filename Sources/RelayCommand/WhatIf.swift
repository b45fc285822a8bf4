import ArgumentParser
import Console
import EventStore
import RelayJSON
@_spi(Rooms) import RelayRecords
import RelayServer
import StoreEngine

/// `relay what-if`: what would be different?
struct WhatIf: HistoryTool {
    static let configuration = CommandConfiguration(
        commandName: "what-if",
        abstract: "Show what would be different now if the history had taken another course.",
        usage: """
            relay what-if <dir> [--skip <sequence> ...] [--exchange <a> <b>]
                [--insert <file> --after <point>] [--re-execute] [--json]
            """,
        discussion: """
            Folds the log again, in memory: without some events, with one more, or with two \
            swapped. A mutation goes together with its response. The other events write what they \
            wrote, so the result may be a state that the schema does not allow; with --re-execute \
            the mutations that directives of the schema describe are carried out again from their \
            arguments, and those that would be refused now are listed. In each line, the left side \
            (before) is what is, and the right side (after) what would be. Exit code 2 when \
            something would be different. Works offline and while a server is running; never \
            writes.

            A file to insert has a GraphQL mutation, which is carried out under the schema of that \
            moment, or records in the form of a seed file, one per line: the given fields are \
            written, and {"id": ID, "deleted": true} deletes a record.
            """)

    @OptionGroup var log: LogArguments

    @Option(
        parsing: .upToNextOption, help: ArgumentHelp("Events to leave out.", valueName: "sequence"))
    var skip: [UInt64] = []

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp("Two events to swap.", valueName: "sequence"))
    var exchange: [UInt64] = []

    @Option(
        help: ArgumentHelp(
            "Something to insert; may be given several times.", valueName: "file"))
    var insert: [String] = []

    @Option(
        help: ArgumentHelp(
            "The event after which --insert happens: a sequence, a time, @-3.",
            valueName: "point"))
    var after: [String] = []

    @Flag(
        help: """
            Carry out the mutations after the change again from their arguments, under the schema \
            in the log, instead of writing what they wrote.
            """)
    var reExecute = false

    func validate() throws {
        guard !skip.isEmpty || !exchange.isEmpty || !insert.isEmpty else {
            throw ValidationError("Give --skip, --exchange or --insert.")
        }
        guard exchange.isEmpty || exchange.count == 2 else {
            throw ValidationError("--exchange takes two events.")
        }
        guard insert.count == after.count else {
            throw ValidationError("Each --insert needs its --after.")
        }
    }

    func run(on history: History, printingTo output: LineOutput) async throws {
        var change = HistoryChange(skipped: Set(skip))
        if let one = exchange.first, let other = exchange.last { change.exchanged = [(one, other)] }
        if reExecute { return try carryOutAgain(change, of: history, output) }
        let ids = InventedIDs()
        for (file, point) in zip(insert, after) {
            let sequence = try history.sequence(of: point)
            change.inserted[sequence, default: []] +=
                try InsertedEvent(file, ids: ids).writes(after: sequence, of: history)
        }
        let differences = try history.whatIf(change)
        complain(
            """
            Note: effects were replayed: every other event writes what it wrote, so this may be a state \
            that the schema does not allow. --re-execute carries the mutations out again.
            """)
        if insert.count > 1 {
            complain(
                """
                Note: each insertion was carried out on the state that there was, without the others. \
                --re-execute takes one after the other.
                """)
        }
        try print(differences, output)
    }

    private func carryOutAgain(
        _ change: HistoryChange, of history: History, _ output: LineOutput
    ) throws {
        var course = ReExecution(history, change)
        let ids = InventedIDs()
        for (file, point) in zip(insert, after) {
            let event = try InsertedEvent(file, ids: ids)
            try course.insert(after: history.sequence(of: point)) { state, time in
                try event.writes(on: state, at: time)
            }
        }
        let outcome = try course.run()
        complain("Note: \(outcome.summary(of: " after the change"))")
        for refusal in outcome.refusals {
            try output.write(log.json ? refusal.json.text : refusal.line)
        }
        try print(outcome.differences, output)
    }

    private func print(_ differences: [FieldDifference], _ output: LineOutput) throws {
        for difference in differences {
            try output.write(log.json ? difference.json.text : difference.line)
        }
        if !differences.isEmpty { throw ExitCode.foundSomething }
    }
}

extension ReExecution.Outcome {
    /// What was done, for people.
    /// - Parameter which: which mutations these are, after a space; empty for all.
    func summary(of which: String = "") -> String {
        let done = "\(carriedOut.of("mutation"))\(which) carried out again"
        guard replayed > 0 else { return done + "." }
        return """
            \(done); of \(replayed) more the effects were replayed, because a program's own code carries \
            them out.
            """
    }
}

extension ReExecution.Refusal {
    var json: JSONValue {
        [
            "sequence": JSONValue(sequence), "operation": .string(operation),
            "refused": .string(message),
        ]
    }

    var line: String {
        "\(sequence)".padded(to: 8) + operation.padded(to: 24) + "refused: \(message)"
    }
}
