import RelayRecords
import Testing

@Suite(.bounded) struct RFC3339Tests {
    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00.000000Z"),
            (1_764_000_000_123_456, "2025-11-24T16:00:00.123456Z"),
            (951_782_400_000_000, "2000-02-29T00:00:00.000000Z"),
            (4_107_542_399_999_999, "2100-02-28T23:59:59.999999Z"),
            (-1, "1969-12-31T23:59:59.999999Z"),
            (-62_167_219_200_000_000, "0000-01-01T00:00:00.000000Z"),
            (253_402_300_799_999_999, "9999-12-31T23:59:59.999999Z"),
        ] as [(Int64, String)])
    func aTimeIsWrittenAndReadBackExactly(_ time: Int64, _ text: String) {
        #expect(RFC3339.text(microseconds: time) == text)
        #expect(RFC3339.microseconds(text) == time)
    }

    @Test(
        arguments: [
            ("2025-11-24T17:00:00+01:00", 1_764_000_000_000_000),
            ("2025-11-24t10:30:00.5-05:30", 1_764_000_000_500_000),
            ("2025-11-24 16:00:00z", 1_764_000_000_000_000),
            ("2025-11-24T16:00:00.1234567899Z", 1_764_000_000_123_456),
            ("2016-12-31T23:59:60Z", 1_483_228_800_000_000),
        ] as [(String, Int64)])
    func everyFormOfTheStandardIsRead(_ text: String, _ time: Int64) {
        #expect(RFC3339.microseconds(text) == time)
    }

    @Test(arguments: [
        "", "2025", "2025-11-24", "2025-11-24T16:00:00", "2025-11-24T16:00Z",
        "2025-02-29T00:00:00Z", "2025-04-31T00:00:00Z", "2025-13-01T00:00:00Z",
        "2025-00-01T00:00:00Z", "2025-01-00T00:00:00Z", "2025-01-01T24:00:00Z",
        "2025-01-01T00:60:00Z", "2025-01-01T00:00:61Z", "2025-01-01T00:00:00.Z",
        "2025-01-01T00:00:00+1:00", "2025-01-01T00:00:00+24:00", "2025-01-01T00:00:00Zz",
        "25-01-01T00:00:00Z", "+2025-01-01T00:00:00Z", "2025/01/01T00:00:00Z",
    ])
    func whatIsNoTimeIsRefused(_ text: String) {
        #expect(RFC3339.microseconds(text) == nil)
    }

    @Test func daysOfFourHundredYearsReadBack() {
        let day: Int64 = 86_400_000_000
        for number in stride(from: Int64(-10), to: 146_107, by: 23) {
            let time = number * day + 45_296_789_012
            #expect(RFC3339.microseconds(RFC3339.text(microseconds: time)) == time)
        }
    }

    @Test func theFarthestTimesAreWrittenWithoutATrap() {
        #expect(RFC3339.text(microseconds: .max) == "294247-01-10T04:00:54.775807Z")
        #expect(RFC3339.text(microseconds: .min) == "-290308-12-21T19:59:05.224192Z")
    }
}
