import ArgumentParser
import Console
import EventLog
import EventStore
import RelayJSON
@_spi(Rooms) import RelayRecords
import RelayServer
import SchemaService

import struct ArgumentParser.Argument

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// `relay log import`: a log made from lines.
struct LogImport: LogTool {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Make a log from exported events, or from records and a schema.",
        discussion: """
            The directory must be missing or empty. Events are what "relay log export" prints; the \
            log has the same events and the same state, but its own store id. Records have the \
            form of a seed file; the log then has one event.
            """)

    @OptionGroup var log: LogArguments

    @Argument(
        help: ArgumentHelp("The lines. (default: standard input)", valueName: "file"))
    var file: String?

    @Option(help: ArgumentHelp("The schema of the records, in SDL.", valueName: "file"))
    var schema: String?

    func validate() throws { try log.checkIsOwnDirectory() }

    func run(printingTo output: LineOutput) async throws {
        try checkIsNew(log.directory, "an import makes a new log")
        let source = file ?? "/dev/stdin"
        let first = try schema.map { try genesis(of: readFile(source, "import"), schema: $0) }
        let state = try makeLog { writer in
            var made = LogInTheMaking(writer)
            if let first {
                try made.append(first)
            } else {
                try append(linesOf: source, to: &made)
            }
            try made.write()
            return made.state
        }
        let (sequence, records) = (state.sequence, state.recordCount)
        let report: JSONValue = [
            "sequence": JSONValue(sequence), "records": .int(Int64(records)),
        ]
        try output.write(
            log.json
                ? report.text
                : "\(log.directory) has \(sequence.of("event")) and \(records.of("record")).")
    }

    /// One event with all records.
    private func genesis(of bytes: [UInt8], schema path: String) throws -> NewEvent {
        let text = try readText(path, "schema")
        let time = WallClock.microseconds()
        let seed = try SeedFile.read(
            bytes, for: ServiceSchema(reading: text), timeMicroseconds: time)
        for warning in seed.warnings { complain("Warning: \(warning)") }
        return NewEvent(
            timeMicroseconds: time, body: .genesis(schema: text, seed: seed.writes))
    }

    /// A line at a time: a log may be larger than the memory.
    private func append(linesOf path: String, to log: inout LogInTheMaking) throws {
        let progress = ProgressBar("Importing into \(self.log.directory)")
        defer { ProgressBar.clear() }
        try readLines(path, "import") { number, line in
            let event: NewEvent
            do throws(ExportedLineError) {
                event = try read(line, expecting: log.state.sequence + 1)
            } catch {
                throw CommandFailure(
                    "Could not import line \(number): \(error.message). Nothing was changed.")
            }
            try log.append(event)
            progress.show(log.state.sequence.of("event"))
        }
        if log.state.sequence == 0 { throw CommandFailure("There is nothing to import.") }
    }

    private func read(
        _ line: UnsafeRawBufferPointer, expecting next: UInt64
    ) throws(ExportedLineError) -> NewEvent {
        let event = try ExportedEvent(line: line).event
        guard event.sequence == next else {
            throw ExportedLineError(
                """
                event \(next) was expected, not \(event.sequence); a log can only be made from all \
                its events
                """)
        }
        return NewEvent(timeMicroseconds: event.timeMicroseconds, body: event.body)
    }

    /// Makes the log, or nothing: what is there when it fails, or is interrupted, is removed.
    private func makeLog(_ fill: (EventLogWriter) throws -> Snapshot) throws -> Snapshot {
        let directory = log.directory
        let wasThere = FileManager.default.fileExists(atPath: directory)
        let writer: EventLogWriter
        do {
            writer = try EventLogWriter.open(directory)
        } catch {
            throw CommandFailure("Nothing was imported. \(error)")
        }
        // Another process may have made one meanwhile.
        guard writer.head.sequence == 0 else {
            writer.close()
            throw CommandFailure(
                "\(directory) is not empty: an import makes a new log. Nothing was changed.")
        }
        let remove: @Sendable () -> Void = {
            let files = FileManager.default
            for name in (try? files.contentsOfDirectory(atPath: directory)) ?? [] {
                try? files.removeItem(atPath: directory + "/" + name)
            }
            if !wasThere { try? files.removeItem(atPath: directory) }
        }
        return try Interruption.cleaning(remove) {
            do {
                defer { writer.close() }
                return try fill(writer)
            } catch {
                remove()
                if error is CommandFailure { throw error }
                throw CommandFailure("Nothing was imported. \(error)")
            }
        }
    }
}

/// A log that gets its first events, and the state that they lead to: where they lead to none, nothing could open a log
/// of them.
private struct LogInTheMaking {
    private let writer: EventLogWriter
    private(set) var state = Snapshot()
    private var changes = ChangeSet()
    private var batch = EventBatch()

    init(_ writer: EventLogWriter) { self.writer = writer }

    mutating func append(_ event: NewEvent) throws {
        do throws(FoldError) {
            try state.fold(
                Event(
                    sequence: state.sequence + 1, timeMicroseconds: event.timeMicroseconds,
                    body: event.body),
                changes: &changes)
        } catch {
            throw CommandFailure("\(error) Nothing was changed.")
        }
        // Not asked for; kept small rather than recreated for each event.
        if changes.fields.count > 1_024 { changes = ChangeSet() }
        batch.append(
            kind: LogEventKind(rawValue: event.body.kind),
            timeMicroseconds: event.timeMicroseconds, payload: event.body.payload)
        // Many events share a frame, but a frame stays small enough to be read at once.
        if batch.count == 1_000 || batch.bytes.count > 1 << 20 { try write() }
    }

    /// Writes what is left.
    mutating func write() throws {
        if batch.count == 0 { return }
        try writer.appendAndWait(batch)
        batch.removeAll()
    }
}

/// Why a line is not an exported event.
struct ExportedLineError: Error {
    let message: String

    init(_ message: String) { self.message = message }
}

extension ExportedEvent {
    /// Reads what `json` wrote.
    init(line: some Sequence<UInt8>) throws(ExportedLineError) {
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONValue(parsing: line)
        } catch {
            throw ExportedLineError("\(error)")
        }
        guard let kind = value["kind"]?.string, let sequence = value["sequence"]?.int, sequence > 0
        else {
            throw ExportedLineError(
                "it is not an exported event; records also need the option --schema")
        }
        guard let time = value["time"]?.string.flatMap(RFC3339.microseconds) else {
            throw ExportedLineError("\"time\" is not an RFC 3339 time")
        }
        guard let number = Self.number(ofKind: kind) else {
            throw ExportedLineError("\"kind\" is not known: \(kind)")
        }
        guard let payload = value["payload"]?.string.flatMap({ Data(base64Encoded: $0) }) else {
            throw ExportedLineError("\"payload\" is not base64")
        }
        let body = payload.withUnsafeBytes { bytes -> Result<EventBody, MalformedEvent> in
            Result { () throws(MalformedEvent) in try EventBody(kind: number, payload: bytes) }
        }
        do throws(MalformedEvent) {
            self.init(
                Event(sequence: UInt64(sequence), timeMicroseconds: time, body: try body.get()))
        } catch {
            throw ExportedLineError("\"payload\" is not the content of an event: \(error.message)")
        }
    }

    /// The inverse of ``RelayStore/EventBody/kindName``.
    private static func number(ofKind name: String) -> UInt8? {
        if let known = EventKind.allCases.first(where: { $0.name == name }) {
            return known.rawValue
        }
        guard name.hasPrefix("unknown "), let number = UInt8(name.dropFirst(8)), number > 0
        else { return nil }
        return number
    }
}
