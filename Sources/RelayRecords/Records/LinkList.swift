/// A list of links to records, as a field holds it: an immutable value that shares memory with the lists
/// it was made from.
///
/// Every link has a *position*, assigned once, in increasing order, and never reused while the list is
/// only appended to and removed from. That makes a connection's cursors stable (Cursor Connections
/// §Cursor) without anything about them in the log. Only `splicing` before the end renumbers.
///
/// A removed link leaves a hole. While there are few holes, a link's position is its place in memory; once there
/// are more holes than links, the list is packed and stores the positions with the links. A list that was
/// prepended to has room in front, and the next prepend copies nothing else: places count from the beginning of
/// the room, positions from its end. The difference is not visible from outside.
///
/// Positions also come from outside, as cursors, and counts as splices of a log. Every operation accepts
/// any `Int`: anything outside the list is before or after everything in it.
///
/// Invariants: 1. `count` is the number of places that are not holes. 2. Holes are equal to `hole` and nothing else
/// is. 3. All places before `firstPlace` are holes, including the room; the place at `firstPlace` is not, or it is
/// `places.count`. 4. `positions`, if present, are increasing and as many as the places; then there is no room. 5.
/// All positions are below `end`.
@_spi(Rooms) public final class LinkList: Sendable {
    let places: PersistentVector<UInt32>
    /// The position of each place; nil while they are equal.
    let positions: PersistentVector<Int>?
    /// Places before position 0, for links to be prepended.
    let room: Int
    private let firstPlace: Int
    /// Links in the list.
    @_spi(Rooms) public let count: Int
    /// The position that the next appended link gets.
    @_spi(Rooms) public let end: Int

    static let hole = UInt32.max
    /// A record that the server could not link (`null` in a list).
    static let null = UInt32.max - 1
    /// A list with fewer holes than this is not packed.
    private static let leastHoles = 64
    private static let leastRoom = 32

    @_spi(Rooms) public static let empty = LinkList(
        places: PersistentVector(), positions: nil, count: 0, firstPlace: 0, end: 0)

    private init(
        places: PersistentVector<UInt32>, positions: PersistentVector<Int>?, count: Int,
        room: Int = 0, firstPlace: Int, end: Int
    ) {
        assert(count <= places.count - firstPlace, "invariants 1 and 3")
        assert(firstPlace >= room, "invariant 3")
        assert(firstPlace == places.count || places[firstPlace] != Self.hole, "invariant 3")
        assert(
            positions.map { $0.count == places.count && room == 0 } ?? (end == places.count - room),
            "invariant 4")
        assert(places.count - room <= end, "invariant 5")
        self.places = places
        self.positions = positions
        self.room = room
        self.count = count
        self.firstPlace = firstPlace
        self.end = end
    }

    /// A list of these records; nil is a null element.
    @_spi(Rooms) public convenience init(_ records: some Sequence<RecordIndex?>) {
        var places = PersistentVector<UInt32>()
        for record in records { places.append(record?.rawValue ?? Self.null) }
        self.init(
            places: places, positions: nil, count: places.count, firstPlace: 0, end: places.count)
    }

    @_spi(Rooms) public var isEmpty: Bool { count == 0 }

    /// Whether the links' positions are 0, 1, 2 and so on.
    var hasNoHoles: Bool { positions == nil && count == places.count - room }

    /// Position of the first link, or `end` if there is none.
    @_spi(Rooms) public var first: Int {
        firstPlace < places.count ? position(ofPlace: firstPlace) : end
    }

    /// What is at a position.
    @_spi(Rooms) public enum Place: Equatable {
        case hole
        case link(RecordIndex?)
    }

    @_spi(Rooms) public subscript(position: Int) -> Place {
        let place = place(atOrBehind: position)
        guard position >= 0, place < places.count, self.position(ofPlace: place) == position
        else { return .hole }
        return Self.content(places[place])
    }

    /// The first link at or after a position.
    @_spi(Rooms) public func next(from position: Int) -> (position: Int, record: RecordIndex?)? {
        var links = links(from: position)
        return links.next()
    }

    /// The last link at or before a position.
    @_spi(Rooms) public func previous(from position: Int) -> (position: Int, record: RecordIndex?)?
    {
        var links = linksBack(from: position)
        return links.next()
    }

    /// The links at and after a position, in order.
    @_spi(Rooms) public func links(from position: Int) -> Links {
        Links(list: self, place: max(place(atOrBehind: position), firstPlace), step: 1)
    }

    /// The links after a position, in order.
    @_spi(Rooms) public func links(after position: Int) -> Links {
        Links(list: self, place: max(place(behind: position), firstPlace), step: 1)
    }

    /// The links at and before a position, the last one first.
    @_spi(Rooms) public func linksBack(from position: Int) -> Links {
        Links(list: self, place: place(behind: position) - 1, step: -1)
    }

    /// The links before a position, the last one first.
    @_spi(Rooms) public func linksBack(before position: Int) -> Links {
        Links(list: self, place: place(atOrBehind: position) - 1, step: -1)
    }

    /// Iterates over links; finds its place in the list only once.
    @_spi(Rooms) public struct Links {
        fileprivate let list: LinkList
        fileprivate var place: Int
        fileprivate let step: Int

        @inline(__always)
        @_spi(Rooms) public mutating func next() -> (position: Int, record: RecordIndex?)? {
            while place >= list.firstPlace, place < list.places.count {
                defer { place += step }
                if case .link(let record) = LinkList.content(list.places[place]) {
                    return (list.position(ofPlace: place), record)
                }
            }
            return nil
        }
    }

    /// The first position of a record, or nil. May scan the whole list.
    @_spi(Rooms) public func position(of record: RecordIndex) -> Int? {
        var found: Int?
        places.forEachLeaf(from: firstPlace) { start, leaf in
            if let index = leaf.firstIndex(of: record.rawValue) { found = start + index }
            return found == nil
        }
        return found.map(position(ofPlace:))
    }

    /// All links, in order.
    @_spi(Rooms) public var records: [RecordIndex?] {
        var records: [RecordIndex?] = []
        records.reserveCapacity(count)
        forEachRecord { records.append($0) }
        return records
    }

    /// All links, in order, with their positions.
    @_spi(Rooms) public func forEachLink(_ body: (_ position: Int, RecordIndex?) -> Void) {
        places.forEachLeaf(from: firstPlace) { start, leaf in
            for (index, value) in leaf.enumerated() {
                if case .link(let record) = Self.content(value) {
                    body(position(ofPlace: start + index), record)
                }
            }
            return true
        }
    }

    /// Calls the body with every link, in order; nil for a null element.
    @inline(__always)
    @_spi(Rooms) public func forEachRecord(_ body: (RecordIndex?) -> Void) {
        places.forEachLeaf(from: firstPlace) { _, leaf in
            for value in leaf {
                if case .link(let record) = Self.content(value) { body(record) }
            }
            return true
        }
    }

    // MARK: Lists derived from this one

    @_spi(Rooms) public func appending(_ record: RecordIndex?) -> LinkList {
        appending(record, at: end)
    }

    /// With a link at the end, at a position given by the caller that is at least `end`.
    func appending(_ record: RecordIndex?, at position: Int) -> LinkList {
        if room > 0, position != end { return packed().appending(record, at: position) }
        var places = places
        var positions = positions
        if positions == nil, position != end {
            positions = PersistentVector()
            for place in 0..<places.count { positions?.append(place) }
        }
        places.append(record?.rawValue ?? Self.null)
        positions?.append(position)
        return LinkList(
            places: places, positions: positions, count: count + 1, room: room,
            firstPlace: isEmpty ? places.count - 1 : firstPlace, end: position + 1)
    }

    /// Without the first link to a record; the list itself if there is none.
    @_spi(Rooms) public func removing(_ record: RecordIndex) -> LinkList {
        position(of: record).map(removing(at:)) ?? self
    }

    /// Without the link at a position; the list itself if there is none.
    @_spi(Rooms) public func removing(at position: Int) -> LinkList {
        let place = place(atOrBehind: position)
        guard position >= 0, place < self.places.count, self.position(ofPlace: place) == position,
            self.places[place] != Self.hole
        else { return self }
        var places = places
        places[place] = Self.hole
        var firstPlace = firstPlace
        while firstPlace < places.count, places[firstPlace] == Self.hole { firstPlace += 1 }
        let list = LinkList(
            places: places, positions: positions, count: count - 1, room: room,
            firstPlace: firstPlace, end: end)
        let holeCount = places.count - room - list.count
        return holeCount > max(Self.leastHoles, list.count) ? list.packed() : list
    }

    private func packed() -> LinkList {
        var builder = LinkListBuilder()
        forEachLink { builder.append($1, at: $0) }
        return builder.finish(end: end)
    }

    /// With `deleted` links from index `start` on (counted without holes, clamped to the list) replaced.
    @_spi(Rooms) public func splicing(
        start: Int, deleted: Int, inserted: some Collection<RecordIndex?>
    ) -> LinkList {
        let from = max(0, start)
        if from >= count {
            return inserted.reduce(self) { $0.appending($1) }
        }
        if from == 0, deleted <= 0 { return prepending(inserted) }
        var records = self.records
        let to = from + min(max(0, deleted), records.count - from)
        records.replaceSubrange(from..<to, with: inserted)
        return LinkList(records)
    }

    /// With links before all others. A series of prepends copies each link only a few times: the copy of the list has
    /// room for half as many again.
    private func prepending(_ inserted: some Collection<RecordIndex?>) -> LinkList {
        let count = count + inserted.count
        var places = places
        var room = room - inserted.count
        if hasNoHoles, room >= 0 {
            for (index, record) in inserted.enumerated() {
                places[room + index] = record?.rawValue ?? Self.null
            }
        } else {
            room = max(Self.leastRoom, count / 2)
            places = PersistentVector()
            for _ in 0..<room { places.append(Self.hole) }
            for record in inserted { places.append(record?.rawValue ?? Self.null) }
            forEachRecord { places.append($0?.rawValue ?? Self.null) }
        }
        return LinkList(
            places: places, positions: nil, count: count, room: room, firstPlace: room, end: count)
    }

    // MARK: Positions and places

    @inline(__always)
    func position(ofPlace place: Int) -> Int { positions.map { $0[place] } ?? place - room }

    /// The first place with this position or a later one.
    private func place(atOrBehind position: Int) -> Int {
        guard let positions else { return min(max(position, 0), places.count - room) + room }
        return (0..<positions.count).firstIndex(whereNot: { positions[$0] < position })
    }

    /// The first place with a later position.
    private func place(behind position: Int) -> Int {
        position >= end ? places.count : place(atOrBehind: position + 1)
    }

    @inline(__always)
    static func content(_ value: UInt32) -> Place {
        switch value {
        case hole: .hole
        case null: .link(nil)
        default: .link(RecordIndex(rawValue: value))
        }
    }

    /// Made by a builder: few holes, or packed.
    fileprivate convenience init(
        places: PersistentVector<UInt32>, positions: PersistentVector<Int>?, count: Int, end: Int
    ) {
        var firstPlace = 0
        while firstPlace < places.count, places[firstPlace] == Self.hole { firstPlace += 1 }
        self.init(
            places: places, positions: positions, count: count, firstPlace: firstPlace, end: end)
    }
}

extension LinkList: Equatable {
    /// Equal links in equal order; positions are ignored.
    @_spi(Rooms) public static func == (left: LinkList, right: LinkList) -> Bool {
        left === right || (left.count == right.count && left.records == right.records)
    }
}

/// Builds a list from links and their positions.
@_spi(Rooms) public struct LinkListBuilder {
    private var links: [(position: Int, value: UInt32)] = []

    @_spi(Rooms) public init() {}

    /// - Parameter position: after those of the links before it.
    @_spi(Rooms) public mutating func append(_ record: RecordIndex?, at position: Int) {
        links.append((position, record?.rawValue ?? LinkList.null))
    }

    /// - Parameter end: the position that the next link of the list will get.
    @_spi(Rooms) public func finish(end: Int) -> LinkList {
        var places = PersistentVector<UInt32>()
        if end <= 2 * links.count {
            for link in links {
                while places.count < link.position { places.append(LinkList.hole) }
                places.append(link.value)
            }
            while places.count < end { places.append(LinkList.hole) }
            return LinkList(places: places, positions: nil, count: links.count, end: end)
        }
        var positions = PersistentVector<Int>()
        for link in links {
            places.append(link.value)
            positions.append(link.position)
        }
        return LinkList(places: places, positions: positions, count: links.count, end: end)
    }
}
