import BoundedTesting
import Testing

@_spi(Rooms) @testable import RelayRecords

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
        var places = [LinkList.Place](repeating: .hole, count: list.end)
        list.forEachLink { position, record in
            builder.append(record, at: position)
            places[position] = .link(record)
        }
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

    // MARK: Prepending

    /// So many prepends copy each link a few times, and who follows them looks at each link a few times.
    @Test func aPrependCopiesWhatItChanges() {
        var list = LinkList((0..<100).map(record))
        var (copied, seen) = (0, 0)
        let count = 5_000
        for number in 0..<count {
            let next = list.splicing(start: 0, deleted: 0, inserted: [record(1_000 + number)])
            copied += Self.leavesCopied(from: list, to: next)
            next.forEachLinkAdded(since: list) { _ in seen += 1 }
            #expect(next.splice(from: list)?.inserted == [record(1_000 + number)])
            list = next
        }
        #expect(list.count == count + 100)
        #expect(list.next(from: 0)?.record == record(1_000 + count - 1))
        // One each time, and all of them each time that there is no room: of a list that is half as long again.
        #expect(copied < 2 * count)
        #expect(seen < 5 * count)
    }

    private static func leavesCopied(from old: LinkList, to new: LinkList) -> Int {
        func addresses(_ list: LinkList) -> Set<UInt> {
            var addresses: Set<UInt> = []
            list.places.forEachLeaf { _, leaf in
                leaf.withUnsafeBufferPointer {
                    _ = addresses.insert(UInt(bitPattern: $0.baseAddress))
                }
                return true
            }
            return addresses
        }
        return addresses(new).subtracting(addresses(old)).count
    }

    /// All places of an empty list are its end, and a position is never given again.
    @Test(arguments: [Int.min, -1, 0, 1, Int.max])
    func whatComesIntoAnEmptiedListGetsNewPositions(_ start: Int) {
        let emptied = LinkList([record(1)]).removing(at: 0)
        let list = emptied.splicing(start: start, deleted: 0, inserted: [record(2)])
        #expect(list[0] == .hole)
        #expect(list[1] == .link(record(2)))
        #expect(list.end == 2)
    }

    private typealias Link = (position: Int, record: RecordIndex?)

    /// Prepends among all other operations, beside a model that is an array of positions; the seed is printed.
    @Test func roomInFrontIsSeenByNobody() {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        var list = LinkList.empty
        var model: [Link] = []
        var end = 0
        // Each step looks at the whole list.
        for step in 0..<1_000 {
            let before = (list: list, model: model)
            // Some are the same.
            let inserted = (0...random.below(3)).map { _ in
                random.below(9) == 0 ? nil : record(random.below(3) == 0 ? random.below(4) : step)
            }
            switch random.below(step / 250 % 2 == 0 ? 100 : 160) {
            case 0..<60:
                list = list.splicing(start: -random.below(2), deleted: 0, inserted: inserted)
                Self.splice(&model, &end, 0..<0, inserted)
            case 60..<75:
                let position = end + (random.below(20) == 0 ? random.below(5) : 0)
                list = list.appending(inserted[0], at: position)
                model.append((position, inserted[0]))
                end = position + 1
            case 75..<80:
                let start = random.below(model.count + 1)
                let deleted = random.below(model.count - start + 1) % 4
                list = list.splicing(start: start, deleted: deleted, inserted: inserted)
                Self.splice(&model, &end, start..<start + deleted, inserted)
            default:
                guard !model.isEmpty else { continue }
                list = list.removing(at: model.remove(at: random.below(model.count)).position)
            }
            let isRight =
                Self.isSame(list, model, end, around: random.below(end + 2) - 1)
                && Self.isDifferenceRight(from: before, to: (list, model))
            #expect(isRight, "seed \(seed), step \(step)")
            if !isRight { return }
        }
    }

    private static func splice(
        _ model: inout [Link], _ end: inout Int, _ range: Range<Int>, _ inserted: [RecordIndex?]
    ) {
        if range.lowerBound >= model.count {
            for record in inserted {
                model.append((end, record))
                end += 1
            }
            return
        }
        var records = model.map(\.record)
        records.replaceSubrange(range, with: inserted)
        model = records.enumerated().map { ($0, $1) }
        end = model.count
    }

    private static func isSame(
        _ list: LinkList, _ model: [Link], _ end: Int, around position: Int
    ) -> Bool {
        var links: [Link] = []
        list.forEachLink { links.append(($0, $1)) }
        let next = model.first { $0.position >= position }
        let previous = model.last { $0.position <= position }
        return links.elementsEqual(model, by: ==) && list.records == model.map(\.record)
            && list.count == model.count && list.end == end
            && list.first == model.first?.position ?? end
            && list.next(from: position)?.position == next?.position
            && list.previous(from: position)?.position == previous?.position
            && (list[position] == .hole) == (next?.position != position)
            && (0..<4).map { RecordIndex(rawValue: $0) }.allSatisfy { record in
                list.position(of: record) == model.first { $0.record == record }?.position
            }
    }

    private static func isDifferenceRight(
        from old: (list: LinkList, model: [Link]), to new: (list: LinkList, model: [Link])
    ) -> Bool {
        func lines(_ sign: String, _ links: [Link], without others: [Link]) -> Set<String> {
            func lines(_ links: [Link]) -> Set<String> {
                Set(
                    links.compactMap { link in link.record.map { "\(sign)\(link.position):\($0)" } }
                )
            }
            return lines(links).subtracting(lines(others))
        }
        var changed: Set<String> = []
        new.list.forEachDifference(from: old.list) {
            changed.insert("-\($0):\($1)")
        } added: {
            changed.insert("+\($0):\($1)")
        }
        guard
            changed
                == lines("-", old.model, without: new.model)
                .union(lines("+", new.model, without: old.model))
        else { return false }
        var added: Set<RecordIndex?> = []
        new.list.forEachLinkAdded(since: old.list) { added.insert($0) }
        let (before, after) = (old.model.map(\.record), new.model.map(\.record))
        guard Set(after).subtracting(before).isSubset(of: added), added.isSubset(of: after) else {
            return false
        }
        return new.list.splice(from: old.list) == shortestSplice(from: before, to: after)
    }

    private static func shortestSplice(
        from old: [RecordIndex?], to new: [RecordIndex?]
    ) -> LinkSplice? {
        if old == new { return nil }
        let start = zip(old, new).prefix { $0 == $1 }.count
        let end = zip(old[start...].reversed(), new[start...].reversed()).prefix { $0 == $1 }.count
        return LinkSplice(
            start: start, removed: Array(old[start..<old.count - end]),
            inserted: Array(new[start..<new.count - end]))
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
