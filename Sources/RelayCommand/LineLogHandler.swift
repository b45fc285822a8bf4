import Console
import EventStore
import Logging
import RelayJSON
@_spi(Rooms) import RelayRecords
import RelayServer

/// How log lines look.
enum LogFormat: String, CaseIterable {
    case text
    case json
}

/// Writes each log message as one line on standard error, for people or for programs.
struct LineLogHandler: LogHandler {
    let format: LogFormat
    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let all = metadata.merging(event.metadata ?? [:]) { $1 }.sorted { $0.key < $1.key }
        let time = RFC3339.text(microseconds: WallClock.microseconds())
        var line: String
        switch format {
        case .text:
            line = "\(time) \(event.level): \(event.message)"
            for (key, value) in all { line += " \(key)=\(value)" }
        case .json:
            var object: JSONObject = [
                "time": .string(time), "level": .string(event.level.rawValue),
                "message": .string("\(event.message)"),
            ]
            for (key, value) in all { object[key] = .string("\(value)") }
            line = JSONValue.object(object).text
        }
        complain(line)
    }
}
