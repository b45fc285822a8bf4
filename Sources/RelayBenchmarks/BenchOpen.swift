import ArgumentParser
import Console
import EventStore
import RelayJSON

/// `relay bench open`: how long a start on a log takes.
struct BenchOpen: LogTool {
    static let configuration = CommandConfiguration(
        commandName: "open",
        abstract: "Measure how long a log takes to open, and what checkpoints save.",
        discussion: """
            open_ms: to open the log as "relay serve" does, from the newest checkpoint. refold_ms: \
            to fold all its events, as a start without checkpoints does. Each is the median of all \
            runs. peak_memory_mib: the most memory that all of it took. No server may run on the \
            directory.
            """)

    @Argument(help: ArgumentHelp("The log's directory.", valueName: "dir"))
    var directory: String

    @Option(help: ArgumentHelp("Runs; the median is shown.", valueName: "n"))
    var runs = 5

    @OptionGroup var measures: MeasureOptions

    func validate() throws {
        if runs < 5 { throw ValidationError("--runs must be at least 5.") }
    }

    func run(printingTo output: LineOutput) async throws {
        let history = try History(directory)
        let progress = ProgressBar("Opening \(directory)")
        defer { ProgressBar.clear() }
        var opening: [Double] = []
        var refolding: [Double] = []
        var checkpoint: UInt64 = 0
        let clock = ContinuousClock()
        for run in 0..<runs {
            progress.show(UInt64(run), of: UInt64(runs))
            opening.append(
                try clock.measure {
                    let store = try EventStore.open(directory)
                    checkpoint = store.report.checkpoint
                    store.journal.close()
                } / .milliseconds(1))
            refolding.append(try clock.measure { _ = try history.refolded() } / .milliseconds(1))
        }
        ProgressBar.clear()
        let taken: JSONObject = [
            "events": .int(Int64(history.extent?.count ?? 0)),
            "checkpoint": .int(Int64(clamping: checkpoint)),
            "runs": .int(Int64(runs)),
        ]
        measures.report("open_ms", median(opening), "ms", taken)
        measures.report("refold_ms", median(refolding), "ms", taken)
        measures.report("peak_memory_mib", Double(peakMemoryBytes()) / 1_048_576, "MiB", taken)
    }
}
