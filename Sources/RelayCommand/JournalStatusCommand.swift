import ArgumentParser
import Console
import Digests
import EventLog
import EventStore
import PostgreSQL
import RelayJSON
import SharedJournal

/// `relay journal status`: how far a journal is, and its servers.
struct JournalStatusCommand: LogTool {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show a journal's head and its servers: role, term, how far each is behind.",
        discussion: """
            A line for each server: name, role, term, sequence, how many events it is behind, and \
            the hash of its state after an event. Two servers with different hashes after the same \
            event are not the same any more. Servers say this about once a second. Lines of JSON: \
            the journal first, then the servers.
            """)

    @OptionGroup var journal: JournalArguments

    func run(printingTo output: LineOutput) async throws {
        let address = try journal.address()
        let connection = try JournalConnection(address, abandonment: try Abandonment())
        let status = try connection.status()
        if journal.json {
            try output.write(status.json.text)
            for node in status.nodes { try output.write(node.json.text) }
        } else {
            for line in status.lines { try output.write(line) }
        }
    }
}

extension SharedJournalStatus {
    fileprivate var json: JSONValue {
        .object(
            JSONObject(present: [
                "store": .string("\(history.storeID)"), "complete": .bool(history.isComplete),
                "firstSequence": JSONValue(history.firstSequence),
                "sequence": JSONValue(head.sequence), "head": .string("\(head.chain)"),
                "bytes": JSONValue(byteCount), "term": JSONValue(term.term),
                "writer": lease.map { .string($0.node) },
                "leaseMilliseconds": lease.map { .int($0.remaining.wholeMilliseconds) },
                "postgresql": .int(server.version),
                "waitsForStandby": .bool(server.waitsForStandby),
            ]))
    }

    fileprivate var lines: [String] {
        let extent =
            head.sequence < history.firstSequence
            ? "no events" : "events \(history.firstSequence) to \(head.sequence)"
        var lines = [
            "journal  \(extent), \(byteCount.of("byte")), store \(history.storeID)",
            "head     \(head.chain)",
            "writer   \(writer)",
            "server   PostgreSQL \(server.version / 10_000).\(server.version % 10_000), "
                + (server.waitsForStandby
                    ? "commits wait for a standby" : "no commit waits for a standby"),
        ]
        if !history.isComplete {
            lines.append("         not complete: an import is running or was interrupted")
        }
        guard !nodes.isEmpty else { return lines + ["nodes    none"] }
        let widths = (nodes.map(\.node.name.count) + [4]).max() ?? 4
        func row(
            _ name: String, _ role: String, _ term: String, _ sequence: String, _ lag: String,
            _ rest: String
        ) -> String {
            name.padded(to: widths + 2) + role.padded(to: 10) + term.padded(to: 6)
                + sequence.padded(to: 12) + lag.padded(to: 8) + rest
        }
        lines.append(row("node", "role", "term", "sequence", "lag", "state"))
        return lines
            + nodes.map { found in
                let node = found.node
                let state =
                    node.state.map { "\($0.stateHash.hexadecimal) at \($0.sequence)" } ?? "-"
                let silence = found.silence.wholeMilliseconds / 1_000
                return row(
                    node.name, node.role.rawValue, "\(node.term)", "\(node.sequence)",
                    "\(found.lag)", state + (silence < 10 ? "" : ", silent for \(silence) s"))
            }
    }

    private var writer: String {
        guard let lease else {
            return term.term == 0 ? "none yet" : "none, term \(term.term)"
        }
        let remaining = lease.remaining.wholeMilliseconds
        return "\(lease.node), term \(term.term), "
            + (remaining > 0 ? "lease for \(remaining) ms" : "lease has run out")
    }
}

extension SharedJournalStatus.Node {
    fileprivate var json: JSONValue {
        .object(
            JSONObject(present: [
                "name": .string(node.name), "role": .string(node.role.rawValue),
                "address": .string(node.address), "term": JSONValue(node.term),
                "sequence": JSONValue(node.sequence), "lag": JSONValue(lag),
                "stateHash": node.state.map { .string($0.stateHash.hexadecimal) },
                "stateSequence": node.state.map { JSONValue($0.sequence) },
                "silentMilliseconds": .int(silence.wholeMilliseconds),
            ]))
    }
}

extension Duration {
    fileprivate var wholeMilliseconds: Int64 {
        components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000
    }
}
