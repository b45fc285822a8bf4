import Foundation
import RelayJSON
import Testing

@_spi(Rooms) @testable import RelayRecords

@Suite(.bounded) struct ShapeTests {
    /// Each shape keeps those that grew out of it. They must not let go of each other from within each other: a
    /// store goes on whichever thread had it last, and that may have a small stack.
    @Test func aLongChainOfShapesGoesWithoutAStackOfItsLength() async {
        await withCheckedContinuation { isGone in
            let thread = Thread {
                var draft = Draft(on: Snapshot(), keepsPayloads: false)
                for number in 0..<3_000 {
                    draft.write("a", type: "Todo", fields: [("field\(number)", .int(1))])
                }
                _ = consume draft
                isGone.resume()
            }
            thread.stackSize = 256 << 10
            thread.start()
        }
    }

    /// A record that is asked for one field with ever other arguments.
    @Test func aWideRecordKeepsItsFieldsAndLeavesNoShapes() throws {
        var draft = Draft(on: Snapshot(), keepsPayloads: false)
        let names = (0..<1_000).map { "f(n:\($0 * 7 % 1_000))" }
        for (number, name) in names.enumerated() {
            draft.write("a", type: "A", fields: [(name, .int(Int64(number)))])
        }
        let before = draft.snapshot
        let record = try #require(before.existing("a"))
        #expect(before.recordJSON(record)?.fields.map(\.key) == names)
        // Many at once, some known and some new, and one of them twice.
        let more = (990..<1_010).map { (key: "f(n:\($0))", value: FieldValue.string("s\($0)")) }
        draft.write("a", type: "A", fields: more + [("f(n:1009)", .null)])
        let snapshot = draft.snapshot
        #expect(snapshot.recordJSON(record)?.fields.count == 1_010)
        #expect(snapshot.fieldValue("f(n:999)", of: record) == .string("s999"))
        #expect(snapshot.fieldValue("f(n:1008)", of: record) == .string("s1008"))
        #expect(snapshot.fieldValue("f(n:1009)", of: record) == .null)
        #expect(snapshot.fieldValue("f(n:7)", of: record) == .int(1))
        // Under another type, too.
        draft.write("a", type: "B", fields: [("own", .bool(true))])
        #expect(draft.snapshot.recordJSON(record)?.fields.count == 1_011)
        #expect(draft.snapshot.fieldValue("f(n:7)", of: record) == .int(1))
        #expect(before.recordJSON(record)?.fields.map(\.key) == names)
    }

    /// Fields that are unset leave their keys behind, but not for ever.
    @Test func unsettingManyFieldsOfAWideRecordMakesItNarrow() throws {
        var draft = Draft(on: Snapshot(), keepsPayloads: false)
        func fields(_ range: Range<Int>, _ value: FieldValue?) -> [(key: String, value: FieldValue)]
        {
            range.map { ("f(n:\($0))", value ?? .links(["a", nil, DataID("b\($0)")])) }
        }
        draft.write("a", type: "A", fields: fields(0..<400, nil))
        draft.write("a", type: "A", fields: [("text", .string("x")), ("json", .json(["a": 1]))])
        let before = draft.snapshot
        let record = try #require(before.existing("a"))
        for start in stride(from: 0, to: 390, by: 30) {
            draft.write("a", type: "A", fields: fields(start..<start + 30, .unset))
            let row = try #require(draft.snapshot.row(record))
            #expect(row.slotCount <= max(ShapeTable.wideLimit, (402 - start) * 2))
        }
        let row = try #require(draft.snapshot.row(record))
        #expect(row.slotCount <= ShapeTable.wideLimit)
        let names = (390..<400).map { "f(n:\($0))" }
        #expect(draft.snapshot.recordJSON(record)?.fields.map(\.key) == names + ["text", "json"])
        #expect(draft.snapshot.fieldValue("f(n:395)", of: record) == .links(["a", nil, "b395"]))
        #expect(draft.snapshot.fieldValue("text", of: record) == .string("x"))
        #expect(draft.snapshot.fieldValue("json", of: record) == .json(["a": 1]))
        #expect(before.recordJSON(record)?.fields.count == 402)
    }
}
