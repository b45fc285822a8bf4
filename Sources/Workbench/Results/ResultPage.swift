import RelayJSON
import RelayRecords

/// What the results' part of the screen shows.
struct ResultPage: Equatable, Sendable {
    var title = ""
    /// What there is to say of the result.
    var about = ""
    var rows: [ResultRow] = []
    /// Which result it is of.
    var number: Int?

    /// What it is to show.
    struct Subject: Sendable {
        let pane: WorkbenchScreen.Pane
        /// Nil if nothing was run.
        let run: Run?
        /// The results of the run that are kept, for what they tell of a record.
        var results: [KeptResult] = []
        /// What the server tells of the record.
        var served: ServedRecord?

        struct Run: Sendable {
            let title: String
            let state: OperationRun.State
            let latency: Duration?
            let count: Int
            /// Those of them that are not kept any more.
            let droppedCount: Int
            let shown: KeptResult?
            /// The one before; nil if there is none to compare with.
            let before: KeptResult?
        }
    }

    init() {}

    /// Made away from the main actor: results may be large.
    @concurrent
    static func made(of subject: Subject) async -> ResultPage { ResultPage(subject) }

    init(_ subject: Subject) {
        var lines = ResultRows()
        switch subject.pane {
        case .tree, .table, .value:
            guard let run = subject.run else {
                title = "No results yet: Ctrl-R runs the operation, F1 shows all keys."
                return
            }
            title = Self.about(run)
            if let result = run.shown {
                let content = result.content
                number = result.number
                about = Self.about(result, content, of: run)
                if case .value(let path, _) = subject.pane {
                    about =
                        (path.isEmpty ? "the result" : path.joined(separator: " › ")) + "  "
                        + about
                }
                Self.add(content, subject, to: &lines)
            }
            if run.shown == nil, run.droppedCount > 0 {
                lines.add("Its results were dropped, to make room for others.", .unconfirmed)
            }
            if case .failed(let reason) = run.state { lines.add(whole: reason, .removed) }
        }
        rows = lines.finished
    }

    private static func add(
        _ content: KeptResult.Content, _ subject: Subject, to lines: inout ResultRows
    ) {
        if case .value(let path, let record) = subject.pane {
            return add(valueAt: path, of: content, record, subject, to: &lines)
        }
        for error in content.errors { lines.add(whole: message(of: error), .removed) }
        guard let data = content.data else { return }
        let before = subject.run?.before?.content.data
        let unconfirmed = content.optimisticRecords
        if subject.pane == .table {
            if ResultTable.add(data, after: before, unconfirmed: unconfirmed, to: &lines) { return }
            lines.add("There is no list in this result.", .unconfirmed)
        }
        ResultTree.add(data, after: before, unconfirmed: unconfirmed, to: &lines)
    }

    // MARK: About

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
        parts.append(String(RFC3339.text(microseconds: result.time).dropFirst(11).prefix(12)) + "Z")
        if result.number == run.droppedCount + 1, run.droppedCount > 0 {
            parts.append("older ones were dropped")
        }
        if result.followsGap { parts.append("some before it may be missing") }
        if content.isOptimistic { parts.append("not confirmed") }
        if let cursor = content.cursor {
            // Its last part is the place in the log.
            let sequence = cursor.split(separator: "-").last.flatMap { UInt64($0, radix: 16) }
            if let sequence { parts.append("event \(sequence)") }
            parts.append("cursor \(cursor)")
        }
        return parts.joined(separator: "  ")
    }

    // MARK: Errors

    private static func message(of error: JSONValue) -> String {
        let message = error["message"]?.string ?? error.text
        let code = error["extensions"]?["code"]?.string.map { " (\($0))" } ?? ""
        let path = error["path"].map { " at \($0.text)" } ?? ""
        return message + code + path
    }

    // MARK: One value

    /// So much of the newest results is looked at for what they tell of a record, in bytes.
    private static let toldLimit = 1 << 20

    /// The whole value, and what the operation's results told of the record that it belongs to.
    private static func add(
        valueAt path: [String], of content: KeptResult.Content, _ record: String?,
        _ subject: Subject, to lines: inout ResultRows
    ) {
        switch content.data.flatMap({ $0.value(at: path) }) {
        case .string(let text)?: lines.add(whole: text)
        case let value? where value.isComposite:
            ResultTree.add(value, after: nil, at: path, of: record, to: &lines)
        case let value?: lines.add(value.text)
        case nil: lines.add("It is not in this result.", .unconfirmed)
        }
        guard let record else { return }
        lines.add("")
        lines.add("\(record), as this operation's results tell it, newest first", .heading)
        var bytes = 0
        let newest = subject.results.reversed().prefix { result in
            defer { bytes += result.byteCount }
            return bytes < toldLimit
        }
        for change in changes(of: record, in: newest.reversed()).reversed() {
            lines.add("\(RFC3339.text(microseconds: change.time))  \(change.text)")
        }
        if newest.count < subject.results.count {
            lines.add("Older results were not looked at.", .unconfirmed)
        }
        if let served = subject.served {
            lines.add("")
            served.add(to: &lines)
        }
    }

    private static func changes(
        of record: String, in results: [KeptResult]
    ) -> [(time: Int64, text: String)] {
        var last: [String: JSONValue] = [:]
        var changes: [(time: Int64, text: String)] = []
        for result in results {
            for object in result.content.data?.objects(withID: record) ?? [] {
                // Ids may be of a type.
                let type = object["__typename"]?.string.map { $0 + "." } ?? ""
                for member in object where !member.value.isComposite && member.key != "__typename" {
                    let name = type + member.key
                    let old = last.updateValue(member.value, forKey: name)
                    if old == member.value { continue }
                    let change = old.map { "\($0.text) -> " } ?? ""
                    changes.append((result.time, "\(name)  \(change)\(member.value.text)"))
                }
            }
        }
        return changes
    }

    // MARK: Help

    static let help = [
        "Tab, Shift-Tab    the next part: schema, operations, editor, variables, results",
        "Ctrl-R F5         run the operation at the caret",
        "Ctrl-X            stop the operation that is shown",
        "F2                results as a tree or as a table",
        "Escape            back to the results",
        "q, Ctrl-C         leave (q not while you type)",
        "",
        "In the schema",
        "Enter Right Left  open and close",
        "i                 write the field into the editor",
        "/                 search; Escape ends the search",
        "",
        "In the editor",
        "Tab               take the suggestion",
        "Ctrl-N Ctrl-P     the next suggestion, the one before; without suggestions: the history",
        "Ctrl-Up Ctrl-Down the history of operations",
        "Escape            hide the suggestions",
        "Ctrl-O            empty the editor; what was in it goes into the history",
        "",
        "In the list of operations",
        "Enter             show the results of this one",
        "x                 stop it",
        "",
        "In the results",
        "Left Right < >    the result before, the next one, the first, the newest",
        "v                 tree or table",
        "Enter             the whole value, and what results told of its record",
        "yellow            differs from the result before",
        "red               gone since the result before, or an error",
        "grey              not confirmed yet",
        "",
        "The newest results of an operation are kept, up to 32 MiB, and of all up to 128 MiB.",
        "",
        "Escape, F1        back",
    ]
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

    /// What names and indexes lead to.
    func value(at path: some Collection<String>) -> JSONValue? {
        guard let name = path.first else { return self }
        switch self {
        case .object(let object): return object[name]?.value(at: path.dropFirst())
        case .array(let elements):
            guard let index = Int(name), elements.indices.contains(index) else { return nil }
            return elements[index].value(at: path.dropFirst())
        default: return nil
        }
    }

    /// The objects in it that have an id.
    func objects(withID id: String) -> [JSONObject] {
        switch self {
        case .object(let object):
            (recordID == id ? [object] : []) + object.flatMap { $0.value.objects(withID: id) }
        case .array(let elements): elements.flatMap { $0.objects(withID: id) }
        default: []
        }
    }
}
