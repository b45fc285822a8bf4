import RelayJSON
import RelayRecords

/// What the results' part of the screen shows.
struct ResultPage: Equatable, Sendable {
    var title = ""
    /// What there is to say of the result.
    var about = ""
    var rows: [ResultRow] = []

    /// What it is to show.
    struct Subject: Sendable {
        let pane: WorkbenchScreen.Pane
        let run: Run?
        /// All that are kept, of all runs, by time; for what results tell of a record.
        let results: [KeptResult]

        struct Run: Sendable {
            let title: String
            let state: OperationRun.State
            let latency: Duration?
            let count: Int
            let shown: KeptResult?
            let before: KeptResult?
        }
    }

    init() {}

    /// Made away from the main actor: results may be large.
    @concurrent
    static func made(of subject: Subject) async -> ResultPage { ResultPage(subject) }

    init(_ subject: Subject) {
        switch subject.pane {
        case .help:
            title = "Keys"
            rows = Self.help
        case .record(let id):
            title = "Record \(id)"
            rows = Self.record(id, in: subject.results)
        case .tree, .table:
            guard let run = subject.run else {
                title = "No results yet: Ctrl-R runs the operation, F1 shows all keys."
                return
            }
            title = Self.about(run)
            if let result = run.shown {
                let content = result.content
                about = Self.about(result, content, of: run)
                rows = Self.rows(
                    of: content, after: run.before?.content.data, asTable: subject.pane == .table)
            }
            rows += Self.failure(of: run)
        }
    }

    private static func rows(
        of content: KeptResult.Content, after before: JSONValue?, asTable: Bool
    ) -> [ResultRow] {
        var lines = ResultRows()
        for error in content.errors { lines.add(line(of: error), .removed) }
        guard let data = content.data else { return lines.finished }
        let unconfirmed = content.optimisticRecords
        if asTable {
            if let rows = ResultTable.rows(of: data, after: before, unconfirmed: unconfirmed) {
                lines.add(rows)
                return lines.finished
            }
            lines.add("There is no list in this result.", .unconfirmed)
        }
        lines.add(ResultTree.rows(of: data, after: before, unconfirmed: unconfirmed))
        return lines.finished
    }

    private static func about(_ run: Subject.Run) -> String {
        let state =
            switch run.state {
            case .waiting: "waiting"
            case .live: "live"
            case .ended: "ended"
            case .stopped: "stopped"
            case .failed: "failed"
            }
        let latency = run.latency.map { ", first result after \($0.milliseconds)" } ?? ""
        return "\(run.title): \(state)\(latency)"
    }

    private static func about(
        _ result: KeptResult, _ content: KeptResult.Content, of run: Subject.Run
    ) -> String {
        var parts = ["result \(result.number) of \(run.count)"]
        // The time of day, to the millisecond.
        parts.append(String(RFC3339.text(microseconds: result.time).dropFirst(11).prefix(12)))
        if content.isOptimistic { parts.append("not confirmed") }
        if let cursor = content.cursor {
            // Its last part is the place in the log.
            let sequence = cursor.split(separator: "-").last.flatMap { UInt64($0, radix: 16) }
            if let sequence { parts.append("event \(sequence)") }
            parts.append("cursor \(cursor)")
        }
        return parts.joined(separator: "  ")
    }

    private static func failure(of run: Subject.Run) -> [ResultRow] {
        guard case .failed(let reason) = run.state else { return [] }
        return [ResultRow(id: -1, pieces: [.init(text: reason, mark: .removed)])]
    }

    private static func line(of error: JSONValue) -> String {
        let message = error["message"]?.string ?? error.text
        let code = error["extensions"]?["code"]?.string.map { " (\($0))" } ?? ""
        let path = error["path"].map { " at \($0.text)" } ?? ""
        return message + code + path
    }

    // MARK: A record

    /// What results have told of a record, newest first.
    private static func record(_ id: String, in results: [KeptResult]) -> [ResultRow] {
        var lines = ResultRows()
        var last: [String: JSONValue] = [:]
        var changes: [(time: Int64, text: String)] = []
        for result in results {
            for object in result.content.data?.objects(withID: id) ?? [] {
                for member in object where !member.value.isComposite {
                    let old = last.updateValue(member.value, forKey: member.key)
                    if old == member.value { continue }
                    let change = old.map { "\($0.text) -> " } ?? ""
                    changes.append((result.time, "\(member.key)  \(change)\(member.value.text)"))
                }
            }
        }
        lines.add("As the results here tell it", .heading)
        for (name, value) in last.sorted(by: { $0.key < $1.key }) {
            lines.add("\(name): \(value.text)")
        }
        lines.add("")
        lines.add("What changed, newest first", .heading)
        for change in changes.reversed() {
            lines.add("\(RFC3339.text(microseconds: change.time))  \(change.text)")
        }
        return lines.finished
    }

    // MARK: Help

    private static var help: [ResultRow] {
        var lines = ResultRows()
        for line in [
            "Tab, Shift-Tab    go from part to part: schema, operations, editor, variables, results",
            "Ctrl-R F5         run the operation at the caret",
            "Ctrl-X            stop the operation that is shown",
            "F2, v             results as a tree or as a table",
            "q, Ctrl-C         leave",
            "",
            "In the schema",
            "Enter Right Left  open and close",
            "i                 write the field into the editor",
            "/                 search; Escape ends it",
            "",
            "In the editor",
            "Tab               take the suggestion",
            "Ctrl-N Ctrl-P     choose another one; without suggestions, go through the history",
            "Ctrl-Up, Ctrl-Down  the history",
            "Escape            no suggestions",
            "Ctrl-O            empty it; what was in it is in the history",
            "",
            "In the operations",
            "Enter             show the results of this one",
            "x                 stop it",
            "",
            "In the results",
            "Left Right < >    the result before, after, the first, the newest",
            "Enter             the record of the line, and what results told of it",
            "Escape            back to the result",
        ] { lines.add(line) }
        return lines.finished
    }
}

extension Duration {
    /// In milliseconds, to a tenth below ten.
    var milliseconds: String {
        let tenths = (self / .microseconds(100)).rounded()
        return tenths < 100 ? "\(tenths / 10) ms" : "\(Int(tenths / 10)) ms"
    }
}

extension JSONValue {
    var isComposite: Bool {
        switch self {
        case .array, .object: true
        default: false
        }
    }

    /// The objects in it that have an id.
    func objects(withID id: String) -> [JSONObject] {
        switch self {
        case .object(let object):
            (self["id"]?.string == id ? [object] : [])
                + object.flatMap { $0.value.objects(withID: id) }
        case .array(let elements): elements.flatMap { $0.objects(withID: id) }
        default: []
        }
    }
}
