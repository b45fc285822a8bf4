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

/// `relay log import`: a log made of lines.
struct LogImport: LogTool {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Make a log from exported events, or from records and a schema.",
        discussion: """
            The directory must be missing or empty. Events are what "relay log export" prints; the \
            log has the same events and the same state, and a store id of its own. Records have the \
            form of a seed file; the log then has one event.
            """)

    @OptionGroup var log: LogArguments

    @Argument(
        help: ArgumentHelp("The lines; standard input when it is left out.", valueName: "file"))
    var file: String?

    @Option(help: ArgumentHelp("The schema that records are of, in SDL.", valueName: "file"))
    var schema: String?

    func run(printingTo output: LineOutput) async throws {
        try checkIsNew(log.directory, "an import makes a new log")
        let bytes = try readFile(file ?? "/dev/stdin", "import")
        let events = try schema.map { try [genesis(of: bytes, schema: $0)] } ?? read(bytes)
        guard !events.isEmpty else { throw CommandFailure("There is nothing to import.") }
        let state = try fold(events)
        try append(events)
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

    private func read(_ bytes: [UInt8]) throws -> [NewEvent] {
        var events: [NewEvent] = []
        for (index, line) in bytes.split(separator: UInt8(ascii: "\n")).enumerated() {
            do throws(ExportedLineError) {
                let event = try ExportedEvent(line: line).event
                guard event.sequence == UInt64(events.count) + 1 else {
                    throw ExportedLineError(
                        """
                        event \(events.count + 1) was expected, not \(event.sequence); a log can \
                        only be made of all its events
                        """)
                }
                events.append(NewEvent(timeMicroseconds: event.timeMicroseconds, body: event.body))
            } catch {
                throw CommandFailure(
                    "Could not import line \(index + 1): \(error.message). Nothing was changed.")
            }
        }
        return events
    }

    /// The state that the events lead to. Where they lead to none, nothing could open a log of them.
    private func fold(_ events: [NewEvent]) throws -> Snapshot {
        var state = Snapshot()
        var changes = ChangeSet()
        for event in events {
            do throws(FoldError) {
                try state.fold(
                    Event(
                        sequence: state.sequence + 1, timeMicroseconds: event.timeMicroseconds,
                        body: event.body),
                    changes: &changes)
            } catch {
                throw CommandFailure("\(error) Nothing was changed.")
            }
            // Not asked for; kept small rather than made anew for each event.
            if changes.fields.count > 1_024 { changes = ChangeSet() }
        }
        return state
    }

    /// Makes the log, or nothing: what is there when it fails, or is interrupted, is removed.
    private func append(_ events: [NewEvent]) throws {
        let directory = log.directory
        let wasThere = FileManager.default.fileExists(atPath: directory)
        let writer: EventLogWriter
        do {
            writer = try EventLogWriter.open(directory)
        } catch {
            throw CommandFailure("Nothing was imported. \(error)")
        }
        // Another process may have made one while the lines were read.
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
        try Interruption.cleaning(remove) {
            do {
                defer { writer.close() }
                try write(events, to: writer)
            } catch {
                remove()
                throw CommandFailure("Nothing was imported. \(error)")
            }
        }
    }

    /// Many events share a frame, but a frame stays small enough to be read at once.
    private func write(_ events: [NewEvent], to writer: EventLogWriter) throws {
        let progress = ProgressBar("Importing into \(log.directory)")
        defer { ProgressBar.clear() }
        var batch = EventBatch()
        for (index, event) in events.enumerated() {
            batch.append(
                kind: LogEventKind(rawValue: event.body.kind),
                timeMicroseconds: event.timeMicroseconds, payload: event.body.payload)
            guard batch.count == 1_000 || batch.bytes.count > 1 << 20 || index == events.count - 1
            else { continue }
            try writer.appendAndWait(batch)
            batch.removeAll()
            progress.show(UInt64(index), of: UInt64(events.count))
        }
    }
}

/// Why a line is no exported event.
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
                "it is no exported event; records also need the option --schema")
        }
        guard let time = value["time"]?.string.flatMap(RFC3339.microseconds) else {
            throw ExportedLineError("\"time\" is no RFC 3339 time")
        }
        guard let number = Self.number(ofKind: kind) else {
            throw ExportedLineError("\"kind\" is not known: \(kind)")
        }
        guard let payload = value["payload"]?.string.flatMap({ Data(base64Encoded: $0) }) else {
            throw ExportedLineError("\"payload\" is no base64")
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
