import EventStore
import HTTPMessages
import RelayJSON

/// What an HTTP request asks about the history: `/log/…` (docs/http.md).
struct HistoryRequest: Sendable {
    /// Why a request asks nothing, or is not answered.
    struct Refusal: Error {
        let status: Int
        let message: String
    }

    enum Question: Sendable {
        case events(History.SearchRange, Search)
        case event(HistoryPoint)
        /// - Parameter skip: for all records.
        case state(BlameTarget?, at: HistoryPoint, skip: Int)
        case blame(BlameTarget, showsLayers: Bool, before: UInt64?, skip: Int)
        case differences(HistoryPoint, HistoryPoint, record: String?, skip: Int)
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
        "/log/event": ["sequence"],
        "/log/state": ["record", "field", "at", "limit", "skip"],
        "/log/blame": ["record", "field", "optimistic", "before", "limit", "skip"],
        "/log/diff": ["a", "b", "record", "limit", "skip"],
    ]

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
        var limits = HistoryPage.Limits(lines: Self.defaultLines)
        if let text = values["limit"] {
            guard let lines = Int(digits: text), 1...Self.maximumLines ~= lines else {
                throw .wrong(
                    "limit", text, "is a whole number from 1 to \(Self.maximumLines)")
            }
            limits.lines = lines
        }
        if http.headers.prefers("text/plain", to: Self.mediaType) { limits.form = .text }
        self.limits = limits
        question = try Self.question(http.path, values, now: now)
    }

    /// One JSON value a line.
    static let mediaType = "application/x-ndjson"

    private static func question(
        _ path: String, _ values: QueryValues, now: Int64
    ) throws(Refusal) -> Question {
        let skip = Int(clamping: try values.number("skip") ?? 0)
        let target = values["record"].map { BlameTarget(record: $0, field: values["field"]) }
        switch path {
        case "/log/events":
            let range = History.SearchRange(
                after: try values.point("after"), before: try values.point("before"))
            return .events(range, try search(values, now: now))
        case "/log/event":
            return .event(try values.required("sequence", values.point("sequence")))
        case "/log/state":
            if values["field"] != nil, target == nil { throw .missing("record") }
            return .state(
                target, at: try values.point("at") ?? .beforeLast(0), skip: skip)
        case "/log/blame":
            let layers = values["optimistic"] ?? "false"
            guard ["true", "false"].contains(layers) else {
                throw .wrong("optimistic", layers, "is true or false")
            }
            return .blame(
                try values.required("record", target), showsLayers: layers == "true",
                before: try values.number("before"), skip: skip)
        default:
            return .differences(
                try values.required("a", values.point("a")),
                try values.required("b", values.point("b")), record: values["record"], skip: skip)
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

    /// Where to go on: the same request with other places.
    func link(_ places: [HistoryPage.Place: UInt64]) -> String {
        var items = query.map { ($0.name, $0.value) }
        for place in HistoryPage.Place.allCases {
            guard let value = places[place] else { continue }
            items.removeAll { $0.0 == place.rawValue }
            items.append((place.rawValue, String(value)))
        }
        return path + "?"
            + items.map { "\($0.0.percentEncoded)=\($0.1.percentEncoded)" }.joined(separator: "&")
    }
}

/// The parameters of a request: each is known, and there once.
private struct QueryValues {
    private var values: [String: String] = [:]

    init(_ http: HTTPRequest, known: [String]) throws(HistoryRequest.Refusal) {
        for item in http.query {
            guard item.isWellFormed else {
                throw HistoryRequest.Refusal(
                    status: 400,
                    message:
                        "The parameter \"\(item.name.shortened)\" is not percent-encoded UTF-8.")
            }
            guard known.contains(item.name) else {
                throw HistoryRequest.Refusal(
                    status: 400,
                    message: """
                        There is no parameter "\(item.name.shortened)" here; there are \
                        \(known.joined(separator: ", ")).
                        """)
            }
            guard values.updateValue(item.value, forKey: item.name) == nil else {
                throw HistoryRequest.Refusal(
                    status: 400, message: "The parameter \"\(item.name)\" is given twice.")
            }
        }
    }

    /// Nil for an empty value, too: a form sends those.
    subscript(name: String) -> String? {
        values[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    func number(_ name: String) throws(HistoryRequest.Refusal) -> UInt64? {
        guard let text = self[name] else { return nil }
        guard let number = UInt64(digits: text) else {
            throw .wrong(name, text, "is a whole number")
        }
        return number
    }

    func point(_ name: String) throws(HistoryRequest.Refusal) -> HistoryPoint? {
        guard let text = self[name] else { return nil }
        do throws(EventStoreError) {
            return try HistoryPoint(text)
        } catch {
            throw .wrong(
                name, text,
                """
                is a sequence (412), an RFC 3339 time (2026-11-21T09:30:00Z), events before the last (@-3) \
                or a time before now (@now-1h)
                """)
        }
    }

    func required<Value>(
        _ name: String, _ value: Value?
    ) throws(HistoryRequest.Refusal) -> Value {
        guard let value else { throw .missing(name) }
        return value
    }
}

extension HistoryRequest.Refusal {
    fileprivate static func wrong(_ name: String, _ text: String, _ what: String) -> Self {
        Self(
            status: 400,
            message: "The parameter \"\(name)\" \(what), not \"\(text.shortened.printable)\".")
    }

    fileprivate static func missing(_ name: String) -> Self {
        Self(status: 400, message: "The parameter \"\(name)\" is missing.")
    }
}

extension FixedWidthInteger {
    /// A text consisting only of digits; `+1` is not accepted.
    fileprivate init?(digits text: String) {
        guard text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        self.init(text)
    }
}

extension HTTPHeaders {
    /// Whether the client would rather have one media type than another, which it gets otherwise.
    fileprivate func prefers(_ type: String, to other: String) -> Bool {
        let ranges = list(in: "accept").map(MediaType.init)
        func quality(_ type: String) -> Double {
            ranges.max { ($0.specificity(for: type) ?? -1) < ($1.specificity(for: type) ?? -1) }
                .flatMap { $0.specificity(for: type) == nil ? nil : $0.quality } ?? 0
        }
        return quality(type) > quality(other)
    }
}
