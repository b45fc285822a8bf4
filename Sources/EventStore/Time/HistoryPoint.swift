import RelayRecords

/// A point of a history, as people write it.
///
///     412                          after event 412
///     2026-11-21T09:30:00Z         after the last event at or before that time
///     @                            after the last event
///     @-3                          three events before that
///     @now-1h                      as it was an hour ago; units w, d, h, m, s, as in @now-1d12h
package enum HistoryPoint: Hashable, Sendable {
    case sequence(UInt64)
    /// Microseconds since 1970.
    case time(microseconds: Int64)
    /// This many events before the last.
    case beforeLast(UInt64)
    /// This long before now.
    case ago(microseconds: Int64)

    /// - Throws: `notAPoint`.
    package init(_ text: String) throws(EventStoreError) {
        guard let point = Self.read(text) else { throw .notAPoint(text) }
        self = point
    }

    private static func read(_ text: String) -> HistoryPoint? {
        if let sequence = UInt64(digits: text) { return .sequence(sequence) }
        if let time = RFC3339.microseconds(text) { return .time(microseconds: time) }
        guard text.first == "@" else { return nil }
        let rest = text.dropFirst()
        if rest.isEmpty { return .beforeLast(0) }
        if rest == "now" { return .ago(microseconds: 0) }
        if rest.hasPrefix("now-") {
            return microseconds(ofDuration: rest.dropFirst(4)).map { .ago(microseconds: $0) }
        }
        guard rest.first == "-" else { return nil }
        return UInt64(digits: rest.dropFirst()).map { .beforeLast($0) }
    }

    /// Parses a duration such as `90s` or `1d12h`, in microseconds.
    /// - Returns: nil if the text is not one, or is longer than any log can be old.
    package static func microseconds(ofDuration text: some StringProtocol) -> Int64? {
        var total: Int64 = 0
        var rest = text[...]
        while !rest.isEmpty {
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            rest = rest.dropFirst(digits.count)
            guard let number = Int64(digits), let unit = rest.popFirst(),
                let seconds = secondsByUnit[unit]
            else { return nil }
            let (part, isTooLong) = number.multipliedReportingOverflow(by: seconds * 1_000_000)
            let (sum, isSumTooLong) = total.addingReportingOverflow(part)
            guard !isTooLong, !isSumTooLong else { return nil }
            total = sum
        }
        return text.isEmpty ? nil : total
    }

    private static let secondsByUnit: [Character: Int64] = [
        "s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800,
    ]
}

extension UInt64 {
    /// A text consisting only of digits; `+1` is not accepted.
    fileprivate init?(digits text: some StringProtocol) {
        guard text.allSatisfy({ $0.isASCII && $0.isNumber }) else { return nil }
        self.init(text)
    }
}

extension EventStoreError {
    static func notAPoint(_ text: String) -> EventStoreError {
        EventStoreError(
            .notAPoint,
            """
            "\(text)" is not a point of a history. Give a sequence (412), an RFC 3339 time \
            (2026-11-21T09:30:00Z), events before the last (@-3) or a time before now (@now-1h).
            """)
    }
}
