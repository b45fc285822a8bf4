/// Turns one list of links into another: at one place, removes a number of links and inserts others.
package struct LinkSplice: Hashable, Sendable {
    /// Counted without holes, as a reader of the list counts.
    package let start: Int
    package let removed: [RecordIndex?]
    package let inserted: [RecordIndex?]
}

extension LinkList {
    /// The shortest splice that turns an older list into this one; nil if they have the same links.
    ///
    /// For a list that was appended to, or prepended to where it had room, only the differences are compared;
    /// otherwise this walks through both, using memory only for the difference.
    package func splice(from old: LinkList) -> LinkSplice? {
        if self === old { return nil }
        let start = commonBeginning(with: old)
        let end = commonEnd(with: old, atMost: min(count, old.count) - start)
        let removed = old.links(from: start, count: old.count - end - start)
        let inserted = links(from: start, count: count - end - start)
        if removed.isEmpty, inserted.isEmpty { return nil }
        return LinkSplice(start: start, removed: removed, inserted: inserted)
    }

    /// How many links both begin with.
    private func commonBeginning(with old: LinkList) -> Int {
        // Without holes and explicit positions, memory shared by the two lists need not be compared.
        if hasNoHoles, old.hasNoHoles, room == old.room {
            var first = min(count, old.count)
            places.forEachDifference(from: old.places) { place, _, _ in
                first = min(first, place - room)
            }
            return first
        }
        var common = 0
        var (mine, theirs) = (links(from: 0), old.links(from: 0))
        while let link = mine.next(), let other = theirs.next(), link.record == other.record {
            common += 1
        }
        return common
    }

    /// How many links both end with.
    private func commonEnd(with old: LinkList, atMost limit: Int) -> Int {
        if hasNoHoles, old.hasNoHoles, places.count == old.places.count {
            var last = -1
            places.forEachDifference(from: old.places) { place, _, _ in last = place }
            return min(limit, places.count - 1 - last)
        }
        var common = 0
        var (mine, theirs) = (linksBack(from: self.end), old.linksBack(from: old.end))
        while common < limit, let link = mine.next(), let other = theirs.next(),
            link.record == other.record
        {
            common += 1
        }
        return common
    }

    private func links(from index: Int, count: Int) -> [RecordIndex?] {
        guard count > 0 else { return [] }
        var links = self.links(from: hasNoHoles ? index : 0)
        if !hasNoHoles { for _ in 0..<index { _ = links.next() } }
        var records: [RecordIndex?] = []
        while records.count < count, let link = links.next() { records.append(link.record) }
        return records
    }
}
