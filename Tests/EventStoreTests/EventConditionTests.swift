@_spi(Rooms) import RelayRecords
import Testing

@testable import EventStore

@Suite(.bounded) struct EventConditionTests {
    private let events: [EventSummary]

    init() throws {
        let log = try TodoHistory()
        let list = try log.open().summaries(in: 1...10)
        var events: [EventSummary] = []
        while let event = try list.next() { events.append(event) }
        self.events = events
    }

    private func sequences(where text: String) throws -> [UInt64] {
        let condition = try EventCondition(parsing: text, now: 9_000_000)
        return events.filter(condition.holds).map(\.sequence)
    }

    @Test(
        arguments: [
            (#"kind == "response""#, [3, 6, 9]),
            ("kind = response", [3, 6, 9]),
            ("kind in [mutation, 'revocation']", [2, 4, 5, 7, 8]),
            ("records contains t2", [3, 9]),
            ("'t2' in records", [3, 9]),
            ("mutationId == A:1", [2, 3]),
            (#"mutationId contains "A:""#, [2, 3, 4, 6]),
            ("viewer", [2, 3]),
            ("not viewer and sequence < 5", [1, 4]),
            ("! viewer && sequence<5", [1, 4]),
            ("sequence == 1 or sequence >= 9 and kind == update", [1, 10]),
            ("(sequence == 1 or sequence >= 9) and kind == update", [10]),
            ("variables.n == 1.0", [2, 3]),
            ("variables.n > 0", [2, 3]),
            ("arguments.n", [2, 3]),
            ("variables.n.deeper == 1", []),
            ("operation matches '^re'", [5, 7, 8, 9]),
            ("field == updateTodo", [4, 6]),
            ("ends <= 4", [3, 6]),
            ("reason != null", [7]),
            (#"time < "1970-01-01T00:00:02Z""#, [1, 2]),
            ("time >= @now-1s", [9, 10]),
            ("time == 1970-01-01T00:00:02Z", [3]),
            ("ends < operation", []),
            ("ends != null and sequence < 4", [3]),
            ("operation == '1e400'", []),
            ("null == viewer and kind == genesis", [1]),
        ] as [(String, [UInt64])])
    func eventsAreChosenByTheirFields(_ condition: String, _ expected: [UInt64]) throws {
        #expect(try sequences(where: condition) == expected, "\(condition)")
    }

    @Test(
        arguments: [
            ("", 1, "a field or a value was expected, not the end"),
            ("knd == response", 1, "\"knd\" is not a field of an event"),
            ("kind == ", 9, "a field or a value was expected, not the end"),
            ("kind == response nd sequence > 1", 18, "\"and\", \"or\" or the end was expected"),
            ("(viewer", 8, "\")\" was expected"),
            ("kind == \"resp", 9, "this text has no end"),
            ("time > yesterday", 8, "\"yesterday\" is not a time"),
            ("kind ~ response", 6, "\"~\" means nothing here"),
            ("operation matches '('", 19, "is not a regular expression"),
            ("kind in [a b]", 12, "\",\" or \"]\" was expected"),
            ("kind.x", 1, "\"kind\" has no parts"),
            ("sequence < 1e400", 12, "1e400 is too large for a number"),
            ("variables.n == -1e400", 16, "-1e400 is too large for a number"),
            ("sequence > \"a\"", 12, "\"sequence\" is compared with numbers, not with \"a\""),
            ("'a' < sequence", 1, "\"sequence\" is compared with numbers, not with \"a\""),
            ("sequence in [1, two]", 13, "\"sequence\" is compared with numbers, not with \"two\""),
            ("ends == true", 9, "\"ends\" is compared with numbers, not with true"),
        ] as [(String, Int, String)])
    func aMistakeIsToldWithItsPlace(_ text: String, _ position: Int, _ message: String) throws {
        do throws(EventTextError) {
            _ = try EventCondition(parsing: text, now: 0)
            Issue.record("\(text) was read")
        } catch {
            #expect(error.position == position && error.message.contains(message), "\(error)")
        }
    }

    @Test func nestingHasABound() {
        let text = String(repeating: "(", count: 100_000) + "viewer"
        #expect(throws: EventTextError("this is nested too deeply", at: 100)) {
            try EventCondition(parsing: text, now: 0)
        }
    }

    @Test(
        arguments: [
            ("{sequence} {operation}", "3 addTodo"),
            (#"{time}\t{kind:10}|{sequence:>4}|"#, "1970-01-01T00:00:02.000000Z\tresponse  |   3|"),
            ("{records} {{{mutationId}}} {variables.n} {variables}", #"t2 u1 {A:1} 1 {"n":1}"#),
            ("{reason}", "-"),
        ] as [(String, String)])
    func aTemplateIsFilledIn(_ template: String, _ line: String) throws {
        #expect(try EventTemplate(parsing: template).text(for: events[2]) == line)
    }

    @Test(
        arguments: [
            ("{sequnce}", 2), ("a {sequence", 3), ("a }", 3), ("{kind:wide}", 7),
        ] as [(String, Int)])
    func aMistakeInATemplateIsToldWithItsPlace(_ template: String, _ position: Int) throws {
        do throws(EventTextError) {
            _ = try EventTemplate(parsing: template)
            Issue.record("\(template) was read")
        } catch {
            #expect(error.position == position, "\(error)")
        }
    }

    /// - Parameter place: where the number is among the sequences 1 to 10: 0 before them, 11 behind.
    @Test(arguments: [
        ("-18446744073709551616", 0), ("-9223372036854775809", 0), ("-9223372036854775808", 0),
        ("-1", 0), ("0", 0), ("1", 1), ("10", 10), ("11", 11), ("2147483648", 11),
        ("4294967296", 11), ("9223372036854775806", 11), ("9223372036854775807", 11),
        ("9223372036854775808", 11), ("18446744073709551615", 11), ("18446744073709551616", 11),
        ("1e308", 11),
    ])
    func sequencesAreComparedWithAnyNumber(_ number: String, _ place: UInt64) throws {
        let all: [UInt64] = Array(1...10)
        #expect(try sequences(where: "sequence < \(number)") == all.filter { $0 < place })
        #expect(try sequences(where: "sequence <= \(number)") == all.filter { $0 <= place })
        #expect(try sequences(where: "sequence == \(number)") == all.filter { $0 == place })
        #expect(try sequences(where: "sequence != \(number)") == all.filter { $0 != place })
        #expect(try sequences(where: "sequence >= \(number)") == all.filter { $0 >= place })
        #expect(try sequences(where: "sequence > \(number)") == all.filter { $0 > place })
        #expect(try sequences(where: "\(number) < sequence") == all.filter { $0 > place })
        #expect(try sequences(where: "sequence in [\(number)]") == all.filter { $0 == place })
    }

    @Test func whatIsSaidOfSequencesBoundsWhatIsRead() throws {
        func bounds(_ text: String) throws -> ClosedRange<UInt64>? {
            try EventCondition(parsing: text, now: 0).bounds
        }
        #expect(try bounds("sequence > 412") == 413...UInt64.max)
        #expect(try bounds("sequence >= 412 and sequence < 500 and kind == response") == 412...499)
        #expect(try bounds("500 > sequence") == 0...499)
        #expect(try bounds("sequence == 7 or sequence in [3, 12]") == 3...12)
        #expect(try bounds("sequence > 9 or kind == update") == 0...UInt64.max)
        #expect(try bounds("not sequence > 9") == 0...UInt64.max)
        #expect(try bounds("sequence > 9 and sequence < 5") == nil)
        #expect(try bounds("sequence < 0") == nil)
        #expect(
            try bounds("sequence > 9223372036854775807") == 9_223_372_036_854_775_808...UInt64.max)
        #expect(try bounds("sequence >= -9223372036854775808") == 0...UInt64.max)
    }
}
