@_spi(Rooms) import RelayRecords
import Testing

@testable import EventStore

/// Ids and values come from clients.
@Suite struct LineTests {
    @Test func aChangeIsOneLineThatTheTerminalDoesNotActOn() {
        let difference = FieldDifference(
            record: "a\u{1B}[2J\n", field: "text",
            change: .value(before: .string("b"), after: .string("\u{9B}2J\u{202E}")))
        let (name, values) = (#"a\u001b[2J\u000a.text"#, #""b" -> "\u009b2J\u202e""#)
        #expect(difference.line == name.padded(to: 32) + values)
    }
}
