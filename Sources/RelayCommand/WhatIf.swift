import ArgumentParser
import EventStore
import RelayJSON

/// `relay what-if`: what would be different?
struct WhatIf: HistoryTool {
    static let configuration = CommandConfiguration(
        commandName: "what-if",
        abstract: "Show what would be different today if some events had never been.",
        discussion: """
            Folds the log again without them, in memory; other events write what they wrote. With a \
            mutation goes its response. In each line, before is what is, and after is what would \
            be. Exit code 2 when something would be different. Works offline and beside a running \
            server; never writes.
            """)

    @OptionGroup var log: LogArguments

    @Option(
        parsing: .upToNextOption, help: ArgumentHelp("Events to leave out.", valueName: "sequence"))
    var skip: [UInt64]

    func run(on history: History, printingTo output: LineOutput) async throws {
        let differences = try history.whatIf(skipping: Set(skip))
        for difference in differences {
            try output.write(log.json ? difference.json.text : difference.line)
        }
        if !differences.isEmpty { throw ExitCode.foundSomething }
    }
}
