import ArgumentParser
import Console
import EventStore
import RelayJSON

/// `relay blame`: who wrote it?
struct Blame: ServedHistoryTool {
    static let configuration = CommandConfiguration(
        abstract: "Show every write of a record or of one of its fields, the newest first.",
        discussion: """
            Changes to a list are shown as what was removed and added: "at 3: -a +b". In a \
            compacted log the last lines give the values with which its states begin, and what \
            wrote them, if that event is still there. Works offline and while a server is running, \
            on its directory or its URL; never writes.
            """)

    @OptionGroup var log: LogArguments

    @OptionGroup var server: ServerOptions

    @Argument(help: ArgumentHelp("A record's id, or ID.field.", valueName: "record[.field]"))
    var path: String

    @Flag(
        help: """
            Also show how unconfirmed values changed: rebased when something else was confirmed \
            below them, revoked when their mutation failed; and what was shown in place of a \
            confirmed value. e6 is event 6, e5' what mutation 5 shows, e5'/e6 its rebase by event \
            6.
            """)
    var optimistic = false

    var credentials: ServerCredentials { ServerCredentials(server) }

    func run(on history: ServedHistory, printingTo output: LineOutput) async throws {
        let layers = optimistic ? [(name: "optimistic", value: "true")] : []
        let isFound = try await history.first(of: BlameTarget.targets(path)) {
            try await history.print("blame", $0 + layers, to: output).lines
        }
        if !isFound {
            throw CommandFailure("There is no record \(path), or no event ever wrote it.")
        }
    }

    func run(on history: History, printingTo output: LineOutput) async throws {
        let report = try history.blame(BlameTarget.targets(path), showsLayers: optimistic)
        guard let report else { throw CommandFailure("There is no record \(path).") }
        guard !report.entries.isEmpty else {
            throw CommandFailure("No event of \(log.name) ever wrote \(path).")
        }
        let form = BlameLines(report.target, showsLayers: optimistic)
        for entry in report.entries {
            try output.write(log.json ? form.json(entry).text : form.line(entry))
        }
    }
}
