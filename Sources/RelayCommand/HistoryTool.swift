import ArgumentParser
import Console
import EventStore

/// A command on the history in a log's directory, or in a journal in PostgreSQL, of which it reads a copy.
///
/// It reads what it can of a damaged log: events even after the damage, states before it, and after it those
/// that a checkpoint leads to. What could not be read is reported on standard error, and by exit code 2.
protocol HistoryTool: LogTool {
    var log: LogArguments { get }

    func run(on history: History, printingTo output: LineOutput) async throws
}

extension HistoryTool {
    func run(printingTo output: LineOutput) async throws {
        try await readHistory(printingTo: output)
    }

    func readHistory(printingTo output: LineOutput) async throws {
        try log.checkIsDirectory("This command needs")
        var history = try History(LogPlace(log.directory).directory())
        let progress = ProgressBar("Reading \(log.name)")
        history.watch = { progress.show($0, of: $1) }
        do {
            try await run(on: history, printingTo: output)
        } catch  where !isDamage(error) {
            tell(history.damages)
            throw error
        }
        try output.flush()
        tell(history.damages)
        if !history.damages.all.isEmpty { throw ExitCode.foundSomething }
    }

    private func tell(_ damages: DamageNotes) {
        for damage in damages.all { complain("Error: Could not read \(damage).") }
    }
}
