import ArgumentParser
import Console
import EventLog
import RelayJSON
import Threads

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// `relay bench append`: how fast events become durable.
struct BenchAppend: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "append",
        abstract: "Measure durable appends to a log on this machine's disk.",
        discussion: """
            Every batch is one write and one sync, as under a server with --durability always. \
            append_events_per_s: events made durable in a second. append_batch_p99_us: from handing \
            a batch over to hearing that it is durable; 99 of 100 batches take no longer. Each is \
            the median of all runs.
            """)

    @Option(help: ArgumentHelp("Size of an event.", valueName: "n"))
    var bytes = 256

    @Option(help: ArgumentHelp("Events in a batch.", valueName: "n"))
    var batch = 1

    @Option(help: ArgumentHelp("How long each run takes.", valueName: "s"))
    var seconds = 2.0

    @Option(
        help: ArgumentHelp(
            """
            Where logs are made, and removed again; say one on the disk to be measured. (default: \
            the current directory)
            """, valueName: "dir"))
    var data = "."

    @Option(help: ArgumentHelp("Runs; the median is shown.", valueName: "n"))
    var runs = 5

    @OptionGroup var measures: MeasureOptions

    func validate() throws {
        guard 0...(64 << 20) ~= bytes else {
            throw ValidationError("--bytes must be from 0 to 67108864.")
        }
        guard 1...1_000_000 ~= batch, batch * (bytes + 16) <= 256 << 20 else {
            throw ValidationError("--batch must be at least 1, and a batch at most 256 MiB.")
        }
        guard seconds > 0, seconds <= 3_600 else {
            throw ValidationError("--seconds must be more than 0 and at most 3600.")
        }
        if runs < 5 { throw ValidationError("--runs must be at least 5.") }
    }

    func run() async throws {
        var benchmark = AppendBenchmark()
        benchmark.eventSizeBytes = bytes
        benchmark.batchSize = batch
        benchmark.seconds = seconds
        let progress = ProgressBar("Appending")
        defer { ProgressBar.clear() }
        var results: [AppendBenchmark.Result] = []
        let directory = try TemporaryLog(in: data)
        let stop = StopFlag()
        for run in 0..<runs where !stop.isSet {
            progress.show(UInt64(run), of: UInt64(runs))
            results.append(try await measure(benchmark, in: directory))
        }
        guard !stop.isSet else { throw CommandFailure("Stopped before the end of all runs.") }
        ProgressBar.clear()
        let taken: JSONObject = [
            "bytes": .int(Int64(bytes)), "batch": .int(Int64(batch)), "seconds": .double(seconds),
            "runs": .int(Int64(runs)),
        ]
        measures.report(
            "append_events_per_s", median(results.map(\.eventsPerSecond)), "events/s", taken)
        measures.report(
            "append_batch_p99_us", median(results.map { $0.latencyMicroseconds(percentile: 0.99) }),
            "us", taken)
    }

    /// Blocks a thread of its own, not one of the few that everything else runs on.
    private func measure(
        _ benchmark: AppendBenchmark, in directory: TemporaryLog
    ) async throws -> AppendBenchmark.Result {
        defer { directory.empty() }
        return try await onThreadOfItsOwn { try benchmark.run(in: directory.path) }
    }
}

/// A directory that is removed when it is released.
private final class TemporaryLog: Sendable {
    let path: String

    init(in directory: String) throws {
        path = directory + "/relay-bench-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { empty() }

    /// Removes it with all that is in it.
    func empty() { try? FileManager.default.removeItem(atPath: path) }
}
