/// So many columns and rows of a screen.
public struct Size: Hashable, Sendable {
    /// In columns.
    public var width: Int
    /// In rows.
    public var height: Int

    /// - Parameters:
    ///   - width: in columns.
    ///   - height: in rows.
    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    package static let zero = Size(width: 0, height: 0)
}

/// A cell's place; the first is at the top left, (0, 0).
package struct Position: Hashable, Sendable {
    package var column: Int
    package var row: Int

    package init(column: Int, row: Int) {
        self.column = column
        self.row = row
    }

    package static let zero = Position(column: 0, row: 0)
}

/// A rectangle of cells. It may lie outside of the screen, in part or as a whole.
package struct Rect: Hashable, Sendable {
    package var origin: Position
    package var size: Size

    package init(origin: Position, size: Size) {
        self.origin = origin
        self.size = size
    }

    package init(_ size: Size) { self.init(origin: .zero, size: size) }

    package static let zero = Rect(.zero)

    package var columns: Range<Int> {
        origin.column..<origin.column + max(size.width, 0)
    }

    package var rows: Range<Int> { origin.row..<origin.row + max(size.height, 0) }

    package var isEmpty: Bool { size.width <= 0 || size.height <= 0 }

    package func contains(_ position: Position) -> Bool {
        columns.contains(position.column) && rows.contains(position.row)
    }

    /// What both have in common; empty if they do not touch.
    package func intersection(_ other: Rect) -> Rect {
        let columns = columns.clamped(to: other.columns)
        let rows = rows.clamped(to: other.rows)
        return Rect(
            origin: Position(column: columns.lowerBound, row: rows.lowerBound),
            size: Size(width: columns.count, height: rows.count))
    }
}
