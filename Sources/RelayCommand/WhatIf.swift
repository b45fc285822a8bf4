import ArgumentParser
import EventStore
import RelayJSON
import RelayStore

/// `relay what-if`: what would be different?
struct WhatIf: HistoryTool {
    static let configuration = CommandConfiguration(
        commandName: "what-if",
        abstract: "Show what would be different today if the history had taken another course.",
        usage: """
            relay what-if <dir> [--skip <sequence> ...] [--exchange <a> <b>]
                [--insert <file> --after <point>] [--json]
            """,
        discussion: """
            Folds the log again, in memory: without some events, with one more, or with two in each \
            other's place; the other events write what they wrote. With a mutation goes its \
            response. In each line, before is what is, and after is what would be. Exit code 2 when \
            something would be different. Works offline and beside a running server; never writes.

            A file to be inserted has a GraphQL mutation, which is carried out as the schema of that \
            moment says, or records as a seed file has them, a line each: the fields that are given \
            are written, and {"id": ID, "deleted": true} deletes a record.
            """)

    @OptionGroup var log: LogArguments

    @Option(
        parsing: .upToNextOption, help: ArgumentHelp("Events to leave out.", valueName: "sequence"))
    var skip: [UInt64] = []

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp("Two events to change places.", valueName: "sequence"))
    var exchange: [UInt64] = []

    @Option(
        help: ArgumentHelp(
            "Something more that happens; may be given several times.", valueName: "file"))
    var insert: [String] = []

    @Option(
        help: ArgumentHelp(
            "The event right behind which --insert happens: a sequence, a time, @-3.",
            valueName: "point"))
    var after: [String] = []

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
        for (file, point) in zip(insert, after) {
            let sequence = try history.sequence(of: point)
            change.inserted[sequence, default: []] +=
                try InsertedEvent(file).writes(after: sequence, of: history)
        }
        let differences = try history.whatIf(change)
        for difference in differences {
            try output.write(log.json ? difference.json.text : difference.line)
        }
        if !differences.isEmpty { throw ExitCode.foundSomething }
    }
}
