/// A list of links to records, as a field holds it: an immutable value that shares memory with the lists
/// it was made from.
///
/// Every link has a *position*, given once, rising, and never given again while the list is only appended
/// to and removed from: a removed link leaves a hole. That is what makes a connection's cursors stable
/// (Cursor Connections §Cursor) without a word about them in the log. Only `splicing` in the middle
/// renumbers.
///
/// Invariants: 1. `first` is the position of the first link, or `end` if there is none. 2. `count` is
/// the number of positions that are not holes. 3. Holes are equal to `hole` and nothing else is.
package final class LinkList: Sendable {
    private let positions: PersistentVector<UInt32>
    /// Links in the list.
    package let count: Int
    /// Position of the first link.
    package let first: Int

    private static let hole = UInt32.max
    /// A record that the server could not link (`null` in a list).
    private static let null = UInt32.max - 1

    package static let empty = LinkList(positions: PersistentVector(), count: 0, first: 0)

    private init(positions: PersistentVector<UInt32>, count: Int, first: Int) {
        self.positions = positions
        self.count = count
        self.first = first
    }

    /// A list of these records; nil is a null element.
    package convenience init(_ records: some Sequence<RecordIndex?>) {
        var positions = PersistentVector<UInt32>()
        for record in records { positions.append(record?.rawValue ?? Self.null) }
        self.init(positions: positions, count: positions.count, first: 0)
    }

    /// The position that the next appended link gets.
    package var end: Int { positions.count }

    package var isEmpty: Bool { count == 0 }

    /// What stands at a position.
    package enum Place: Equatable {
        case hole
        case link(RecordIndex?)
    }

    package subscript(position: Int) -> Place {
        guard position >= 0, position < end else { return .hole }
        return Self.place(positions[position])
    }

    /// The first link at or behind a position.
    package func next(from position: Int) -> (position: Int, record: RecordIndex?)? {
        var position = max(position, first)
        while position < end {
            if case .link(let record) = Self.place(positions[position]) {
                return (position, record)
            }
            position += 1
        }
        return nil
    }

    /// The last link at or before a position.
    package func previous(from position: Int) -> (position: Int, record: RecordIndex?)? {
        var position = min(position, end - 1)
        while position >= first {
            if case .link(let record) = Self.place(positions[position]) {
                return (position, record)
            }
            position -= 1
        }
        return nil
    }

    /// Where a record stands first, or nil.
    package func position(of record: RecordIndex) -> Int? {
        var found: Int?
        positions.forEachLeaf(from: first) { start, leaf in
            if let index = leaf.firstIndex(of: record.rawValue) { found = start + index }
            return found == nil
        }
        return found
    }

    /// All links, in order.
    package var records: [RecordIndex?] {
        var records: [RecordIndex?] = []
        records.reserveCapacity(count)
        var position = first
        while let next = next(from: position) {
            records.append(next.record)
            position = next.position + 1
        }
        return records
    }

    /// Calls the body with every link, in order; nil for a null element.
    @inline(__always)
    func forEachRecord(_ body: (RecordIndex?) -> Void) {
        positions.forEachLeaf(from: first) { start, leaf in
            for (offset, value) in leaf.enumerated() where start + offset >= first {
                if case .link(let record) = Self.place(value) { body(record) }
            }
            return true
        }
    }

    // MARK: Lists made from this one

    package func appending(_ record: RecordIndex?) -> LinkList {
        var positions = positions
        positions.append(record?.rawValue ?? Self.null)
        return LinkList(
            positions: positions, count: count + 1, first: isEmpty ? positions.count - 1 : first)
    }

    /// Without the first link to a record; the list itself when there is none.
    package func removing(_ record: RecordIndex) -> LinkList {
        guard let position = position(of: record) else { return self }
        var positions = positions
        positions[position] = Self.hole
        var first = first
        while first < positions.count, positions[first] == Self.hole { first += 1 }
        return LinkList(positions: positions, count: count - 1, first: first)
    }

    /// With `deleted` links from index `start` on (counted without holes, clamped to the list) replaced.
    package func splicing(
        start: Int, deleted: Int, inserted: some Collection<RecordIndex?>
    ) -> LinkList {
        if start >= count {
            return inserted.reduce(self) { $0.appending($1) }
        }
        var records = self.records
        let from = max(0, start)
        records.replaceSubrange(from..<min(records.count, from + max(0, deleted)), with: inserted)
        return LinkList(records)
    }

    /// Rebuilds a list from what ``forEachPosition(_:)`` gave, holes included.
    package static func restoring(_ places: some Sequence<Place>) -> LinkList {
        var positions = PersistentVector<UInt32>()
        var count = 0
        var first: Int?
        for place in places {
            switch place {
            case .hole: positions.append(Self.hole)
            case .link(let record):
                first = first ?? positions.count
                count += 1
                positions.append(record?.rawValue ?? Self.null)
            }
        }
        return LinkList(positions: positions, count: count, first: first ?? positions.count)
    }

    /// Every position from 0 to `end`, holes included.
    package func forEachPosition(_ body: (Place) -> Void) {
        positions.forEachLeaf { _, leaf in
            for value in leaf { body(Self.place(value)) }
            return true
        }
    }

    @inline(__always)
    private static func place(_ value: UInt32) -> Place {
        switch value {
        case hole: .hole
        case null: .link(nil)
        default: .link(RecordIndex(rawValue: value))
        }
    }
}

extension LinkList: Equatable {
    /// Equal links in equal order; positions do not count.
    package static func == (left: LinkList, right: LinkList) -> Bool {
        left === right || (left.count == right.count && left.records == right.records)
    }
}
