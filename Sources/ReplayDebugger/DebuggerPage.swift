import Console
import EventStore
import RelayJSON
@_spi(Rooms) import RelayRecords

/// The lower part of the screen.
struct DebuggerPage: Sendable {
    typealias Row = DebuggerScreen.Row
    private typealias Line = (text: String, record: String?, field: String?)

    let title: String
    let rows: [Row]

    /// More rows than anybody reads are cut off, and counted.
    private static let rowLimit = 5_000

    private init(
        _ title: String, _ lines: some Collection<Line>, changed: Set<String> = []
    ) {
        self.title = title
        var rows = zip(1..., lines.prefix(Self.rowLimit)).map { place, line in
            Row(
                id: place, text: line.text, record: line.record, field: line.field,
                isChanged: line.field.map(changed.contains) ?? false)
        }
        let more = lines.count - rows.count
        if more > 0 { rows.append(Row(id: rows.count + 1, text: "and \(more) more")) }
        self.rows = rows
    }

    init(_ title: String) { self.init(title, [Line]()) }

    init(changes: [FieldDifference]) {
        self.init(
            changes.isEmpty ? "No record changed." : "Changes", changes.lazy.map(Self.row))
    }

    init(without event: UInt64, _ differences: [FieldDifference]) {
        self.init(
            differences.isEmpty
                ? "Without event \(event) all would be as it is."
                : "Now, and as it would be without event \(event)",
            differences.lazy.map(Self.row))
    }

    private static func row(_ difference: FieldDifference) -> Line {
        (difference.line, difference.record, difference.field)
    }

    /// All fields; those that changed with the value before.
    init(record id: String, _ before: Snapshot, _ after: Snapshot) {
        let changes = before.differences(to: after, record: id)
        let changed = Dictionary(changes.map { ($0.field, $0.change.line) }) { $1 }
        guard let index = after.existing(id), let record = after.recordJSON(index) else {
            let isGone = before.existing(id) != nil
            self.init(
                isGone ? "\(id) was deleted." : "\(id) does not exist here.", changes.map(Self.row))
            return
        }
        let fields =
            [("__typename", JSONValue.string(record.type).text)]
            + record.sorted.fields.map { ($0.key, $0.value.recordJSON.text) }
        let gone = changes.filter { change in !fields.contains { $0.0 == change.field } }
        let rows = fields.map { field, value in
            (
                text: field.padded(to: 24) + (changed[field] ?? value), record: Optional(id),
                field: Optional(field)
            )
        }
        self.init(
            id,
            rows
                + gone.map {
                    ($0.field.padded(to: 24) + $0.change.line, Optional(id), Optional($0.field))
                }, changed: Set(changed.keys))
    }

    init(pending: [PendingMutation]) {
        self.init(
            pending.isEmpty ? "No mutation is in flight." : "Mutations in flight, newest last",
            pending.flatMap { mutation in
                [
                    (
                        text: "\(mutation.sequence)".padded(to: 8) + mutation.intent.operation
                            + " " + mutation.intent.arguments.text, record: String?.none,
                        field: String?.none
                    )
                ]
                    + (mutation.intent.optimistic?.recordIDs ?? []).map {
                        ("        expects changes of \($0)", Optional($0), nil)
                    }
            })
    }

    init(answer: JSONValue) {
        self.init("Answer", Self.lines(of: answer).lazy.map { ($0, nil, nil) })
    }

    static let help = DebuggerPage(
        "Keys",
        [
            "Right n, Left p   the next event, the one before",
            "< > g             the first event, the newest, another one",
            "/                 run to where a record, a field, or a condition says so",
            "r R               run there again, forward or backward",
            "Up Down           choose a field below",
            "w W               run back to what changed it before, or on to what changes it next",
            "Enter c           the whole record; back to what the event changed",
            "o                 mutations in flight, with what they expect",
            "e a               ask a query here; its answer",
            "t                 what would be different at the end without this event",
            "Escape            end a search; back to what the event changed",
            "q                 leave",
        ].map { ($0, nil, nil) })

    // MARK: JSON

    /// With one member a line, indented.
    static func lines(of value: JSONValue) -> [String] {
        var lines: [String] = []
        func add(_ value: JSONValue, _ head: String, _ indent: String, _ tail: String) {
            switch value {
            case .object(let object) where !object.isEmpty:
                lines.append("\(indent)\(head){")
                let members = Array(object)
                for (place, member) in members.enumerated() {
                    add(
                        member.value, JSONValue.string(member.key).text + ": ", indent + "  ",
                        place + 1 < members.count ? "," : "")
                }
                lines.append("\(indent)}\(tail)")
            case .array(let elements) where !elements.isEmpty:
                lines.append("\(indent)\(head)[")
                for (place, element) in elements.enumerated() {
                    add(element, "", indent + "  ", place + 1 < elements.count ? "," : "")
                }
                lines.append("\(indent)]\(tail)")
            default: lines.append("\(indent)\(head)\(value.text)\(tail)")
            }
        }
        add(value, "", "", "")
        return lines
    }
}
