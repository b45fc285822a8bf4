import ArgumentParser
import Console
import Digests
import EventStore
import RelayJSON
@_spi(Rooms) import RelayRecords

/// `relay log show`: all about one event.
struct LogShow: ServedHistoryTool {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show one event: what was asked for, what it changed, where its bytes are.",
        discussion: """
            Works offline and while a server is running, on its directory or its URL; never writes.
            """)

    @OptionGroup var log: LogArguments

    @OptionGroup var server: ServerOptions

    @Argument(help: "The event's sequence, or another point: a time, @ for the last, @-3.")
    var point: String

    @Flag(help: "Print the payload's bytes as they are.")
    var raw = false

    @Flag(help: "Print the payload's bytes in hexadecimal.")
    var hex = false

    func validate() throws {
        if [log.json, raw, hex].count(where: \.self) > 1 {
            throw ValidationError("--json, --raw and --hex exclude each other.")
        }
        if raw || hex { try log.checkIsDirectory("--raw and --hex need") }
    }

    var credentials: ServerCredentials { ServerCredentials(server) }

    func run(on history: ServedHistory, printingTo output: LineOutput) async throws {
        _ = try HistoryPoint(point)
        try await history.printEvent(point, to: output)
    }

    func run(on history: History, printingTo output: LineOutput) async throws {
        let sequence = try history.sequence(of: point)
        if raw { return try output.write(bytes: history.event(sequence).body.payload) }
        if hex {
            for line in hexDump(try history.event(sequence).body.payload) {
                try output.write(line)
            }
            return
        }
        let event = try EventDescription(sequence, in: history)
        if log.json { return try output.write(event.json.text) }
        for line in event.lines { try output.write(line) }
    }

    /// Sixteen bytes a line: their offset, their values, their characters.
    private func hexDump(_ bytes: [UInt8]) -> [String] {
        stride(from: 0, to: bytes.count, by: 16).map { start in
            let row = bytes[start..<min(start + 16, bytes.count)]
            let values = row.map { $0.hexadecimal }.joined(separator: " ")
            let text = row.map { 0x20..<0x7F ~= $0 ? String(UnicodeScalar($0)) : "." }.joined()
            return UInt32(start).hexadecimal + "  " + values.padded(to: 49) + text
        }
    }
}
