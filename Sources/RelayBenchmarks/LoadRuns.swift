import ArgumentParser
import Console
import RelayJSON
import Threads

/// How the network benchmarks are taken.
struct LoadRuns: ParsableArguments {
    @Option(help: ArgumentHelp("How long each run takes.", valueName: "s"))
    var seconds = 2.0

    @Option(help: ArgumentHelp("Runs; the median is shown.", valueName: "n"))
    var runs = 5

    func validate() throws {
        guard seconds > 0, seconds <= 3_600 else {
            throw ValidationError("--seconds must be more than 0 and at most 3600.")
        }
        if runs < 5 { throw ValidationError("--runs must be at least 5.") }
    }

    /// Takes all runs, one after the other.
    func take<Result>(_ title: String, _ run: () async throws -> Result) async throws -> [Result] {
        let progress = ProgressBar(title)
        defer { ProgressBar.clear() }
        let stop = StopFlag()
        var results: [Result] = []
        for number in 0..<runs {
            progress.show(UInt64(number), of: UInt64(runs))
            results.append(try await run())
            if stop.isSet { throw CommandFailure("Stopped before the end of all runs.") }
        }
        return results
    }
}

/// Waits until something is so; false when it has taken too long.
func waited(_ patience: Duration, until condition: () throws -> Bool) async throws -> Bool {
    let deadline = ContinuousClock.now + patience
    while try !condition() {
        if ContinuousClock.now >= deadline { return false }
        try await Task.sleep(for: .milliseconds(5))
    }
    return true
}

/// What a network benchmark keeps behind a lock while it runs.
protocol LoadState: Sendable {
    /// What went wrong first.
    var failure: CommandFailure? { get set }
}

extension Lock where Value: LoadState {
    /// Throws when something has gone wrong.
    func check<Part: Sendable>(_ read: (Value) -> Part) throws -> Part {
        let (part, failure) = withLock { (read($0), $0.failure) }
        if let failure { throw failure }
        return part
    }

    func fail(_ message: String) {
        withLock { state in
            if state.failure == nil { state.failure = CommandFailure(message) }
        }
    }

    /// Throws as soon as something goes wrong.
    func wait(until end: ContinuousClock.Instant) async throws {
        while ContinuousClock.now < end {
            try await Task.sleep(until: min(end, .now + .milliseconds(100)))
            try check { _ in }
        }
    }
}

/// What a benchmark of deliveries has measured in one run.
struct DeliveryMeasure: Sendable {
    var latencies = LatencyHistogram()
    var seconds = 0.0
    var lost = 0
}

extension MeasureOptions {
    /// Prints the medians of several runs, and what was lost in all of them.
    func report(_ runs: [DeliveryMeasure], _ taken: JSONObject) {
        func show(_ name: String, _ unit: String, _ value: (DeliveryMeasure) -> Double) {
            report(name, median(runs.map(value)), unit, taken)
        }
        show("deliveries_per_s", "deliveries/s") { Double($0.latencies.count) / $0.seconds }
        show("delivery_mean_ms", "ms") { $0.latencies.meanMilliseconds }
        show("delivery_p50_ms", "ms") { $0.latencies.milliseconds(percentile: 0.5) }
        show("delivery_p99_ms", "ms") { $0.latencies.milliseconds(percentile: 0.99) }
        report("lost", Double(runs.map(\.lost).reduce(0, +)), "deliveries", taken)
    }
}
