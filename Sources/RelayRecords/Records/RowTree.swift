/// What a snapshot knows of each record, by its number; a copy is free and shares common parts with
/// the original.
///
/// A write after a copy copies one path: a leaf of 16 rows, two levels of 32 below a short list. Each row in
/// a copied leaf is retained once more, which touches that row's memory; so leaves are short, and a write
/// costs the same however many records there are. Within a batch of writes each path is copied once.
@_spi(Rooms) public struct RowTree: Sendable {
    @usableFromInline typealias Leaf = ContiguousArray<RecordSlot>
    @usableFromInline typealias Twig = ContiguousArray<Leaf>
    @usableFromInline typealias Branch = ContiguousArray<Twig>

    @usableFromInline var branches: ContiguousArray<Branch> = []
    @_spi(Rooms) public private(set) var count = 0

    @usableFromInline static var leafBits: Int { 4 }
    @usableFromInline static var twigBits: Int { 9 }
    @usableFromInline static var branchBits: Int { 14 }
    @usableFromInline static var leafMask: Int { 15 }
    @usableFromInline static var nodeMask: Int { 31 }
    @inlinable
    @_spi(Rooms) public subscript(_ index: Int) -> RecordSlot {
        @inline(__always) get {
            branches[index >> Self.branchBits][(index >> Self.twigBits) & Self.nodeMask][
                (index >> Self.leafBits) & Self.nodeMask][index & Self.leafMask]
        }
        @inline(__always) set {
            branches[index >> Self.branchBits][(index >> Self.twigBits) & Self.nodeMask][
                (index >> Self.leafBits) & Self.nodeMask][index & Self.leafMask] = newValue
        }
    }

    /// The row of a record that exists.
    @inlinable @inline(__always)
    @_spi(Rooms) public func row(_ record: RecordIndex) -> Row? {
        let index = Int(record.rawValue)
        return index < count ? self[index].row : nil
    }

    /// Makes room for records up to this many, unknown so far.
    @_spi(Rooms) public mutating func grow(to newCount: Int) {
        while count < newCount { append(.unknown) }
    }

    @_spi(Rooms) public mutating func append(_ slot: RecordSlot) {
        let (branch, twig, leaf) = (
            count >> Self.branchBits, (count >> Self.twigBits) & Self.nodeMask,
            (count >> Self.leafBits) & Self.nodeMask
        )
        if branch == branches.count { branches.append([]) }
        if twig == branches[branch].count { branches[branch].append([]) }
        if leaf == branches[branch][twig].count {
            var new = Leaf()
            new.reserveCapacity(Self.leafMask + 1)
            branches[branch][twig].append(new)
        }
        branches[branch][twig][leaf].append(slot)
        count += 1
    }

    /// Calls the body with every record that was ever mentioned, in the order of the numbers.
    @inlinable @inline(__always)
    @_spi(Rooms) public func forEach(_ body: (RecordIndex, RecordSlot) -> Void) {
        var index: UInt32 = 0
        for branch in branches {
            for twig in branch {
                for leaf in twig {
                    for slot in leaf {
                        body(RecordIndex(rawValue: index), slot)
                        index += 1
                    }
                }
            }
        }
    }
}
