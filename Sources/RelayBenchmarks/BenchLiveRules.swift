import ArgumentParser
import RelayJSON

/// `relay bench live-rules`: what rules cost live queries.
struct BenchLiveRules: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "live-rules",
        abstract: "Measure what a commit costs under many live queries, with rules and without.",
        discussion: """
            In memory and in one process. Each live query is of a record, or of a page of 20, of its own, and each \
            commit changes a record of one of them. commit_us is processor time: of the mutation, the execution of the \
            live query and its result. With none, the schema has no rules; with public, viewers may see all of the \
            records; with owner, each viewer sees their own. The three are measured by turns; commit_ratio is relative \
            to none.
            """)

    @Option(help: ArgumentHelp("Live queries.", valueName: "n"))
    var queries = 10_000

    @Option(help: ArgumentHelp("Commits of a run.", valueName: "n"))
    var commits = 500

    @Option(help: ArgumentHelp("Runs; the median is shown.", valueName: "n"))
    var runs = 15

    @OptionGroup var measures: MeasureOptions

    func validate() throws {
        if runs < 5 { throw ValidationError("--runs must be at least 5.") }
        // Commits of one run are of different live queries, so that none tells of two of them at once.
        guard 1...queries ~= commits else {
            throw ValidationError("--commits must be from 1 to --queries.")
        }
    }

    func run() async throws {
        for query in LiveRulesBenchmark.Query.allCases {
            var benchmarks: [LiveRulesBenchmark] = []
            for rules in LiveRulesBenchmark.Rules.allCases {
                benchmarks.append(try await LiveRulesBenchmark(rules, query, queries: queries))
            }
            var times: [[Double]] = benchmarks.map { _ in [] }
            for run in 0...runs {
                for (index, benchmark) in benchmarks.enumerated() {
                    let time = try await benchmark.microseconds(
                        commits: commits, from: run * commits)
                    // The first finds nothing in the caches.
                    if run > 0 { times[index].append(time) }
                }
            }
            for (index, rules) in LiveRulesBenchmark.Rules.allCases.enumerated() {
                let taken: JSONObject = [
                    "query": .string(query.rawValue), "rules": .string(rules.rawValue),
                    "queries": .int(Int64(queries)), "commits": .int(Int64(commits)),
                    "runs": .int(Int64(runs)),
                ]
                measures.report("commit_us", median(times[index]), "us", taken)
                let ratios = zip(times[index], times[0]).map { $0 / $1 }
                measures.report("commit_ratio", median(ratios), "", taken)
            }
        }
    }
}
