import ArgumentParser
import EventLog
import EventStore
import RelayJSON

/// `relay log minimize`: the smallest log that still fails.
struct LogMinimize: HistoryTool {
    static let configuration = CommandConfiguration(
        commandName: "minimize",
        abstract: "Make the smallest log that still fails a command, to be a test's fixture.",
        usage: "relay log minimize <dir> <newdir> [--json] -- <command> ...",
        discussion: """
            Leaves out mutations with their responses, then records of the seed, as long as the \
            command still fails on what is left. Each try is a log of its own; {} in the command's \
            words stands for its directory, which otherwise is put behind the last word, and \
            RELAY_DATA names it, too. The command fails when it ends with 1 to 127, other than 125, \
            which cannot tell. What is left writes what it wrote, so it may be a state that the schema does \
            not allow. The original is only read, and may be written by a server meanwhile; the new \
            directory is made at the end.
            """)

    @OptionGroup var log: LogArguments

    @Argument(help: ArgumentHelp("The new directory: missing or empty.", valueName: "newdir"))
    var destination: String

    @Argument(
        parsing: .postTerminator,
        help: ArgumentHelp("The command that fails, and its arguments.", valueName: "command"))
    var command: [String] = []

    func validate() throws {
        guard !command.isEmpty else {
            throw ValidationError("Give a command that fails on the log behind --.")
        }
    }

    func run(on history: History, printingTo output: LineOutput) async throws {
        try checkIsNew(destination, "the smallest log is a new one")
        let trial = TrialCommand(command)
        var minimization = LogMinimization(
            history, trial.wantsDirectory ? trial : TrialCommand(command + ["{}"]))
        let selection = try Workspace.with { try minimization.run(in: $0) }
        let count = try history.copy(
            selection, to: destination, options: EventLogOptions(forSmallLog: .always))
        let runs = minimization.runs
        complain(
            """
            Note: effects were replayed: what is left writes what it wrote, and may be a state that the \
            schema does not allow.
            """)
        if log.json {
            let report: JSONValue = [
                "directory": .string(destination), "events": JSONValue(count),
                "of": JSONValue(history.last), "runs": .int(Int64(runs)),
                "effects": "replayed",
            ]
            return try output.write(report.text)
        }
        try output.write(
            """
            \(destination) has \(count) of \(history.last.of("event")) and still fails, after \
            \(runs.of("run")).
            """)
    }
}

/// The search for the smallest log that still fails.
private struct LogMinimization {
    private let history: History
    private let command: TrialCommand
    private let progress = ProgressBar("Minimizing")
    private(set) var runs = 0

    init(_ history: History, _ command: TrialCommand) {
        var history = history
        // The search has a bar of its own.
        history.watch = nil
        self.history = history
        self.command = command
    }

    mutating func run(in workspace: Workspace) throws -> HistorySelection {
        var selection = HistorySelection(parts: try history.parts())
        guard try fails(selection, in: workspace) else {
            throw CommandFailure("The command does not fail on the whole log. Nothing was made.")
        }
        selection.parts = try DeltaDebugging.minimize(selection.parts) { parts in
            try fails(HistorySelection(parts: parts), in: workspace)
        }
        let seed = try history.seedIDs().map { ExactText($0) }
        let parts = selection.parts
        selection.seed = Set(
            try DeltaDebugging.minimize(seed) { ids in
                try fails(HistorySelection(parts: parts, seed: Set(ids)), in: workspace)
            })
        return selection
    }

    private mutating func fails(
        _ selection: HistorySelection, in workspace: Workspace
    ) throws -> Bool {
        runs += 1
        let records = selection.seed.map { ", \($0.count.of("record")) in the seed" } ?? ""
        progress.show("run \(runs): \(selection.parts.count.of("step"))\(records)")
        let directory = "\(workspace.path)/log-\(runs)"
        defer { workspace.remove(directory) }
        try history.copy(selection, to: directory, options: EventLogOptions(forSmallLog: .none))
        return try command.run(directory: directory, environment: ["RELAY_DATA": directory]) == .bad
    }
}

extension EventLogOptions {
    /// Without what only pays in a log that grows.
    fileprivate init(forSmallLog durability: Durability) {
        self.init()
        self.durability = durability
        segmentsAhead = 0
        deflatesSealedSegments = false
    }
}
