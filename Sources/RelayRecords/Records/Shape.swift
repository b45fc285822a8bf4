/// The type of a record and its storage keys in slot order, shared by all rows with the same ones.
///
/// A shape grows by one key at a time, and remembers what it grew into, so that records written with the
/// same fields in the same order end up with one shape (as in JavaScript engines). Otherwise immutable;
/// only the writer looks at the growth.
@_spi(Rooms) public final class Shape: @unchecked Sendable {
    // Unchecked: only the writer uses `grown`.

    @_spi(Rooms) public let type: NameIndex
    @_spi(Rooms) public let keys: ContiguousArray<NameIndex>
    fileprivate var grown: [NameIndex: Shape] = [:]
    /// Slots in increasing order of their keys' numbers, if a scan would take longer.
    @usableFromInline let order: ContiguousArray<UInt32>

    private static let scanLimit = 24

    /// - Parameter parent: a shape that has the first of these keys.
    fileprivate init(
        type: NameIndex, keys: ContiguousArray<NameIndex>, growing parent: Shape? = nil
    ) {
        self.type = type
        self.keys = keys
        guard keys.count > Self.scanLimit else {
            order = []
            return
        }
        let known = parent?.order ?? []
        var added = ContiguousArray(UInt32(known.count)..<UInt32(keys.count))
        added.sort { keys[Int($0)].rawValue < keys[Int($1)].rawValue }
        order = known.isEmpty ? added : Self.merged(known, added, keys)
    }

    private static func merged(
        _ some: ContiguousArray<UInt32>, _ others: ContiguousArray<UInt32>,
        _ keys: ContiguousArray<NameIndex>
    ) -> ContiguousArray<UInt32> {
        var merged = ContiguousArray<UInt32>()
        merged.reserveCapacity(some.count + others.count)
        var next = 0
        for slot in some {
            let key = keys[Int(slot)].rawValue
            while next < others.count, keys[Int(others[next])].rawValue < key {
                merged.append(others[next])
                next += 1
            }
            merged.append(slot)
        }
        merged.append(contentsOf: others[next...])
        return merged
    }

    /// The slot of a key, or nil if no record of this shape has it.
    @inlinable @inline(__always)
    @_spi(Rooms) public func slot(of key: NameIndex) -> Int? {
        if !order.isEmpty { return orderedSlot(of: key) }
        return keys.withUnsafeBufferPointer { keys in
            for index in 0..<keys.count where keys[index] == key { return index }
            return nil
        }
    }

    @usableFromInline
    func orderedSlot(of key: NameIndex) -> Int? {
        var (low, high) = (0, order.count)
        while low < high {
            let middle = (low + high) / 2
            let slot = Int(order[middle])
            if keys[slot] == key { return slot }
            if keys[slot].rawValue < key.rawValue { low = middle + 1 } else { high = middle }
        }
        return nil
    }
}

/// All shapes of a store. Only the writer uses it.
///
/// A record with more keys than ``wideLimit`` is *wide*: it has a shape of its own, which is not shared. Such
/// records have a field that is requested with ever-changing arguments; each of their shapes would be used once.
@_spi(Rooms) public final class ShapeTable: @unchecked Sendable {
    // Unchecked: only the writer uses it; readers reach shapes through rows.

    /// Types nearly always have fewer fields.
    @_spi(Rooms) public static let wideLimit = 128

    /// Whether there ever was a wide record.
    @_spi(Rooms) public private(set) var hasWideRows = false
    private var roots: [NameIndex: Shape] = [:]
    /// Used to build rows; taken out and put back.
    var builder = RowBuilder()
    /// Likewise, for the fields of a record that are written.
    var written: ContiguousArray<(slot: Int, key: NameIndex)> = []

    deinit {
        // Taken apart here: shapes that release each other would each take part of the stack, and a record with
        // thousands of fields has a chain just as long.
        var left = Array(roots.values)
        while let shape = left.popLast() {
            left.append(contentsOf: shape.grown.values)
            shape.grown = [:]
        }
    }

    /// Releases shapes that no record and no plan uses.
    @_spi(Rooms) public func letGoOfUnused() {
        var places: [(parent: Shape, key: NameIndex)] = []
        var next = 0
        for root in roots.values { places += root.grown.keys.map { (root, $0) } }
        while next < places.count {
            let (parent, key) = places[next]
            if let shape = parent.grown[key] { places += shape.grown.keys.map { (shape, $0) } }
            next += 1
        }
        // Newest first: by the time it is a shape's turn, those that grew out of it have released it.
        while let (parent, key) = places.popLast() {
            guard parent.grown[key]?.grown.isEmpty ?? false else { continue }
            if isKnownUniquelyReferenced(&parent.grown[key]) { parent.grown[key] = nil }
        }
    }

    /// The shape of a record of this type without fields.
    @_spi(Rooms) public func root(of type: NameIndex) -> Shape {
        if let shape = roots[type] { return shape }
        let shape = Shape(type: type, keys: [])
        roots[type] = shape
        return shape
    }

    /// The shape with these keys, all different.
    func shape(type: NameIndex, keys: some Collection<NameIndex>) -> Shape {
        guard keys.count > Self.wideLimit else {
            return keys.reduce(root(of: type)) { growing($0, by: $1) }
        }
        hasWideRows = true
        return Shape(type: type, keys: ContiguousArray(keys))
    }

    /// The shape of one wide record that has gained keys.
    func widening(_ shape: Shape, by keys: ContiguousArray<NameIndex>) -> Shape {
        hasWideRows = true
        return Shape(type: shape.type, keys: shape.keys + keys, growing: shape)
    }

    /// The shape with one more key, however many it has.
    @_spi(Rooms) public func growing(_ shape: Shape, by key: NameIndex) -> Shape {
        if let next = shape.grown[key] { return next }
        if shape.keys.count >= Self.wideLimit { hasWideRows = true }
        let next = Shape(type: shape.type, keys: shape.keys + [key], growing: shape)
        shape.grown[key] = next
        return next
    }
}
