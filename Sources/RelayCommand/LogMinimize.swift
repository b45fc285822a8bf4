import ArgumentParser
import Console
import EventLog
import EventStore
import RelayJSON
import RelayServer

/// `relay log minimize`: the smallest log that still fails.
struct LogMinimize: HistoryTool {
    static let configuration = CommandConfiguration(
        commandName: "minimize",
        abstract: "Make the smallest log on which a command still fails, as a test fixture.",
        usage: "relay log minimize <dir> <newdir> [--re-execute] [--json] -- <command> ...",
        discussion: """
            Removes mutations with their responses, then records of the seed, as long as the \
            command still fails on what is left. Each try is a separate log; {} in the command's \
            arguments stands for its directory, which is otherwise appended as the last argument; \
            RELAY_DATA names it as well. The command fails when it ends with 1 to 127, other than \
            125, which cannot tell. The remaining events write what they wrote, so the result may \
            be a state that the schema does not allow; with --re-execute the mutations that \
            directives of the schema describe are carried out again in each try, from their \
            arguments, on what is left before them. One that is refused then ends with its \
            refusal, which is listed. The original is only read, and a server may write to it \
            meanwhile; the new directory is made at the end.
            """)

    @OptionGroup var log: LogArguments

    @Argument(help: ArgumentHelp("The new directory: missing or empty.", valueName: "newdir"))
    var destination: String

    @Argument(
        parsing: .postTerminator,
        help: ArgumentHelp("The command that fails, and its arguments.", valueName: "command"))
    var command: [String] = []

    @Flag(
        help: """
            Carry out the remaining mutations again from their arguments, under the schema in the \
            log, instead of writing what they wrote.
            """)
    var reExecute = false

    func validate() throws {
        guard !command.isEmpty else {
            throw ValidationError("Give a command that fails on the log after --.")
        }
    }

    func run(on history: History, printingTo output: LineOutput) async throws {
        try checkIsNew(destination, "the smallest log is a new one")
        let trial = TrialCommand(command)
        var minimization = LogMinimization(
            history, trial.wantsDirectory ? trial : TrialCommand(command + ["{}"]),
            reExecutes: reExecute)
        let selection = try Workspace.with { try minimization.run(in: $0) }
        let (count, outcome) = try minimization.copy(selection, to: destination, .always)
        let runs = minimization.runs
        complain("Note: \(outcome?.summary() ?? Self.replayedNote)")
        if log.json {
            var report: JSONObject = [
                "directory": .string(destination), "events": JSONValue(count),
                "of": JSONValue(history.last), "runs": .int(Int64(runs)),
                "effects": outcome == nil ? "replayed" : "re-executed",
            ]
            if let outcome {
                report["carriedOut"] = .int(Int64(outcome.carriedOut))
                report["replayed"] = .int(Int64(outcome.replayed))
                report["refusals"] = .array(outcome.refusals.map(\.json))
            }
            return try output.write(JSONValue.object(report).text)
        }
        for refusal in outcome?.refusals ?? [] { try output.write(refusal.line) }
        try output.write(
            """
            \(destination) has \(count) of \(history.last.of("event")) and still fails, after \
            \(runs.of("run")).
            """)
    }
}

extension LogMinimize {
    private static let replayedNote = """
        effects were replayed: the remaining events write what they wrote, so the result may be a \
        state that the schema does not allow. --re-execute carries the mutations out again.
        """
}

/// The search for the smallest log that still fails.
private struct LogMinimization {
    private let history: History
    private let command: TrialCommand
    private let reExecutes: Bool
    private let progress = ProgressBar("Minimizing")
    private(set) var runs = 0

    init(_ history: History, _ command: TrialCommand, reExecutes: Bool) {
        var history = history
        // The search has its own progress bar.
        history.watch = nil
        self.history = history
        self.command = command
        self.reExecutes = reExecutes
    }

    /// - Returns: how many events the copy has, and what was carried out again; nil where effects are replayed.
    func copy(
        _ selection: HistorySelection, to directory: String, _ durability: Durability
    ) throws -> (eventCount: UInt64, outcome: ReExecution.Outcome?) {
        let options = EventLogOptions(forSmallLog: durability)
        guard reExecutes else {
            return (try history.copy(selection, to: directory, options: options), nil)
        }
        return try history.copyCarryingOutAgain(selection, to: directory, options: options)
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
        _ = try copy(selection, to: directory, .none)
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
