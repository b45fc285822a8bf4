import ArgumentParser
import Console
import GraphQLExecution
import RelayJSON
import RelayServer

/// `relay bench query`: what one query costs, step by step.
struct BenchQuery: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "query",
        abstract: "Measure one query on records in memory.",
        discussion: """
            request_us: parse, validate, plan, execute and write, nothing cached. request_cached_us: \
            the same once the server has seen the query. execute_us: execute and write alone. \
            execute_viewer_us: likewise, for --viewer; execute_viewer_ratio: relative to execute_us, taken \
            by turns. parse_us: parse alone; of a document that the schema cannot execute, this is all.
            """)

    @Option(help: ArgumentHelp("The schema, in SDL.", valueName: "file"))
    var schema: String

    @Option(help: ArgumentHelp("The records, one a line.", valueName: "file"))
    var seed: String

    @Option(help: ArgumentHelp("The query.", valueName: "file"))
    var document: String

    @Option(
        help: ArgumentHelp(
            "Execute it for this viewer as well, by the rules of the schema.", valueName: "id"))
    var viewer: String?

    @Option(help: ArgumentHelp("Runs; the median is shown.", valueName: "n"))
    var runs = 7

    @OptionGroup var measures: MeasureOptions

    func validate() throws {
        if runs < 5 { throw ValidationError("--runs must be at least 5.") }
    }

    func run() async throws {
        let text = String(decoding: try readFile(document, "query"), as: UTF8.self)
        let benchmark = try QueryBenchmark(
            schema: try readText(schema, "schema"),
            seed: try readFile(seed, "seed"), document: text)
        let bytes: Int
        do {
            bytes = try benchmark.request().count
        } catch let errors as ExecutionErrors {
            // Still worth measuring: a document of all there is to parse fits no schema.
            _ = try benchmark.parse()
            let reason = errors.errors.first?.message ?? "it is not valid"
            complain(
                "The schema cannot execute the document, which is only parsed: \(reason)")
            let time = try medianMicroseconds(runs: runs) { _ = try benchmark.parse() }
            let taken: JSONObject = [
                "documentBytes": .int(Int64(text.utf8.count)), "runs": .int(Int64(runs)),
            ]
            return measures.report("parse_us", time, "us", taken)
        }
        let taken: JSONObject = ["resultBytes": .int(Int64(bytes)), "runs": .int(Int64(runs))]
        let prepared = try benchmark.prepare()
        let cached = benchmark.cachedRequest()
        func report(_ measure: String, _ body: () throws -> Void) rethrows {
            measures.report(measure, try medianMicroseconds(runs: runs, body), "us", taken)
        }
        try report("request_us") { _ = try benchmark.request() }
        try report("request_cached_us") { _ = try cached() }
        report("execute_us") { _ = benchmark.execute(prepared) }
        if let viewer {
            let identity = Identity.viewer(Viewer(id: viewer))
            let count = Int64(benchmark.execute(prepared, as: identity).count)
            let times = medianMicroseconds(runs: 4 * runs) {
                _ = benchmark.execute(prepared)
            } against: {
                _ = benchmark.execute(prepared, as: identity)
            }
            let taken: JSONObject = ["resultBytes": .int(count), "runs": .int(Int64(runs))]
            measures.report("execute_viewer_us", times.other, "us", taken)
            measures.report("execute_viewer_ratio", times.ratio, "", taken)
        }
        try report("parse_us") { _ = try benchmark.parse() }
    }
}
