import ArgumentParser
import RelayJSON
import RelayStore

/// `relay bench store`: what the client's store costs.
struct BenchStore: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store",
        abstract: "Measure the client's store on a connection of todos.",
        discussion: """
            normalize_ns_per_field: response bytes into records of an empty store, JSON included. \
            read_all_ns_per_field: everything by one selector. read_fragment_us: a fragment of 11 \
            scalars. decode_ns_per_field: read data into structs. fold_events_per_s: events of one \
            record, as a replay folds them. optimistic_apply_revert_us and mutation_response_us: one \
            record, with idle subscriptions beside it. gc_ns_per_record: a garbage collection that \
            finds none. bytes_per_record: memory.
            """)

    @Option(help: ArgumentHelp("Todos in the store.", valueName: "n"))
    var todos = 10_000

    @Option(
        help: ArgumentHelp(
            "Subscriptions beside a commit; without it 0, 1000, 10000 and 100000.", valueName: "n"))
    var subscriptions: [Int] = []

    @Option(help: ArgumentHelp("Runs; the median is shown.", valueName: "n"))
    var runs = 7

    @Option(
        help: ArgumentHelp(
            """
            Nanoseconds a field that another JSON parser takes for the same bytes on this machine; \
            each measure is then also told in these.
            """, valueName: "ns"))
    var yardstick: Double?

    @OptionGroup var measures: MeasureOptions

    func validate() throws {
        if runs < 5 { throw ValidationError("--runs must be at least 5.") }
        if todos < 100 { throw ValidationError("--todos must be at least 100.") }
        if subscriptions.contains(where: { $0 < 0 }) {
            throw ValidationError("--subscriptions must not be negative.")
        }
    }

    func run() async throws {
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
        var next = 0
        let row = medianMicroseconds(runs: runs) {
            _ = benchmark.readRow(store, next)
            next = (next + 7_919) % todos
        }
        report("read_fragment_us", row, "us", 1_000, taken)
        let data = benchmark.readAll(store)
        let decode = try medianMicroseconds(runs: runs) { _ = try benchmark.decode(data) }
        report("decode_ns_per_field", decode * 1_000 / scalars, "ns", 1, taken)

        let events = benchmark.events(count: 10_000)
        let base = store.snapshot
        let fold = try medianMicroseconds(runs: runs) { _ = try benchmark.fold(events, on: base) }
        report("fold_events_per_s", 10_000 / fold * 1_000_000, "events/s", nil, taken)

        let counts = subscriptions.isEmpty ? [0, 1_000, 10_000, 100_000] : subscriptions
        for count in counts { try reportCommits(beside: count) }

        let collect = try medianMicroseconds(runs: runs) { try benchmark.collect(store) }
        let records = Double(benchmark.payload.recordCount)
        report("gc_ns_per_record", collect * 1_000 / records, "ns", 1, taken)
    }

    private func reportCommits(beside count: Int) throws {
        let benchmark = try StoreBenchmark(todoCount: max(todos, count))
        let store = try benchmark.filledStore()
        let tokens = try benchmark.subscribe(store, count: count)
        let taken: JSONObject = [
            "subscriptions": .int(Int64(count)), "todos": .int(Int64(max(todos, count))),
            "runs": .int(Int64(runs)),
        ]
        var next = 0
        let optimistic = try medianMicroseconds(runs: runs) {
            try benchmark.applyAndRevert(store, next)
            next = (next + 7_919) % todos
        }
        report("optimistic_apply_revert_us", optimistic, "us", 1_000, taken)
        let answers = (0..<2).map { StorePayload.answer(0, text: "Answer \($0)") }
        let answered = try medianMicroseconds(runs: runs) {
            try benchmark.mutate(store, answers[next & 1])
            next += 1
        }
        report("mutation_response_us", answered, "us", 1_000, taken)
        for token in tokens { token.cancel() }
    }

    private func reportMemory(_ benchmark: StoreBenchmark) throws {
        let before = allocatedBytes()
        let store = try benchmark.filledStore()
        let bytes = allocatedBytes() - before
        let records = store.snapshot.recordCount
        report(
            "bytes_per_record", Double(bytes) / Double(records), "bytes", nil,
            ["records": .int(Int64(records))])
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
