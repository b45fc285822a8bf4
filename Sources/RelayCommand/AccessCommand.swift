import ArgumentParser
import Console
import EventStore
import GraphQLExecution
import GraphQLLanguage
import RelayJSON
@_spi(Rooms) import RelayRecords
import SchemaService

import struct ArgumentParser.Argument

/// `relay access`: who may see and do what with a record, and why?
struct AccessCommand: HistoryTool {
    static let configuration = CommandConfiguration(
        commandName: "access",
        abstract: "Show what a viewer may do with a record, and which rule says so.",
        usage: """
            relay access <dir> <viewer> <record> [--claim <name>=<json> ...] [--at <point>]
                [--schema <file> ...] [--json]
            relay access <dir> --nobody <record> [--at <point>] [--schema <file> ...] [--json]
            """,
        discussion: """
            For read, create, update, delete and each field with a rule: allowed or denied, the \
            rule, and what each part of it found. The rules are those of the schema in the log at \
            that point. "create" asks about a record like this one; a mutation with a rule of its \
            own asks that instead. What a handler decides (Swift code) is not known here. Works \
            offline and while a server is running; never writes.
            """)

    @OptionGroup var log: LogArguments

    @Argument(
        help: ArgumentHelp(
            "The viewer's id (without --nobody), and a record's id.", valueName: "viewer> <record"))
    var names: [String]

    @Flag(help: "Ask for someone who is not logged in.")
    var nobody = false

    @Option(
        help: ArgumentHelp(
            "A claim of the viewer: 'roles=[\"admin\"]'; may be given several times.",
            valueName: "name=json"))
    var claim: [String] = []

    @Option(
        help: ArgumentHelp("The state after this point. (default: the end)", valueName: "point"))
    var at: String?

    @Option(
        help: ArgumentHelp(
            """
            Ask the rules of this schema, to try them; may be given several times, as for serve.
            """, valueName: "file"))
    var schema: [String] = []

    func validate() throws {
        if nobody {
            guard names.count == 1 else {
                throw ValidationError("With --nobody, give one record and no viewer.")
            }
            guard claim.isEmpty else {
                throw ValidationError("--nobody and --claim exclude each other.")
            }
        } else if names.count != 2 {
            throw ValidationError("Give a viewer and a record, or --nobody and a record.")
        } else if names[0].isEmpty {
            throw ValidationError("A viewer's id is not empty. Write --nobody for none.")
        }
        _ = try claims()
    }

    func run(on history: History, printingTo output: LineOutput) async throws {
        let sequence = try history.sequence(of: at ?? "@")
        let snapshot = try history.snapshot(at: sequence)
        let identity =
            nobody
            ? Identity.nobody
            : Identity.viewer(Viewer(id: names[0], claimValues: try claims()))
        let id = names[names.count - 1]
        guard let record = snapshot.existing(id),
            let explanation = AccessExplanation(
                of: record, for: identity, try rules(of: snapshot), in: snapshot)
        else { throw CommandFailure("There is no record \(id) after event \(sequence).") }
        let form = AccessForm(record: id, explanation)
        for line in log.json ? form.json.map(\.text) : form.lines(for: identity) {
            try output.write(line)
        }
    }

    private func rules(of snapshot: Snapshot) throws -> AccessRules {
        let documents =
            schema.isEmpty
            ? [Source(snapshot.schema, name: log.name)]
            : try schema.map { Source(try readText($0, "schema"), name: $0) }
        do throws(SchemaMistakes) {
            return try ServiceSchema.accessRules(of: documents)
        } catch {
            throw CommandFailure(error.namedByDocument(else: documents[0].name).description)
        }
    }

    private func claims() throws -> JSONObject {
        var claims = JSONObject()
        for text in claim {
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty else {
                throw ValidationError("--claim is NAME=JSON, not \(text).")
            }
            do throws(JSONError) {
                claims[String(parts[0])] = try JSONValue(parsing: String(parts[1]))
            } catch {
                throw ValidationError(
                    """
                    The value of --claim \(text) is not JSON. A text is written with quotes: \
                    --claim '\(parts[0])="\(parts[1])"'. \(error)
                    """)
            }
        }
        return claims
    }
}
