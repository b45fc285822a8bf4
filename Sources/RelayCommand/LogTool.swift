import ArgumentParser
import EventLog
import EventStore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A command on a log's directory.
///
/// Its output is handed over whatever happens, a reader that leaves and Ctrl-C end it quietly, and damage
/// of the log that it meets is told by exit code 2.
protocol LogTool: AsyncParsableCommand {
    func run(printingTo output: LineOutput) async throws
}

extension LogTool {
    func run() async throws {
        let output = LineOutput()
        Interruption.arm()
        defer { ProgressBar.clear() }
        do {
            do {
                try await run(printingTo: output)
            } catch {
                // What was found before it.
                try output.flush()
                throw error
            }
            try output.flush()
        } catch is ReaderLeft {
            return
        } catch let error as EventStoreError where error.code == .notAPoint {
            throw ValidationError(error.message)
        } catch  where isDamage(error) {
            complain("Error: \(error)")
            throw ExitCode.foundSomething
        }
    }
}

/// A command on the history in a log's directory.
///
/// Of a damaged log it reads what it can: events also behind the damage, states before it, and behind it those
/// that a checkpoint leads to. What could not be read is told on standard error, and by exit code 2.
protocol HistoryTool: LogTool {
    var log: LogArguments { get }

    func run(on history: History, printingTo output: LineOutput) async throws
}

extension HistoryTool {
    func run(printingTo output: LineOutput) async throws {
        try await readHistory(printingTo: output)
    }

    func readHistory(printingTo output: LineOutput) async throws {
        var history = try History(log.directory)
        let progress = ProgressBar("Reading \(log.directory)")
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

extension ExitCode {
    /// A difference or damage was found.
    static let foundSomething = ExitCode(2)
}

/// What every command on a log takes.
struct LogArguments: ParsableArguments {
    @Argument(help: ArgumentHelp("The log's directory.", valueName: "dir"))
    var directory: String

    @Flag(help: "Print JSON, one object a line.")
    var json = false
}

/// Checks that a directory is missing or empty, for a command that makes a log there.
func checkIsNew(_ directory: String, _ reason: String) throws {
    let contents = try? FileManager.default.contentsOfDirectory(atPath: directory)
    guard contents?.isEmpty ?? true else {
        throw CommandFailure("\(directory) is not empty: \(reason). Nothing was changed.")
    }
}

/// Whether an error says that bytes of a log are not what was written.
private func isDamage(_ error: any Error) -> Bool {
    switch error {
    case let error as LogError: error.code == .damaged
    case let error as EventStoreError: error.code == .log(.damaged)
    default: false
    }
}
