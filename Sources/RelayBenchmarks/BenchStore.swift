import ArgumentParser
import RelayJSON
@_spi(Rooms) import RelayRecords
@_spi(Rooms) import RelayStore

/// `relay bench store`: what the client's store costs.
struct BenchStore: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store",
        abstract: "Measure the client's store on a connection of todos.",
        discussion: """
            normalize_ns_per_field: response bytes into records of an empty store, JSON included. \
            read_all_ns_per_field: everything by one selector. read_fragment_us: a fragment of 11 \
            scalars by its record's id, todo by todo, and anywhere in the list. \
            decode_ns_per_field: read data into structs. fold_event_us: an event of one record, as a \
            replay folds it. optimistic_apply_revert_us and mutation_response_us: one record, with \
            subscriptions elsewhere; the former anywhere in the list, \
            optimistic_apply_revert_one_us always the first todo, which one subscription reads. \
            gc_ns_per_record: a garbage collection that finds none. bytes_per_record: memory. \
            bytes_per_forgotten_id: what stays of a record that was collected.

            With --queries, --mutations or --events nothing of that is measured, but whether a store \
            grows with what passes through it: us_per_query, us_per_mutation and us_per_event over each tenth of them, and \
            resident_bytes, those of the process, after it.
            """)

    @Option(help: ArgumentHelp("Todos in the store.", valueName: "n"))
    var todos = 10_000

    @Option(
        help: ArgumentHelp(
            "Subscriptions that a commit does not concern: numbers with commas between them.",
            valueName: "n,n"))
    var subscriptions = Counts(values: [0, 1_000, 10_000, 100_000])

    @Option(help: ArgumentHelp("Runs; the median is shown.", valueName: "n"))
    var runs = 7

    @Option(
        help: ArgumentHelp(
            """
            Nanoseconds a field that another JSON parser takes for the same bytes on this machine; \
            each measure is then also told in these.
            """, valueName: "ns"))
    var yardstick: Double?

    @Option(help: ArgumentHelp("Distinct queries that pass through a store.", valueName: "n"))
    var queries = 0

    @Option(help: ArgumentHelp("Mutations that do.", valueName: "n"))
    var mutations = 0

    @Option(help: ArgumentHelp("Events of subscriptions that do.", valueName: "n"))
    var events = 0

    @OptionGroup var measures: MeasureOptions

    func validate() throws {
        if runs < 5 { throw ValidationError("--runs must be at least 5.") }
        if todos < 100 { throw ValidationError("--todos must be at least 100.") }
        if min(queries, mutations, events) < 0 {
            throw ValidationError("--queries, --mutations and --events must not be negative.")
        }
    }

    func run() async throws {
        if max(queries, mutations, events) > 0 { return try await reportGrowth() }
        let benchmark = try StoreBenchmark(todoCount: todos)
        try reportMemory(benchmark)
        let scalars = Double(benchmark.payload.scalarCount)
        let taken: JSONObject = [
            "todos": .int(Int64(todos)), "runs": .int(Int64(runs)),
            "payloadBytes": .int(Int64(benchmark.response.count)),
        ]
        let normalize = try medianMicroseconds(runs: runs) {
            try benchmark.normalize(into: benchmark.emptyStore())
        }
        report("normalize_ns_per_field", normalize * 1_000 / scalars, "ns", 1, taken)

        let store = try benchmark.filledStore()
        let read = medianMicroseconds(runs: runs) { _ = benchmark.readAll(store) }
        report("read_all_ns_per_field", read * 1_000 / scalars, "ns", 1, taken)
        for (measure, step) in [("read_fragment_us", 1), ("read_fragment_anywhere_us", 7_919)] {
            let count = todos
            var next = 0
            let row = medianMicroseconds(runs: runs) {
                _ = benchmark.readRow(store, next)
                next = (next + step) % count
            }
            report(measure, row, "us", 1_000, taken)
        }
        let data = benchmark.readAll(store)
        let decode = try medianMicroseconds(runs: runs) { _ = try benchmark.decode(data) }
        report("decode_ns_per_field", decode * 1_000 / scalars, "ns", 1, taken)

        let events = benchmark.events(count: 10_000)
        let base = store.snapshot
        let fold = try medianMicroseconds(runs: runs) { _ = try benchmark.fold(events, on: base) }
        report("fold_event_us", fold / 10_000, "us", 1_000, taken)
        report("fold_events_per_s", 10_000 / fold * 1_000_000, "events/s", nil, taken)

        for count in subscriptions.values { try reportCommits(subscriptions: count) }

        let collect = try medianMicroseconds(runs: runs) { try benchmark.collect(store) }
        let records = Double(benchmark.payload.recordCount)
        report("gc_ns_per_record", collect * 1_000 / records, "ns", 1, taken)
    }

    /// `0,1000,10000`
    struct Counts: ExpressibleByArgument, CustomStringConvertible {
        let values: [Int]

        init(values: [Int]) { self.values = values }

        init?(argument: String) {
            values = argument.split(separator: ",").compactMap { Int($0) }.filter { $0 >= 0 }
            guard !values.isEmpty, description == argument else { return nil }
        }

        var description: String { values.map(String.init).joined(separator: ",") }
    }

    private func reportCommits(subscriptions count: Int) throws {
        let benchmark = try StoreBenchmark(todoCount: max(todos, count))
        let store = try benchmark.filledStore()
        let tokens = try benchmark.subscribe(store, count: count)
        let taken: JSONObject = [
            "subscriptions": .int(Int64(count)), "todos": .int(Int64(max(todos, count))),
            "runs": .int(Int64(runs)),
        ]
        let limit = todos
        var next = 0
        let optimistic = try medianMicroseconds(runs: runs) {
            try benchmark.applyAndRevert(store, next)
            next = (next + 7_919) % limit
        }
        report("optimistic_apply_revert_us", optimistic, "us", 1_000, taken)
        // One record and one reader: all the others are idle, and what is touched is in the caches.
        let reader = try benchmark.subscribe(store, count: 1)
        let one = try medianMicroseconds(runs: runs) { try benchmark.applyAndRevert(store, 0) }
        report("optimistic_apply_revert_one_us", one, "us", 1_000, taken)
        let answers = (0..<2).map { StorePayload.answer(0, text: "Answer \($0)") }
        let answered = try medianMicroseconds(runs: runs) {
            try benchmark.mutate(store, answers[next & 1])
            next += 1
        }
        report("mutation_response_us", answered, "us", 1_000, taken)
        for token in tokens + reader { token.cancel() }
    }

    private func reportMemory(_ benchmark: StoreBenchmark) throws {
        let before = allocatedBytes()
        let store = try benchmark.filledStore()
        let bytes = allocatedBytes() - before
        let records = store.snapshot.recordCount
        report(
            "bytes_per_record", Double(bytes) / Double(records), "bytes", nil,
            ["records": .int(Int64(records))])
        for round in 1...4 { try benchmark.turnOver(store, round: round) }
        let settled = allocatedBytes()
        for round in 5...20 { try benchmark.turnOver(store, round: round) }
        let forgotten = 16 * 2 * todos
        report(
            "bytes_per_forgotten_id", Double(allocatedBytes() - settled) / Double(forgotten),
            "bytes", nil, ["forgotten": .int(Int64(forgotten))])
    }

    private func reportGrowth() async throws {
        for (kind, count) in [
            (StoreGrowth.Kind.query, queries), (.mutation, mutations), (.event, events),
        ] where count > 0 {
            let growth = try StoreGrowth()
            let tenth = max(1, count / 10)
            for start in stride(from: 0, to: count, by: tenth) {
                let range = start..<min(start + tenth, count)
                let time = try await ContinuousClock().measure {
                    for number in range {
                        try growth.pass(kind, number)
                        // Collections get their turn on a machine with one processor, too.
                        if number % 100 == 0 { await Task.yield() }
                    }
                }
                let taken: JSONObject = ["passed": .int(Int64(range.upperBound))]
                let each = time / .microseconds(1) / Double(range.count)
                report("us_per_\(kind.rawValue)", each, "us", nil, taken)
                report("resident_bytes", Double(allocatedBytes()), "bytes", nil, taken)
            }
        }
    }

    /// - Parameter nanoseconds: of the unit; nil where the yardstick says nothing.
    private func report(
        _ measure: String, _ value: Double, _ unit: String, _ nanoseconds: Double?,
        _ taken: JSONObject
    ) {
        var taken = taken
        if let yardstick, let nanoseconds {
            taken["yardsticks"] = .double((value * nanoseconds / yardstick * 100).rounded() / 100)
        }
        measures.report(measure, value, unit, taken)
    }
}
