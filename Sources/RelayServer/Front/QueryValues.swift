import EventStore
import HTTPMessages
import RelayJSON

/// The parameters of a request: each is known, and there once.
struct QueryValues {
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

    /// How many lines an answer may have.
    func lines() throws(HistoryRequest.Refusal) -> Int {
        guard let text = self["limit"] else { return HistoryRequest.defaultLines }
        guard let lines = Int(digits: text), 1...HistoryRequest.maximumLines ~= lines else {
            throw .wrong(
                "limit", text, "is a whole number from 1 to \(HistoryRequest.maximumLines)")
        }
        return lines
    }

    func required<Value>(
        _ name: String, _ value: Value?
    ) throws(HistoryRequest.Refusal) -> Value {
        guard let value else { throw .missing(name) }
        return value
    }
}

extension HistoryRequest.Refusal {
    static func wrong(_ name: String, _ text: String, _ what: String) -> Self {
        Self(
            status: 400,
            message: "The parameter \"\(name)\" \(what), not \"\(text.shortened.printable)\".")
    }

    static func missing(_ name: String) -> Self {
        Self(status: 400, message: "The parameter \"\(name)\" is missing.")
    }
}

extension FixedWidthInteger {
    /// A text consisting only of digits; `+1` is not accepted.
    init?(digits text: String) {
        guard text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        self.init(text)
    }
}
