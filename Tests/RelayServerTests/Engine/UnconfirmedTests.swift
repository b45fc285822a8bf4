import RelayJSON
import ResultPatches
import Testing

@testable import StoreEngine

/// Which objects of a result are said not to be confirmed.
@Suite struct UnconfirmedTests {
    private func records(_ objects: [(String, String)]) -> ResultRecords {
        var records = ResultRecords()
        records.merge(["user": ["ref": "u"]], into: ResultRecords.rootID)
        for (id, text) in objects {
            records.merge(["id": .string(id), "text": .string(text)], into: ExactText(id))
            records.merge(["x": .string(text)], into: ExactText("client:\(id):place"))
        }
        return records
    }

    @Test func thoseThatDifferOrAreNotThere() {
        let unconfirmed = Unconfirmed(
            in: records([("b", "1"), ("same", "1"), ("client:new", "1")]),
            beyond: records([("b", "2"), ("same", "1"), ("gone", "1")]))
        #expect(unconfirmed.records == ["b", "client:new"])
    }

    @Test func anObjectIsTheSameInWhateverOrderItIsFound() {
        let objects = (0..<100).map { ("\($0)", "1") }
        let unconfirmed = Unconfirmed(in: records(objects), beyond: ResultRecords())
        #expect(unconfirmed.records == objects.map { ExactText($0.0) }.sorted())
    }

    @Test func soManyAndNoMore() {
        func count(_ objects: [(String, String)]) -> Int? {
            Unconfirmed(in: records(objects), beyond: ResultRecords()).records?.count
        }
        let limit = Unconfirmed.countLimit
        #expect(count((0..<limit).map { ("\($0)", "1") }) == limit)
        #expect(count((0...limit).map { ("\($0)", "1") }) == nil)
        let long = String(repeating: "x", count: Unconfirmed.byteLimit / 4 - 1)
        #expect(count((0..<4).map { ("\($0)" + long, "1") }) == 4)
        #expect(count((0..<4).map { ("\($0)x" + long, "1") }) == nil)
    }
}
