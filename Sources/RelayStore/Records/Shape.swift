/// The type of a record and its storage keys in slot order; rows with the same ones share it.
///
/// A shape grows by one key at a time, and remembers what it grew into, so that records written with the
/// same fields in the same order end up with one shape (as JavaScript engines do it). Fixed once made;
/// only the writer looks at the growth.
package final class Shape: @unchecked Sendable {
    // Unchecked: `grown` is the writer's alone.

    package let type: NameIndex
    package let keys: ContiguousArray<NameIndex>
    fileprivate var grown: [NameIndex: Shape] = [:]
    /// Slots by key, where a scan would take longer.
    private let slots: [NameIndex: Int]?

    private static let scanLimit = 24

    fileprivate init(type: NameIndex, keys: ContiguousArray<NameIndex>) {
        self.type = type
        self.keys = keys
        if keys.count > Self.scanLimit {
            slots = Dictionary(uniqueKeysWithValues: keys.enumerated().map { ($1, $0) })
        } else {
            slots = nil
        }
    }

    /// The slot of a key, or nil when no record of this shape has it.
    @inline(__always)
    package func slot(of key: NameIndex) -> Int? {
        if let slots { return slots[key] }
        return keys.withUnsafeBufferPointer { keys in
            for index in 0..<keys.count where keys[index] == key { return index }
            return nil
        }
    }
}

/// All shapes of a store. Only the writer uses it; shapes live as long as it does.
package final class ShapeTable: @unchecked Sendable {
    // Unchecked: the writer's alone; readers reach shapes through rows.

    private var roots: [NameIndex: Shape] = [:]
    /// Rows are made in it; whoever needs it takes it and puts it back.
    var builder = RowBuilder()
    /// Likewise, for the fields of a record that are written.
    var written: ContiguousArray<(slot: Int, key: NameIndex)> = []

    deinit {
        // Taken apart here: shapes that let go of each other would take a part of the stack for each, and a record
        // with thousands of fields has a chain of as many.
        var left = Array(roots.values)
        while let shape = left.popLast() {
            left.append(contentsOf: shape.grown.values)
            shape.grown = [:]
        }
    }

    /// The shape of a record of this type that has no field yet.
    func root(of type: NameIndex) -> Shape {
        if let shape = roots[type] { return shape }
        let shape = Shape(type: type, keys: [])
        roots[type] = shape
        return shape
    }

    /// The shape with one more key.
    func growing(_ shape: Shape, by key: NameIndex) -> Shape {
        if let next = shape.grown[key] { return next }
        let next = Shape(type: shape.type, keys: shape.keys + [key])
        shape.grown[key] = next
        return next
    }
}
