package import ArgumentParser
import RelayJSON

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// `relay bench`: what a user can measure on their own machine.
package struct Bench: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        abstract: "Measure this machine and this build.",
        subcommands: [
            BenchAppend.self, BenchLog.self, BenchOpen.self, BenchQuery.self, BenchMutation.self,
            BenchStore.self, BenchFanout.self, BenchLive.self, BenchLiveRules.self,
            BenchMutate.self, BenchScreen.self,
        ])

    package init() {}
}

/// How measures are shown.
struct MeasureOptions: ParsableArguments {
    @Flag(help: "One JSON object a line and measure.")
    var json = false

    /// Prints one measure and the settings it was taken with.
    func report(_ measure: String, _ value: Double, _ unit: String, _ taken: JSONObject = [:]) {
        let rounded = Self.rounded(value)
        guard json else {
            let note = taken.map { "\($0.key) \($0.value.text)" }.joined(separator: ", ")
            print("\(measure)  \(rounded) \(unit)" + (note.isEmpty ? "" : "  (\(note))"))
            return
        }
        var object: JSONObject = [
            "measure": .string(measure), "value": .double(rounded), "unit": .string(unit),
        ]
        for (key, value) in taken { object[key] = value }
        print(JSONValue.object(object).text)
    }

    /// Four significant digits.
    private static func rounded(_ value: Double) -> Double {
        guard value > 0 else { return value }
        let scale = pow(10, 3 - floor(log10(value)))
        return (value * scale).rounded() / scale
    }
}

/// The median time of one call, in microseconds, over several runs of as many calls as fill a run.
func medianMicroseconds(
    runs: Int, milliseconds: Int = 60, _ body: () throws -> Void
) rethrows -> Double {
    let clock = ContinuousClock()
    // The first calls find nothing in the caches.
    let first = try (0..<5).map { _ in try clock.measure { try body() } }.min() ?? .zero
    let runLength = Duration.milliseconds(milliseconds)
    let calls = max(1, Int(runLength / max(first, .nanoseconds(100))))
    var times: [Double] = []
    for _ in 0..<(runs + 1) {
        let time = try clock.measure { for _ in 0..<calls { try body() } }
        times.append(time / .microseconds(1) / Double(calls))
    }
    times.removeFirst()  // warming up
    return median(times)
}

/// The same of two things that are compared, by turns, so that both see the same of what else the machine does.
/// - Returns: the two times, and the median of what the second takes relative to the first.
func medianMicroseconds(
    runs: Int, _ one: () -> Void, against other: () -> Void
) -> (one: Double, other: Double, ratio: Double) {
    let times = (0..<runs).map { _ in
        (
            medianMicroseconds(runs: 5, milliseconds: 4, one),
            medianMicroseconds(runs: 5, milliseconds: 4, other)
        )
    }
    return (
        median(times.map(\.0)), median(times.map(\.1)), median(times.map { $0.1 / $0.0 })
    )
}

func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    return (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
}
