import ArgumentParser
import RelayJSON
import RelayServer

/// `relay bench mutation`: what a mutation costs, by the number of records.
struct BenchMutation: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mutation",
        abstract: "Measure mutations, counts and pages on lists of many records, in memory.",
        discussion: """
            One line a measure and number of records: update_us, create_us (into a connection), \
            link_us, unlink_us, delete_us (out of a connection), count_us (a query of two counts), \
            page_us (20 edges). Then result_us and result_ns_per_edge for pages of 100 edges and \
            more: what the size of a result costs.
            """)

    @Option(help: ArgumentHelp("Records in the list; may be given several times.", valueName: "n"))
    var records: [Int] = [1_000, 10_000, 100_000, 1_000_000]

    @Option(help: ArgumentHelp("Runs; the median is shown.", valueName: "n"))
    var runs = 501

    @OptionGroup var measures: MeasureOptions

    func validate() throws {
        if runs < 5 { throw ValidationError("--runs must be at least 5.") }
        if let few = records.first(where: { $0 < 100 }) {
            throw ValidationError("--records must be at least 100, not \(few).")
        }
    }

    func run() async throws {
        let clock = ContinuousClock()
        for count in records {
            var benchmark = try MutationBenchmark(records: count)
            let taken: JSONObject = ["records": .int(Int64(count)), "runs": .int(Int64(runs))]
            for measure in MutationBenchmark.Measure.allCases {
                // Prepares the operation, and what is made at first use.
                try benchmark.run(measure, 0)
                let times = try (1...runs).map { number in
                    try clock.measure { try benchmark.run(measure, number) } / .microseconds(1)
                }
                measures.report("\(measure.rawValue)_us", median(times), "us", taken)
            }
            guard count == records.max() else { continue }
            try reportResults(benchmark, clock, upTo: count)
        }
    }

    private func reportResults(
        _ benchmark: MutationBenchmark, _ clock: ContinuousClock, upTo limit: Int
    ) throws {
        var count = 100
        while count <= limit {
            let bytes = try benchmark.page(of: count)
            let time = median(
                try (0..<7).map { _ in
                    try clock.measure { _ = try benchmark.page(of: count) } / .microseconds(1)
                })
            let taken: JSONObject = ["edges": .int(Int64(count)), "bytes": .int(Int64(bytes))]
            measures.report("result_us", time, "us", taken)
            measures.report("result_ns_per_edge", time * 1_000 / Double(count), "ns", taken)
            count *= 10
        }
    }
}
