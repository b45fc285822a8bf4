/// A vector whose copies share their common parts: a copy is free, and a write after it copies one path
/// (a leaf of 64, a branch of 128 and the short list of branches).
///
/// The sharing is that of Swift's own arrays, three levels deep: a write is in place wherever an
/// array is not shared, so a batch of writes after one copy pays for each path once.
@_spi(Rooms) public struct PersistentVector<Element: Sendable>: Sendable {
    @usableFromInline typealias Leaf = ContiguousArray<Element>
    @usableFromInline typealias Branch = ContiguousArray<Leaf>

    @usableFromInline var branches: ContiguousArray<Branch> = []
    @_spi(Rooms) public private(set) var count = 0

    @usableFromInline static var leafBits: Int { 6 }
    @usableFromInline static var branchBits: Int { 13 }
    @usableFromInline static var leafMask: Int { 63 }
    @usableFromInline static var branchMask: Int { 127 }

    @_spi(Rooms) public init() {}

    @_spi(Rooms) public var isEmpty: Bool { count == 0 }
    @_spi(Rooms) public subscript(_ index: Int) -> Element {
        @inline(__always) get {
            branches[index >> Self.branchBits][(index >> Self.leafBits) & Self.branchMask][
                index & Self.leafMask]
        }
        @inline(__always) set {
            branches[index >> Self.branchBits][(index >> Self.leafBits) & Self.branchMask][
                index & Self.leafMask] = newValue
        }
    }

    @_spi(Rooms) public mutating func append(_ element: Element) {
        let branch = count >> Self.branchBits
        if branch == branches.count { branches.append([]) }
        let leaf = (count >> Self.leafBits) & Self.branchMask
        if leaf == branches[branch].count { branches[branch].append([]) }
        branches[branch][leaf].append(element)
        count += 1
    }

    /// Calls the body with each leaf's elements, in order, from the leaf that holds `start`; the body
    /// returns false to stop.
    @inline(__always)
    @_spi(Rooms) public func forEachLeaf(
        from start: Int = 0, _ body: (_ firstIndex: Int, borrowing ContiguousArray<Element>) -> Bool
    ) {
        var index = start & ~Self.leafMask
        while index < count {
            let leaf = branches[index >> Self.branchBits][
                (index >> Self.leafBits) & Self.branchMask]
            guard body(index, leaf) else { return }
            index += Self.leafMask + 1
        }
    }
}

extension PersistentVector where Element: Equatable {
    /// Calls the body with every index at which two vectors differ; nil stands for what is beyond the end of
    /// one. Shared parts are skipped, a branch of 8,192 elements at a time.
    func forEachDifference(
        from old: PersistentVector,
        _ body: (_ index: Int, _ before: Element?, _ after: Element?) -> Void
    ) {
        let branchSize = 1 << Self.branchBits
        let leafSize = 1 << Self.leafBits
        var index = 0
        let end = max(count, old.count)
        while index < end {
            let branch = index >> Self.branchBits
            if index & (branchSize - 1) == 0, branch < branches.count, branch < old.branches.count,
                Self.areIdentical(branches[branch], old.branches[branch])
            {
                index += branchSize
                continue
            }
            let leaf = (index >> Self.leafBits) & Self.branchMask
            if index & (leafSize - 1) == 0, index < count, index < old.count,
                Self.areIdentical(branches[branch][leaf], old.branches[branch][leaf])
            {
                index += leafSize
                continue
            }
            let before = index < old.count ? old[index] : nil
            let after = index < count ? self[index] : nil
            if before != after { body(index, before, after) }
            index += 1
        }
    }

    /// The same memory, so equal without a comparison.
    private static func areIdentical<T>(_ one: ContiguousArray<T>, _ other: ContiguousArray<T>)
        -> Bool
    {
        one.count == other.count
            && one.withUnsafeBufferPointer { one in
                other.withUnsafeBufferPointer { one.baseAddress == $0.baseAddress }
            }
    }
}
