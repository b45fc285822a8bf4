import ArgumentParser
import Console
import EventStore
import RelayJSON
@_spi(Rooms) import RelayRecords

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// `relay log export`: a log as lines of JSON.
struct LogExport: HistoryTool {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Print all events, or all records, as JSON, one object per line.",
        discussion: """
            Each event has what "relay log list --json" shows, what was asked for, and in \
            "payload" its whole content in base64; "relay log import" makes the same log from it. A \
            log that was compacted lacks its first events: export its records instead, which have the \
            form of a seed file. Works offline and while a server is running; never writes.
            """)

    @OptionGroup var log: LogArguments

    @Flag(help: "Print the records instead of the events.")
    var records = false

    @Option(
        help: ArgumentHelp(
            "Up to this point: a sequence, a time, @-3. (default: the end)", valueName: "point"))
    var at: String?

    func run(on history: History, printingTo output: LineOutput) async throws {
        guard history.last > 0 else { return }
        let last = try at.map(history.sequence) ?? history.last
        if records {
            for line in try history.snapshot(at: last).recordLines { try output.write(line) }
            return
        }
        guard history.first <= last else {
            throw CommandFailure(
                """
                Could not export events of \(log.name): it was compacted and has none up to \(last); the first \
                one it keeps is \(history.first). --records exports the state.
                """)
        }
        let events = try history.events(in: history.first...last)
        while let event = try events.next() {
            try output.write(ExportedEvent(event).json.text)
        }
    }
}

/// One event as a line of an export. What counts is sequence, time, kind and payload; the rest is for
/// those who read or search the lines.
struct ExportedEvent {
    let event: Event

    init(_ event: Event) { self.event = event }

    var json: JSONValue {
        var object: JSONObject = [
            "sequence": JSONValue(event.sequence),
            "time": .string(RFC3339.text(microseconds: event.timeMicroseconds)),
            "kind": .string(event.body.kindName),
        ]
        switch event.body {
        case .genesis(_, let seed):
            object["records"] = ids(seed)
        case .mutation(let intent):
            object["operation"] = .string(intent.operation)
            object["mutationId"] = JSONValue(intent.mutationID?.description)
            object["viewer"] = JSONValue(intent.viewer)
            object["field"] = .string(intent.field)
            object["arguments"] = intent.arguments
        case .response(let response):
            object["mutation"] = JSONValue(response.mutation)
            object["records"] = ids(response.writes)
        case .revocation(let revocation):
            object["mutation"] = JSONValue(revocation.mutation)
            object["reason"] = .string(revocation.reason)
        case .update(let update):
            object["operation"] = .string(update.name)
            object["records"] = ids(update.writes)
        case .schema, .unknown:
            break
        }
        object["payload"] = .string(Data(event.body.payload).base64EncodedString())
        return .object(object)
    }

    private func ids(_ writes: WriteSet) -> JSONValue {
        .array(writes.recordIDs.map(JSONValue.string))
    }
}
