import EventStore
import HTTPMessages
import RelayJSON

/// What an HTTP request asks about the history: `/log/…`, and what of `/explorer/…` is about it (docs/http.md).
struct HistoryRequest: Sendable {
    /// Why a request asks nothing, or is not answered.
    struct Refusal: Error {
        let status: Int
        let message: String
    }

    enum Question: Sendable {
        case events(History.SearchRange, Search)
        /// - Parameter skip: leaves out the changes of as many records.
        case event(HistoryPoint, skip: Int)
        /// - Parameter skip: for all records.
        case state(BlameTarget?, at: HistoryPoint, skip: Int)
        case blame(BlameTarget, showsLayers: Bool, before: UInt64?, skip: Int)
        /// - Parameters:
        ///   - from: leaves out as many records.
        ///   - skip: leaves out as many lines behind those.
        case differences(HistoryPoint, HistoryPoint, record: String?, from: Int, skip: Int)
        case types(at: HistoryPoint)
        case records(RecordSearch, at: HistoryPoint)
        /// The record with an id, if there is one.
        case record(String, at: HistoryPoint)
        /// - Parameters:
        ///   - at: the event behind which the difference is looked at.
        ///   - from: leaves out as many lines.
        case withoutEvents(Set<UInt64>, at: HistoryPoint, from: Int)
    }

    /// Which events; the condition is checked, but not yet parsed.
    struct Search: Sendable {
        let kinds: Set<String>
        let operation: String?
        let record: String?
        let condition: String?

        /// - Parameter now: microseconds since 1970, for times relative to it.
        func filter(now: Int64) throws(EventTextError) -> EventFilter {
            var filter = EventFilter()
            filter.kinds = kinds
            filter.operation = operation
            filter.record = record
            if let condition { filter.condition = try EventCondition(parsing: condition, now: now) }
            return filter
        }
    }

    /// By path, the parameters that there are.
    static let parameters: [String: [String]] = [
        "/log/events": [
            "after", "before", "limit", "kind", "operation", "record", "where",
        ],
        "/log/event": ["sequence", "limit", "skip"],
        "/log/state": ["record", "field", "at", "limit", "skip"],
        "/log/blame": ["record", "field", "optimistic", "before", "limit", "skip"],
        "/log/diff": ["a", "b", "record", "limit", "from", "skip"],
        "/explorer/types": ["at"],
        "/explorer/records": [
            "id", "type", "at", "after", "limit", "order", "field", "value",
        ],
        "/explorer/what-if": ["skip", "at", "limit", "from"],
    ]

    /// No answer has as many lines; sums of it and others cannot overflow.
    private static let largestPlace: UInt64 = 1 << 40

    private static let largestBlameSkip: UInt64 = 100_000

    static let defaultLines = 100
    static let maximumLines = 10_000

    let question: Question
    let limits: HistoryPage.Limits
    let path: String
    private let query: [HTTPRequest.QueryItem]

    /// - Parameter now: microseconds since 1970, for times relative to it.
    /// - Throws: 400.
    init(_ http: HTTPRequest, now: Int64) throws(Refusal) {
        path = http.path
        query = http.query.filter { !$0.value.isEmpty }
        let values = try QueryValues(http, known: Self.parameters[http.path] ?? [])
        // An event is one line; what is limited are the records of its changes.
        var limits = HistoryPage.Limits(
            lines: path == "/log/event" && values["limit"] == nil
                ? Self.maximumLines : try values.lines())
        if Self.isForPeople(http) { limits.form = .text }
        self.limits = limits
        question = try Self.question(http.path, values, now: now)
    }

    /// One JSON value a line.
    static let mediaType = "application/x-ndjson"

    /// Whether whoever asks wants to read the answer, and not to parse it.
    static func isForPeople(_ http: HTTPRequest) -> Bool {
        http.headers.prefers("text/plain", to: mediaType)
    }

    private static func question(
        _ path: String, _ values: QueryValues, now: Int64
    ) throws(Refusal) -> Question {
        func place(_ name: String) throws(Refusal) -> Int {
            Int(clamping: min(try values.number(name) ?? 0, largestPlace))
        }
        let target = values["record"].map { BlameTarget(record: $0, field: values["field"]) }
        switch path {
        case "/log/events":
            let range = History.SearchRange(
                after: try values.point("after"), before: try values.point("before"))
            return .events(range, try search(values, now: now))
        case "/log/event":
            return .event(
                try values.required("sequence", values.point("sequence")), skip: try place("skip"))
        case "/log/state":
            if values["field"] != nil, target == nil { throw .missing("record") }
            return .state(
                target, at: try values.point("at") ?? .beforeLast(0), skip: try place("skip"))
        case "/log/blame":
            // A link leaves out entries of one event at most; they are held while they are looked for.
            guard try values.number("skip") ?? 0 <= largestBlameSkip else {
                throw .wrong("skip", values["skip"] ?? "", "is at most \(largestBlameSkip)")
            }
            let layers = values["optimistic"] ?? "false"
            guard ["true", "false"].contains(layers) else {
                throw .wrong("optimistic", layers, "is true or false")
            }
            return .blame(
                try values.required("record", target), showsLayers: layers == "true",
                before: try values.number("before"), skip: try place("skip"))
        case "/explorer/types":
            return .types(at: try values.point("at") ?? .beforeLast(0))
        case "/explorer/records":
            let point = try values.point("at") ?? .beforeLast(0)
            guard let id = values["id"] else { return .records(try records(values), at: point) }
            for name in ["type", "after", "order", "field", "value"] where values[name] != nil {
                throw Refusal(
                    status: 400, message: "The parameter \"id\" stands alone, without \"\(name)\".")
            }
            return .record(id, at: point)
        case "/explorer/what-if":
            return .withoutEvents(
                try skippedEvents(values), at: try values.point("at") ?? .beforeLast(0),
                from: try place("from"))
        default:
            return .differences(
                try values.required("a", values.point("a")),
                try values.required("b", values.point("b")), record: values["record"],
                from: try place("from"), skip: try place("skip"))
        }
    }

    private static func search(
        _ values: QueryValues, now: Int64
    ) throws(Refusal) -> Search {
        let kinds = values["kind"]?.split(separator: ",").map(String.init) ?? []
        for kind in kinds where !EventFilter.knownKinds.contains(kind) {
            throw .wrong(
                "kind", kind, "is one of \(EventFilter.knownKinds.joined(separator: ", "))")
        }
        let search = Search(
            kinds: Set(kinds), operation: values["operation"], record: values["record"],
            condition: values["where"])
        let filter: EventFilter
        do throws(EventTextError) {
            filter = try search.filter(now: now)
        } catch {
            throw Refusal(
                status: 400, message: "The parameter \"where\" cannot be parsed. \(error)")
        }
        if filter.condition?.hasPatterns == true {
            throw Refusal(
                status: 400,
                message: """
                    A server does not look for regular expressions ("matches"), which may take any time; \
                    "contains" looks for a text, and tools on the log's directory know both.
                    """)
        }
        return search
    }

    private static func records(_ values: QueryValues) throws(Refusal) -> RecordSearch {
        var search = RecordSearch(type: try values.required("type", values["type"]))
        search.after = values["after"]
        let order = values["order"] ?? "oldest"
        guard ["newest", "oldest"].contains(order) else {
            throw .wrong("order", order, "is newest or oldest")
        }
        search.isNewestFirst = order == "newest"
        switch (values["field"], values["value"]) {
        case (nil, nil): break
        case (nil, _?): throw .missing("field")
        case (_?, nil): throw .missing("value")
        case (let field?, let text?):
            guard let value = try? JSONValue(parsing: text) else {
                throw .wrong("value", text, "is JSON, such as 1 or \"text\" in quotes")
            }
            search.field = (field, value)
        }
        return search
    }

    private static func skippedEvents(_ values: QueryValues) throws(Refusal) -> Set<UInt64> {
        let text = try values.required("skip", values["skip"])
        var events: Set<UInt64> = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let sequence = UInt64(digits: String(part)) else {
                throw .wrong("skip", text, "is the sequence of an event, or several with commas")
            }
            events.insert(sequence)
        }
        return events
    }

    /// Where to go on: the same request with other places.
    func link(_ places: [HistoryPage.Place: String]) -> String {
        var items = query.map { ($0.name, $0.value) }
        for place in HistoryPage.Place.allCases {
            guard let value = places[place] else { continue }
            items.removeAll { $0.0 == place.rawValue }
            items.append((place.rawValue, value))
        }
        return path + "?"
            + items.map { "\($0.0.percentEncoded)=\($0.1.percentEncoded)" }.joined(separator: "&")
    }
}
