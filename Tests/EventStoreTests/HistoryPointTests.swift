import EventStore
import Testing

@Suite(.bounded) struct HistoryPointTests {
    @Test(
        arguments: [
            ("412", .sequence(412)),
            ("1970-01-01T00:00:01Z", .time(microseconds: 1_000_000)),
            ("@", .beforeLast(0)),
            ("@-3", .beforeLast(3)),
            ("@now", .ago(microseconds: 0)),
            ("@now-90s", .ago(microseconds: 90_000_000)),
            ("@now-1h", .ago(microseconds: 3_600_000_000)),
            ("@now-1w2d3h4m5s", .ago(microseconds: 788_645_000_000)),
        ] as [(String, HistoryPoint)])
    func everyFormIsRead(_ text: String, _ point: HistoryPoint) throws {
        #expect(try HistoryPoint(text) == point)
    }

    @Test(arguments: [
        "", "-3", "+3", "3.5", "@3", "@-", "@-x", "@+3", "@now-", "@now-1", "@now-h", "@now-1y",
        "@now-99999999999999999999s", "@now-9223372036854775807w", "99999999999999999999",
        "yesterday", "٣",
    ])
    func whatIsNoPointIsRefused(_ text: String) {
        let error = #expect(throws: EventStoreError.self) { try HistoryPoint(text) }
        #expect(error?.code == .notAPoint)
    }

    @Test func theMessageSaysWhatToGive() {
        let error = #expect(throws: EventStoreError.self) { try HistoryPoint("later") }
        #expect(
            error?.message == """
                "later" is not a point of a history. Give a sequence (412), an RFC 3339 time \
                (2026-11-21T09:30:00Z), events before the last (@-3) or a time before now (@now-1h).
                """)
    }
}
