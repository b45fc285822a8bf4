import RelayStore
import Testing

@Suite struct LinkListTests {
    private func record(_ number: Int) -> RecordIndex { RecordIndex(rawValue: UInt32(number)) }

    @Test func positionsStayWhereTheyAreWhileLinksComeAndGo() {
        var list = LinkList((0..<200).map(record))
        let position = list.position(of: record(100))
        for number in stride(from: 0, to: 200, by: 3) where number != 100 {
            list = list.removing(record(number))
        }
        list = list.appending(record(777))
        #expect(list.position(of: record(100)) == position)
        #expect(list.position(of: record(777)) == 200)
        #expect(list.first == 1)
        #expect(list.next(from: 2)?.position == 2)
        #expect(list.next(from: 3)?.position == 4)
        #expect(list.previous(from: 3)?.position == 2)
        #expect(list.count == 134)
    }

    @Test func anEmptiedListStartsWhereTheNextLinkWillStand() {
        var list = LinkList([record(1), record(2)])
        list = list.removing(record(1)).removing(record(2))
        #expect(list.isEmpty)
        #expect(list.first == list.end)
        #expect(list.next(from: 0) == nil)
        list = list.appending(record(3))
        #expect(list.first == 2)
        #expect(list.records == [record(3)])
    }

    @Test func splicingCountsLinksAndNotHoles() {
        var list = LinkList((0..<6).map(record)).removing(record(1))
        list = list.splicing(start: 1, deleted: 2, inserted: [record(9), nil])
        #expect(list.records == [record(0), record(9), nil, record(4), record(5)])
        list = list.splicing(start: 99, deleted: 99, inserted: [record(8)])
        #expect(list.records.last == record(8))
    }

    @Test func restoringGivesTheSamePositions() {
        let list = LinkList([record(1), nil, record(2), record(3)]).removing(record(2))
        var places: [LinkList.Place] = []
        list.forEachPosition { places.append($0) }
        let restored = LinkList.restoring(places)
        #expect(places == [.link(record(1)), .link(nil), .hole, .link(record(3))])
        #expect(restored == list)
        #expect(restored.position(of: record(3)) == 3)
        #expect(restored.first == 0)
    }
}
