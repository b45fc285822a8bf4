import ArgumentParser
import Console
import EventStore
import PostgreSQL
import RelayJSON

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// `relay diff`: what is different between two points of a history, or the ends of two.
struct Diff: ServedHistoryTool {
    static let configuration = CommandConfiguration(
        abstract: "Show which fields differ between two points of a log, or between two logs.",
        discussion: """
            relay diff DIR A B compares two points: a sequence, a time (RFC 3339), @ for the end, \
            @-3, @now-1h. relay diff DIR OTHER compares the ends of two logs, and says with which \
            event they diverge. Exit code 2 when something differs. The two points work \
            with a server's URL in place of DIR, too. Works offline and while a server is running; \
            never writes.
            """)

    @OptionGroup var log: LogArguments

    @OptionGroup var server: ServerOptions

    @Argument(help: ArgumentHelp("Two points, or one other directory.", valueName: "point"))
    var points: [String]

    @Option(help: ArgumentHelp("Look at this record only.", valueName: "id"))
    var record: String?

    func validate() throws {
        guard points.count <= 2 else {
            throw ValidationError("Give two points, or one other directory.")
        }
        if points.count < 2 { try log.checkIsDirectory("To compare two logs, give") }
        // Their copies may have one place.
        if points.count == 1, log.isJournal, PostgreSQLAddress.isOne(points[0]) {
            throw ValidationError("Of two journals, export one, and compare the other with that.")
        }
    }

    var credentials: ServerCredentials { ServerCredentials(server) }

    func run(on history: ServedHistory, printingTo output: LineOutput) async throws {
        for point in points { _ = try HistoryPoint(point) }
        var parameters = [(name: "a", value: points[0]), (name: "b", value: points[1])]
        if let record { parameters.append(("record", record)) }
        let found = try await history.print("diff", parameters, to: output)
        if found.lines > 0 { throw ExitCode.foundSomething }
    }

    func run(on history: History, printingTo output: LineOutput) async throws {
        let differences: [FieldDifference]
        switch (points.first, points.dropFirst().first) {
        case (let before?, let after?):
            differences = try history.differences(
                from: history.sequence(of: before), to: history.sequence(of: after), record: record)
        case (let other?, nil):
            let name = LogPlace.name(of: other)
            guard isLog(other) else {
                throw ValidationError("Give two points, or another directory: \(name) is neither.")
            }
            let other = try History(LogPlace(other).directory())
            if let damage = other.damage {
                complain("Error: Of \(name) only events up to \(other.last) count: \(damage).")
            }
            differences = try compare(history, with: other, output)
            if other.damage != nil, differences.isEmpty { throw ExitCode.foundSomething }
        default:
            throw ValidationError("Give two points, or one other directory.")
        }
        for difference in differences {
            try output.write(log.json ? difference.json.text : difference.line)
        }
        if !differences.isEmpty { throw ExitCode.foundSomething }
    }

    private func isLog(_ text: String) -> Bool {
        PostgreSQLAddress.isOne(text) || FileManager.default.fileExists(atPath: text)
    }

    /// Tells where two histories part.
    private func compare(
        _ history: History, with other: History, _ output: LineOutput
    ) throws -> [FieldDifference] {
        let parting = try history.parting(from: other)
        let begin = max(history.first, other.first)
        if parting == nil, begin == 1 { return [] }
        let differences = try history.snapshot(at: history.last)
            .differences(to: other.snapshot(at: other.last), record: record)
        guard let parting else {
            // What a compacted log no longer has may have been different.
            if differences.isEmpty { return [] }
            let line: JSONValue = ["partingBefore": JSONValue(begin)]
            try output.write(
                log.json
                    ? line.text
                    : "The histories diverge before event \(begin), the first that both may still have."
            )
            return differences
        }
        let line: JSONValue = ["parting": JSONValue(parting)]
        try output.write(log.json ? line.text : "The histories diverge with event \(parting).")
        guard !differences.isEmpty else {
            // They came to the same records in different ways.
            throw ExitCode.foundSomething
        }
        return differences
    }
}
