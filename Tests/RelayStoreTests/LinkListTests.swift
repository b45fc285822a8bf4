import BoundedTesting
import Testing

@testable import RelayStore

@Suite(.bounded) struct LinkListTests {
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

    static let extremes: [Int] = [.min, .min + 1, -1, 0, 1, 2, 3, .max - 1, .max]

    /// A log can say anything; a cursor can, too.
    @Test(arguments: extremes)
    func noPositionAndNoCountIsTooFar(_ number: Int) {
        let plain = LinkList((0..<3).map(record))
        var packed = LinkList((0..<300).map(record))
        for place in 0..<297 { packed = packed.removing(at: place) }
        #expect(packed.count == 3)
        for (list, first) in [(plain, 0), (packed, 297), (LinkList.empty, 0)] {
            let positions = list.isEmpty ? [] : Array(first..<first + 3)
            func all(_ links: LinkList.Links) -> [Int] {
                var links = links
                var found: [Int] = []
                while let link = links.next() { found.append(link.position) }
                return found
            }
            #expect(all(list.links(from: number)) == positions.filter { $0 >= number })
            #expect(all(list.links(after: number)) == positions.filter { $0 > number })
            #expect(
                all(list.linksBack(from: number)) == positions.reversed().filter { $0 <= number })
            #expect(
                all(list.linksBack(before: number)) == positions.reversed().filter { $0 < number })
            #expect((list[number] == .hole) == !positions.contains(number))
            #expect(
                list.removing(at: number).count == list.count - (positions.contains(number) ? 1 : 0)
            )
            for start in Self.extremes {
                let spliced = list.splicing(start: start, deleted: number, inserted: [record(9)])
                let from = min(max(start, 0), list.count)
                let deleted = min(max(number, 0), list.count - from)
                #expect(spliced.count == list.count - deleted + 1)
                #expect(spliced.records[from] == record(9))
            }
        }
    }

    @Test func aBuilderGivesTheSamePositions() {
        let list = LinkList([record(1), nil, record(2), record(3)]).removing(record(2))
        var builder = LinkListBuilder()
        var places: [LinkList.Place] = []
        list.forEachLink { builder.append($1, at: $0) }
        list.forEachPosition { places.append($0) }
        let restored = builder.finish(end: list.end)
        #expect(places == [.link(record(1)), .link(nil), .hole, .link(record(3))])
        #expect(restored == list)
        #expect(restored.position(of: record(3)) == 3)
        #expect(restored.first == 0)
    }

    /// Every operation beside a model that is an array of positions; the seed is printed.
    @Test func packingIsSeenByNobody() {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        var list = LinkList.empty
        var model: [(position: Int, record: RecordIndex)] = []
        var end = 0
        for step in 0..<6_000 {
            let before = (list, model)
            if random.below(100) < (step / 1_500 % 2 == 0 ? 70 : 20) || model.isEmpty {
                list = list.appending(record(step))
                model.append((end, record(step)))
                end += 1
            } else {
                let removed = model.remove(at: random.below(model.count))
                list =
                    random.below(2) == 0
                    ? list.removing(removed.record) : list.removing(at: removed.position)
            }
            var changed: [String] = []
            list.forEachDifference(from: before.0) {
                changed.append("-\($0):\($1.rawValue)")
            } added: {
                changed.append("+\($0):\($1.rawValue)")
            }
            #expect(changed == Self.difference(before.1, model), "seed \(seed), step \(step)")
            let position = random.below(end + 2) - 1
            let next = model.first { $0.position >= position }
            let previous = model.last { $0.position <= position }
            let isSame =
                list.count == model.count && list.end == end
                && list.first == model.first?.position ?? end
                && list.next(from: position)?.position == next?.position
                && list.previous(from: position)?.record == previous?.record
                && (list[position] == .hole) == (next?.position != position)
            #expect(isSame, "seed \(seed), step \(step), position \(position)")
            if !isSame { return }
        }
        #expect(list.records == model.map(\.record))
        #expect(list.places.count <= 2 * list.count + 65, "the holes are given back")
    }

    private static func difference(
        _ before: [(position: Int, record: RecordIndex)],
        _ after: [(position: Int, record: RecordIndex)]
    ) -> [String] {
        if after.count > before.count, let last = after.last {
            return ["+\(last.position):\(last.record.rawValue)"]
        }
        let place = zip(before, after).prefix { $0.position == $1.position }.count
        return ["-\(before[place].position):\(before[place].record.rawValue)"]
    }
}
