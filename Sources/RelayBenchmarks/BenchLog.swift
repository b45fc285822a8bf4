import ArgumentParser
import Console
import EventLog
import EventStore
import RelayJSON
@_spi(Rooms) import RelayRecords

/// `relay bench log`: a large log to measure with.
struct BenchLog: LogTool {
    static let configuration = CommandConfiguration(
        commandName: "log",
        abstract: "Make a log of any length, for the log and replay tools to be measured on.",
        discussion: """
            The directory must be missing or empty. The history is that of a todo server with eight \
            clients: half of the todos are in the seed, the others are added on the way, and all \
            else renames todos and changes their status. The same numbers make the same history, \
            with the same head hash. docs/examples/todo.graphql fits it, so "relay serve" goes on \
            from it.
            """)

    @OptionGroup var log: LogArguments

    @Option(help: ArgumentHelp("Events in the log.", valueName: "n"))
    var events: UInt64 = 1_000_000

    @Option(help: ArgumentHelp("Todos there are in the end.", valueName: "n"))
    var records = 10_000

    @Option(help: ArgumentHelp("What the history is made up from.", valueName: "n"))
    var seed: UInt64 = 1

    @Option(
        help: ArgumentHelp(
            """
            Leave a checkpoint of the state at the end of the frame with this event; may be given \
            again.
            """,
            valueName: "sequence"))
    var checkpoint: [UInt64] = []

    @Flag(help: "Leave all segments as they are written; none is deflated in the background.")
    var plain = false

    /// Events in a frame, as under a busy server.
    private static let frame = 64

    func validate() throws {
        guard events >= 1 else { throw ValidationError("--events must be at least 1.") }
        guard 1...10_000_000 ~= records else {
            throw ValidationError("--records must be from 1 to 10000000.")
        }
        guard checkpoint.allSatisfy({ 1...events ~= $0 }) else {
            throw ValidationError("--checkpoint must be one of the log's events.")
        }
    }

    func run(printingTo output: LineOutput) async throws {
        try checkIsNew(log.directory, "this makes a new log")
        let start = ContinuousClock.now
        let store = try EventStore.open(log.directory, options: options)
        var snapshot = store.snapshot
        do {
            defer { store.journal.close() }
            try await append(to: store.journal, &snapshot)
        }
        let head = store.journal.durableHead
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        let memory = peakMemoryBytes()
        let report: JSONValue = [
            "sequence": .int(Int64(clamping: head.sequence)), "head": .string("\(head.hash)"),
            "records": .int(Int64(snapshot.recordCount)),
            "seconds": .double((seconds * 1000).rounded() / 1000),
            "peakMemoryBytes": .int(Int64(memory)),
        ]
        try output.write(
            log.json
                ? report.text
                : """
                \(log.directory) has \(head.sequence.of("event")) and \
                \(snapshot.recordCount.of("record")); the head is \(head.hash). That took \
                \((seconds * 10).rounded() / 10) s and \(memory >> 20) MiB of memory.
                """)
    }

    private var options: EventStoreOptions {
        var random = SplitMix64(state: seed)
        var options = EventStoreOptions()
        options.log.storeID = StoreID(high: random.next(), low: random.next())
        // These events were promised to no one.
        options.log.durability = .none
        options.log.deflatesSealedSegments = !plain
        options.keptCheckpoints = max(checkpoint.count, 1)
        return options
    }

    /// One frame at a time, so that the same events always share one.
    private func append(to journal: FileJournal, _ snapshot: inout Snapshot) async throws {
        let progress = ProgressBar("Making \(log.directory)")
        defer { ProgressBar.clear() }
        var history = GeneratedHistory(eventCount: events, todoCount: records, seed: seed)
        var checkpoints = checkpoint.sorted()[...]
        var batch: [NewEvent] = []
        var changes = ChangeSet()
        while true {
            let step = history.next()
            for event in step ?? [] {
                let sequence = snapshot.sequence + 1
                try snapshot.fold(
                    Event(
                        sequence: sequence, timeMicroseconds: event.timeMicroseconds,
                        body: event.body),
                    changes: &changes)
                batch.append(event)
            }
            guard batch.count >= Self.frame || step == nil else { continue }
            let last = snapshot.sequence
            if !batch.isEmpty {
                _ = try await journal.append(batch, expecting: last - UInt64(batch.count))
            }
            batch = []
            changes = ChangeSet()
            if let due = checkpoints.first, due <= last {
                try journal.checkpoint(snapshot)
                checkpoints = checkpoints.drop { $0 <= last }
            }
            progress.show(last, of: events)
            if step == nil { return }
        }
    }
}
