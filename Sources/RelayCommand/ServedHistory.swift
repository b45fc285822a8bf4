import ArgumentParser
import Console
import EventStore
import RelayJSON
import RelayLink
import RelayRecords
import WebSocketIO

/// A command on the history in a log's directory, or on that of a running server, whose URL stands in its place.
protocol ServedHistoryTool: HistoryTool {
    var credentials: ServerCredentials { get }

    /// Does the same with what a server answers (docs/http.md).
    func run(on history: ServedHistory, printingTo output: LineOutput) async throws
}

/// What a server is shown, and checked with.
struct ServerCredentials {
    let token: String?
    let ca: String?

    init(token: String?, ca: String?) {
        self.token = token ?? environmentValue("RELAY_TOKEN")
        self.ca = ca
    }

    init(_ options: ServerOptions) { self.init(token: options.token, ca: options.ca) }
}

extension ServedHistoryTool {
    func run(printingTo output: LineOutput) async throws {
        guard log.isServed else { return try await readHistory(printingTo: output) }
        let address = try ServerAddress(argument: log.directory)
        let loop = try IOLoop.start()
        let client = HistoryClient(
            address, token: credentials.token, ca: credentials.ca, on: loop)
        do {
            try await run(
                on: ServedHistory(client: client, form: log.json ? .json : .text),
                printingTo: output)
        } catch {
            await loop.stop()
            // As in a directory: what can be read is printed, and then where the damage is.
            guard (error as? HistoryRefusal)?.isDamage == true else { throw error }
            try output.flush()
            complain("Error: \(error)")
            throw ExitCode.foundSomething
        }
        await loop.stop()
    }
}

extension LogArguments {
    /// Whether a server is asked, and nothing is read here.
    var isServed: Bool { directory.contains("://") && !isJournal }

    /// Of what changes the log's files.
    func checkIsOwnDirectory() throws(ValidationError) {
        if directory.contains("://") {
            throw ValidationError("This changes a log's directory; it takes no URL.")
        }
    }

    /// Of what needs the log's files, or a copy of them.
    func checkIsDirectory(_ what: String) throws(ValidationError) {
        if isServed { throw ValidationError("\(what) the log's directory, not a server's URL.") }
    }
}

/// The history of a running server, as lines.
struct ServedHistory {
    let client: HistoryClient
    let form: HistoryClient.LineForm

    /// Prints all lines of an answer, or the first ones.
    /// - Returns: how many there were, and the last event when the last page was made.
    @discardableResult
    func print(
        _ name: String, _ parameters: [(name: String, value: String)], limit: Int = .max,
        reversed: Bool = false, to output: LineOutput
    ) async throws -> (lines: Int, lastEvent: UInt64?) {
        let pageLimit = min(limit, HistoryClient.maximumLines)
        let question = HistoryClient.Question(
            name, parameters + [(name: "limit", value: String(pageLimit))], form: form)
        return try await print(question, limit: limit, reversed: reversed, to: output)
    }

    /// Prints all about one event. A server tells the changes of a large one a page at a time.
    func printEvent(_ point: String, to output: LineOutput) async throws {
        let question = HistoryClient.Question("event", [("sequence", point)], form: form)
        if form == .text {
            _ = try await print(question, limit: .max, reversed: false, to: output)
            return
        }
        var lines: [String] = []
        try await client.forEachPage(of: question) { page in
            lines += page.lines
            return true
        }
        guard lines.count > 1 else { return try lines.forEach(output.write) }
        let parts = try lines.map { try JSONValue(parsing: $0) }
        var event = parts[0].object ?? [:]
        event["changes"] = .array(parts.flatMap { $0["changes"]?.array ?? [] })
        try output.write(JSONValue.object(event).text.printable)
    }

    /// Checks that there are such events.
    func check(_ points: [HistoryPoint]) async throws {
        if points.isEmpty { return }
        // There are none before the first one; what is asked for is how far they reach.
        let question = HistoryClient.Question("events", [("before", "1"), ("limit", "1")])
        let page = try await client.forEachPage(of: question) { _ in false }
        guard let first = page.firstEvent, let last = page.lastEvent else { return }
        for point in points {
            // A checkpoint may hold the state before the first event that is kept.
            let lowest = max(first, 2) - 1
            let kept = first <= last ? first...last : nil
            switch point {
            case .sequence(let sequence) where sequence < lowest || sequence > last:
                throw EventStoreError.outOfRange(sequence, kept)
            case .beforeLast(let count) where last < lowest || count > last - lowest:
                throw EventStoreError.outOfRange(beforeLast: count, kept)
            default: break
            }
        }
    }

    private func print(
        _ question: HistoryClient.Question, limit: Int, reversed: Bool, to output: LineOutput
    ) async throws -> (lines: Int, lastEvent: UInt64?) {
        var count = 0
        let last = try await client.forEachPage(of: question) { page in
            let lines = page.lines
            for line in reversed ? lines.reversed() : lines where count < limit {
                try output.write(line)
                count += 1
            }
            try output.flush()
            return count < limit
        }
        return (count, last.lastEvent)
    }

    /// The first of several things that a path may mean about which a server says anything.
    /// - Parameter print: returns how many lines there were.
    func first(
        of targets: [BlameTarget], _ print: ([(name: String, value: String)]) async throws -> Int
    ) async throws -> Bool {
        var damage: HistoryRefusal?
        // Nothing has an empty name; a server would take it for none.
        for target in targets where !target.record.isEmpty && target.field != "" {
            var parameters = [(name: "record", value: target.record)]
            if let field = target.field { parameters.append(("field", field)) }
            do {
                if try await print(parameters) > 0 { return true }
            } catch let error as HistoryRefusal where error.isDamage && error.lineCount == 0 {
                // It may have hidden the only writes; those of another one may be told before it.
                damage = error
            }
        }
        if let damage { throw damage }
        return false
    }
}
